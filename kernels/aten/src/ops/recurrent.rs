//! Recurrent networks and their cells.

use torch_library::torch_library;

torch_library! {
    /// Recurrent networks, on top of the operators declared before.
    #[kernels_in(torch_library_nn)]
    pub mod aten extends super::linalg::aten {
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
        /// [`rnn_tanh_input`](fn@rnn_tanh_input) with [`rnn_relu_cell`](fn@rnn_relu_cell).
        ///
        /// PyTorch: `torch.rnn_relu`.
        rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
            bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor);
        /// [`rnn_tanh_input`](fn@rnn_tanh_input) with [`gru_cell`](fn@gru_cell).
        ///
        /// PyTorch: `torch.gru`.
        gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
            bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor);
        /// [`rnn_tanh_input`](fn@rnn_tanh_input) with [`lstm_cell`](fn@lstm_cell): the outputs, the last hidden states
        /// and the last cell states.
        ///
        /// If the hidden state is narrower than the cell state, each direction has one more matrix, which projects the
        /// outputs to that width.
        ///
        /// PyTorch: `torch.lstm`.
        lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
            bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor);
    }
}
