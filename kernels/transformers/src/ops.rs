//! The operators: the schemas of transformers.

use torch_library::torch_library;

torch_library! {
    /// Matrix products of experts.
    ///
    /// PyTorch: `torch.ops.transformers`.
    pub mod transformers {
        /// The products of rows with the matrices of their experts. The rows are sorted by expert; `offs` has the end
        /// of each expert's rows. Rows after the last end are zeros in the result.
        ///
        /// # Errors
        /// Sizes or dtypes that do not match; `offs` that is not a vector of `int32` or `int64` with an end for each
        /// expert, in order, within the rows.
        ///
        /// PyTorch: `torch.ops.transformers.grouped_mm_fallback`.
        grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor;
        /// The gradients of [`grouped_mm_fallback`](fn@grouped_mm_fallback) with respect to the rows and the matrices.
        ///
        /// PyTorch: `torch.ops.transformers.grouped_mm_fallback_backward`.
        grouped_mm_fallback_backward(Tensor input, Tensor weight, Tensor offs, Tensor grad_output)
            -> (Tensor, Tensor);
    }
}
