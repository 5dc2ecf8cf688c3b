//! Recurrent networks and their cells.

use torch_library::torch_library;

torch_library! {
    /// Recurrent networks, on top of what was declared before.
    #[kernels_in(torch_library_nn)]
    pub mod aten extends super::linalg::aten {
        /// One step, `tanh(input · w_ihᵀ + b_ih + hx · w_hhᵀ + b_hh)`: of an input `[batch, in]` and a state
        /// `[batch, out]`, with weights `[out, in]` and `[out, out]`.
        ///
        /// PyTorch: `torch.rnn_tanh_cell`.
        rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None,
            Tensor? b_hh=None) -> Tensor;
        /// As [`rnn_tanh_cell`](fn@rnn_tanh_cell), with `relu`.
        ///
        /// PyTorch: `torch.rnn_relu_cell`.
        rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None,
            Tensor? b_hh=None) -> Tensor;
        /// One step with gates that reset and update, whose weights and those of the new state are in the rows of
        /// one matrix, in this order.
        ///
        /// PyTorch: `torch.gru_cell`.
        gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor;
        /// One step of a state and a cell, with gates for what comes in, is forgotten, is new and goes out, whose
        /// weights are in the rows of one matrix, in this order.
        ///
        /// # Errors
        /// A state that is not two tensors.
        ///
        /// PyTorch: `torch.lstm_cell`.
        lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None,
            Tensor? b_hh=None) -> (Tensor, Tensor);

        /// Layers of [`rnn_tanh_cell`](fn@rnn_tanh_cell) over the steps of an input `[steps, batch, in]`, or
        /// `[batch, steps, in]` with `batch_first`: the outputs of all steps, and the last states
        /// `[layers, batch, out]`.
        ///
        /// `params` has for each layer, and in it for each direction, `w_ih`, `w_hh` and, with biases, `b_ih` and
        /// `b_hh`. Two directions count as two layers, whose outputs are joined. In training, `dropout` is applied
        /// between layers.
        ///
        /// # Errors
        /// Other numbers of dimensions, parameters or layers of the state; an input without steps.
        ///
        /// PyTorch: `torch.rnn_tanh`.
        rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
            bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor);
        /// As [`rnn_tanh_input`](fn@rnn_tanh_input), of [`rnn_relu_cell`](fn@rnn_relu_cell).
        ///
        /// PyTorch: `torch.rnn_relu`.
        rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
            bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor);
        /// As [`rnn_tanh_input`](fn@rnn_tanh_input), of [`gru_cell`](fn@gru_cell).
        ///
        /// PyTorch: `torch.gru`.
        gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
            bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor);
        /// As [`rnn_tanh_input`](fn@rnn_tanh_input), of [`lstm_cell`](fn@lstm_cell): outputs, last states and last
        /// cells.
        ///
        /// Where the state is narrower than the cell, each direction has one more matrix, which makes outputs so
        /// narrow.
        ///
        /// PyTorch: `torch.lstm`.
        lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout,
            bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor);
    }
}
