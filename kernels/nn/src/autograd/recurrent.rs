//! The derivatives of a step of an LSTM or GRU cell, and of packing sequences.

use torch_library::derivatives;

use crate::aten;

derivatives! {
    in aten;

    _thnn_fused_lstm_cell(
        Tensor input_gates, Tensor hidden_gates, Tensor cx, Tensor? input_bias=None, Tensor? hidden_bias=None
    ) -> (Tensor, Tensor, Tensor) as ThnnFusedLstmCellBackward0 {
        (input_gates, hidden_gates, cx, input_bias, hidden_bias) =>
            aten::_thnn_differentiable_lstm_cell_backward(
                grads[0].as_ref(), grads[1].as_ref(), input_gates, hidden_gates, input_bias, hidden_bias, cx, result1,
            ),
        result2 => non_differentiable,
    }
    _thnn_fused_gru_cell(
        Tensor input_gates, Tensor hidden_gates, Tensor hx, Tensor? input_bias=None, Tensor? hidden_bias=None
    ) -> (Tensor, Tensor) as ThnnFusedGruCellBackward0 {
        (input_gates, hidden_gates, hx, input_bias, hidden_bias) =>
            aten::_thnn_differentiable_gru_cell_backward(
                grad, input_gates, hidden_gates, hx, input_bias, hidden_bias,
            ),
        result1 => non_differentiable,
    }
    _pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first)
        -> (Tensor, Tensor) as PackPaddedSequenceBackward0 {
        input => aten::_pack_padded_sequence_backward(grad, input.sizes(), result1, batch_first),
        lengths => non_differentiable,
        result1 => non_differentiable,
    }
}
