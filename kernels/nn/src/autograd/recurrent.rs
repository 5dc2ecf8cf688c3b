//! The derivative of packing sequences.

use torch_library::derivatives;

use crate::aten;

derivatives! {
    in aten;

    _pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first)
        -> (Tensor, Tensor) as PackPaddedSequenceBackward0 {
        input => aten::_pack_padded_sequence_backward(grad, input.sizes(), result1, batch_first),
        lengths => non_differentiable,
        result1 => non_differentiable,
    }
}
