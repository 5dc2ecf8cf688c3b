//! Operators that multiply matrices.

use torch_library::torch_library;

torch_library! {
    /// Matrix products, on top of what was declared before.
    pub mod aten extends super::reduce::aten {
        /// The product of an `n × k` and a `k × m` matrix.
        ///
        /// # Errors
        /// Tensors that are no matrices, sizes that do not meet, different types.
        ///
        /// PyTorch: `torch.mm`.
        mm(Tensor self, Tensor mat2) -> Tensor;
    }
}
