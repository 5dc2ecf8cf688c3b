//! Declarations of operators without a kernel here: the layers and other crates need their names and schemas.
//!
//! Autocast has a policy for each; a crate that registers a kernel for one gets that policy with it.

use torch_library::torch_library;

torch_library! {
    /// Declarations without kernels, on top of the operators declared before.
    pub mod aten extends super::fourier::aten {
        /// PyTorch: `aten::mkldnn_rnn_layer`; declared only.
        mkldnn_rnn_layer(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor weight3,
            Tensor hx_, Tensor cx_, bool reverse, int[] batch_sizes, int mode, int hidden_size, int num_layers,
            bool has_biases, bool bidirectional, bool batch_first, bool train) -> (Tensor, Tensor, Tensor,
            Tensor);
    }
}
