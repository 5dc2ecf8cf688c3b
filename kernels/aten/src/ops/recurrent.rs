//! Recurrent networks and their cells.

use torch_library::torch_library;

torch_library! {
    /// Recurrent networks.
    #[kernels_in(torch_library_nn)]
    pub mod aten extends "aten" {
        /// One step of an Elman network, `tanh(input · w_ihᵀ + b_ih + hx · w_hhᵀ + b_hh)`, for an input `[batch, in]`
        /// and a hidden state `[batch, out]`, with weights `[out, in]` and `[out, out]`.
        ///
        /// PyTorch: `torch.rnn_tanh_cell`.
        rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None,
            Tensor? b_hh=None) -> Tensor;
        /// [`rnn_tanh_cell`](fn@rnn_tanh_cell) with `relu` in place of `tanh`.
        ///
        /// PyTorch: `torch.rnn_relu_cell`.
        rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None,
            Tensor? b_hh=None) -> Tensor;
        /// One step of a gated recurrent unit. Each weight matrix has the rows of the reset gate, the update gate and
        /// the new state, in this order.
        ///
        /// PyTorch: `torch.gru_cell`.
        gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor;
        /// One step of a long short-term memory, with a hidden state and a cell state. Each weight matrix has the rows
        /// of the input gate, the forget gate, the cell and the output gate, in this order.
        ///
        /// # Errors
        /// An `hx` that is not two tensors.
        ///
        /// PyTorch: `torch.lstm_cell`.
        lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None,
            Tensor? b_hh=None) -> (Tensor, Tensor);

        /// Layers of [`rnn_tanh_cell`](fn@rnn_tanh_cell) over the steps of an input `[steps, batch, in]`, or
        /// `[batch, steps, in]` with `batch_first`. Returns the outputs of all steps, and the last hidden states
        /// `[layers, batch, out]`.
        ///
        /// For each layer, and in it for each direction, `params` has `w_ih`, `w_hh` and, with biases, `b_ih` and
        /// `b_hh`. Two directions count as two layers, whose outputs are concatenated. In training, `dropout` is
        /// applied between layers.
        ///
        /// # Errors
        /// Another number of dimensions, of parameters or of layers in the hidden state; an input without steps.
        ///
        /// PyTorch: `torch.rnn_tanh`.
        rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
            bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor);
        /// [`rnn_tanh_input`](fn@rnn_tanh_input) over sequences of different lengths, as
        /// [`_pack_padded_sequence`](fn@_pack_padded_sequence) packs them.
        ///
        /// # Errors
        /// The errors of [`rnn_tanh_input`](fn@rnn_tanh_input); numbers of sequences that do not fit the data.
        ///
        /// PyTorch: `torch.rnn_tanh`.
        rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers,
            float dropout, bool train, bool bidirectional) -> (Tensor, Tensor);
        /// [`rnn_tanh_input`](fn@rnn_tanh_input) with [`rnn_relu_cell`](fn@rnn_relu_cell).
        ///
        /// PyTorch: `torch.rnn_relu`.
        rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
            bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor);
        /// [`rnn_relu_input`](fn@rnn_relu_input) over sequences of different lengths, as
        /// [`_pack_padded_sequence`](fn@_pack_padded_sequence) packs them.
        ///
        /// # Errors
        /// The errors of [`rnn_relu_input`](fn@rnn_relu_input); numbers of sequences that do not fit the data.
        ///
        /// PyTorch: `torch.rnn_relu`.
        rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers,
            float dropout, bool train, bool bidirectional) -> (Tensor, Tensor);
        /// [`rnn_tanh_input`](fn@rnn_tanh_input) with [`gru_cell`](fn@gru_cell).
        ///
        /// PyTorch: `torch.gru`.
        gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
            bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor);
        /// [`gru_input`](fn@gru_input) over sequences of different lengths, as
        /// [`_pack_padded_sequence`](fn@_pack_padded_sequence) packs them.
        ///
        /// # Errors
        /// The errors of [`gru_input`](fn@gru_input); numbers of sequences that do not fit the data.
        ///
        /// PyTorch: `torch.gru`.
        gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers,
            float dropout, bool train, bool bidirectional) -> (Tensor, Tensor);
        /// [`rnn_tanh_input`](fn@rnn_tanh_input) with [`lstm_cell`](fn@lstm_cell): the outputs, the last hidden states
        /// and the last cell states.
        ///
        /// If the hidden state is narrower than the cell state, each direction has one more matrix, which projects the
        /// outputs to that width.
        ///
        /// PyTorch: `torch.lstm`.
        lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
            bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor);
        /// [`lstm_input`](fn@lstm_input) over sequences of different lengths, as
        /// [`_pack_padded_sequence`](fn@_pack_padded_sequence) packs them.
        ///
        /// # Errors
        /// The errors of [`lstm_input`](fn@lstm_input); numbers of sequences that do not fit the data.
        ///
        /// PyTorch: `torch.lstm`.
        lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers,
            float dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor);

        /// One layer of an [`lstm_input`](fn@lstm_input) in one direction, over sequences `[steps, batch, ...]`; with
        /// `reverse`, from the last step to the first. The weights are those of input and state, and their biases. Also
        /// returns the last states, in the sizes of the first ones, and memory for the gradient, which has no elements
        /// here. `batch_first` has no effect.
        ///
        /// # Errors
        /// A `mode` other than 2, several layers or directions, sequences of different lengths; the errors of
        /// [`lstm_input`](fn@lstm_input).
        ///
        /// PyTorch: `aten::mkldnn_rnn_layer`, which exported programs call.
        mkldnn_rnn_layer(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor weight3,
            Tensor hx_, Tensor cx_, bool reverse, int[] batch_sizes, int mode, int hidden_size, int num_layers,
            bool has_biases, bool bidirectional, bool batch_first, bool train) -> (Tensor, Tensor, Tensor,
            Tensor);
        /// A step of [`lstm_cell`](fn@lstm_cell) from its gates, which are the sums of what comes from the input and
        /// from the hidden state, `[batch, 4 * size]` each, and of both biases: the new hidden state `hy`, the new cell
        /// state `cy`, and the gates after their activations, side by side.
        ///
        /// # Errors
        /// Gates that are not matrices of the same sizes, or not of four parts as large as `cx`; several dtypes.
        ///
        /// PyTorch: `aten::_thnn_fused_lstm_cell`, which it has on GPUs only.
        _thnn_fused_lstm_cell(Tensor input_gates, Tensor hidden_gates, Tensor cx, Tensor? input_bias=None,
            Tensor? hidden_bias=None) -> (Tensor, Tensor, Tensor);
        /// The gradients of [`_thnn_fused_lstm_cell`](fn@_thnn_fused_lstm_cell) from those of its new states `hy` and
        /// `cy`, of which one may be missing: of the gates, of `cx`, and with `has_bias` of a bias. All are undefined
        /// if both are missing.
        ///
        /// # Errors
        /// A `workspace` that is not four times as wide as the states.
        ///
        /// PyTorch: `aten::_thnn_fused_lstm_cell_backward_impl`, which it has on GPUs only.
        _thnn_fused_lstm_cell_backward_impl(Tensor? grad_hy, Tensor? grad_cy, Tensor cx, Tensor cy, Tensor workspace,
            bool has_bias) -> (Tensor, Tensor, Tensor);
        /// [`_thnn_fused_lstm_cell_backward_impl`](fn@_thnn_fused_lstm_cell_backward_impl), with the gradient of the
        /// gates for both summands, and that of the bias for both biases.
        ///
        /// PyTorch: `aten::_thnn_fused_lstm_cell_backward`.
        _thnn_fused_lstm_cell_backward(Tensor? grad_hy, Tensor? grad_cy, Tensor cx, Tensor cy, Tensor workspace,
            bool has_bias) -> (Tensor, Tensor, Tensor, Tensor, Tensor);
        /// A step of [`gru_cell`](fn@gru_cell) from its gates, `[batch, 3 * size]` from the input and from the hidden
        /// state each: the new state, and what the gradient needs side by side: the three gates after their
        /// activations, `hx`, and the part of the last gate that comes from the hidden state.
        ///
        /// # Errors
        /// Gates that are not matrices of the same sizes, or not of three parts as large as `hx`; several dtypes.
        ///
        /// PyTorch: `aten::_thnn_fused_gru_cell`, which it has on GPUs only.
        _thnn_fused_gru_cell(Tensor input_gates, Tensor hidden_gates, Tensor hx, Tensor? input_bias=None,
            Tensor? hidden_bias=None) -> (Tensor, Tensor);
        /// The gradients of [`_thnn_fused_gru_cell`](fn@_thnn_fused_gru_cell) from that of its new state: of the gates
        /// from the input, of those from the hidden state, of `hx`, and with `has_bias` of both biases.
        ///
        /// # Errors
        /// A `workspace` that is not five times as wide as the state.
        ///
        /// PyTorch: `aten::_thnn_fused_gru_cell_backward`, which it has on GPUs only.
        _thnn_fused_gru_cell_backward(Tensor grad_hy, Tensor workspace, bool has_bias) -> (Tensor, Tensor, Tensor,
            Tensor, Tensor);
        /// The gradients of a step of [`lstm_cell`](fn@lstm_cell) from those of its new states `hy` and `cy`, as
        /// expressions that have derivatives: of the gates from the input, of those from the hidden state, of `cx`, and
        /// of both biases (undefined without them).
        ///
        /// # Errors
        /// Neither gradient; gates that cannot be divided by four.
        ///
        /// PyTorch: `aten::_thnn_differentiable_lstm_cell_backward`.
        _thnn_differentiable_lstm_cell_backward(Tensor? grad_hy, Tensor? grad_cy, Tensor input_gates,
            Tensor hidden_gates, Tensor? input_bias, Tensor? hidden_bias, Tensor cx,
            Tensor cy) -> (Tensor, Tensor, Tensor, Tensor, Tensor);
        /// The gradients of a step of [`gru_cell`](fn@gru_cell) from that of its new state, as
        /// [`_thnn_differentiable_lstm_cell_backward`](fn@_thnn_differentiable_lstm_cell_backward) has them.
        ///
        /// PyTorch: `aten::_thnn_differentiable_gru_cell_backward`.
        _thnn_differentiable_gru_cell_backward(Tensor grad_hy, Tensor input_gates, Tensor hidden_gates,
            Tensor hx, Tensor? input_bias, Tensor? hidden_bias) -> (Tensor, Tensor, Tensor, Tensor, Tensor);
        /// Sequences of different lengths, which lie one after the other and begin and end at `offsets`, side by side:
        /// `[sequences, steps, ...]`, each padded with `padding_value` or cut to `max_lengths` steps.
        ///
        /// # Errors
        /// Several lists of offsets or lengths; offsets that are not a vector; values without dimensions.
        ///
        /// PyTorch: `torch.ops.aten._jagged_to_padded_dense_forward`.
        _jagged_to_padded_dense_forward(Tensor values, Tensor[] offsets, SymInt[] max_lengths,
            float padding_value=0.0) -> Tensor;
        /// The inverse of [`_jagged_to_padded_dense_forward`](fn@_jagged_to_padded_dense_forward). `total_L` is the
        /// last offset, which is read where it is not given.
        ///
        /// # Errors
        /// The errors of [`_jagged_to_padded_dense_forward`](fn@_jagged_to_padded_dense_forward); another number of
        /// sequences; a sequence that is longer than the padded ones; another `total_L`.
        ///
        /// PyTorch: `torch.ops.aten._padded_dense_to_jagged_forward`.
        _padded_dense_to_jagged_forward(Tensor dense, Tensor[] offsets, SymInt? total_L=None) -> Tensor;
        /// Packs padded sequences `[steps, batch, ...]`, or `[batch, steps, ...]` with `batch_first`, whose lengths do
        /// not increase: the first step of all sequences, then the second step of those that have one, and so on.
        /// Also returns how many sequences have each step.
        ///
        /// # Errors
        /// Lengths that are not an `int64` vector on the CPU with a number for each sequence, that increase, or that
        /// are not from 1 up to the number of steps; an input without elements.
        ///
        /// PyTorch: `torch.nn.utils.rnn.pack_padded_sequence`.
        _pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor);
        /// The gradient of the input of [`_pack_padded_sequence`](fn@_pack_padded_sequence): zero where a sequence is
        /// padded.
        ///
        /// PyTorch: `aten::_pack_padded_sequence_backward`.
        _pack_padded_sequence_backward(Tensor grad, SymInt[] input_size, Tensor batch_sizes,
            bool batch_first) -> Tensor;
        /// The inverse of [`_pack_padded_sequence`](fn@_pack_padded_sequence): sequences that are padded to
        /// `total_length`, or, if that is not positive, to the longest one; and their lengths.
        ///
        /// # Errors
        /// Batch sizes that are not an `int64` vector on the CPU, that increase, or that do not fit the data; a
        /// `total_length` below the longest sequence.
        ///
        /// PyTorch: `torch.nn.utils.rnn.pad_packed_sequence`.
        _pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value,
            int total_length) -> (Tensor, Tensor);
    }
}
