//! Covariances and correlation coefficients.

use torch_library::torch_library;

torch_library! {
    /// Covariances and correlations.
    #[methods(CorrelationMethods)]
    pub mod aten extends "aten" {
        /// The covariance matrix of the variables in the rows, whose observations are the columns.
        ///
        /// # Errors
        /// More than two dimensions, a boolean dtype, weights that are negative or do not have one element for each
        /// column, `fweights` that are not integers, `aweights` that are not floating-point.
        ///
        /// PyTorch: `torch.cov`.
        cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor;
        /// The correlation coefficients of the variables in the rows, whose observations are the columns.
        ///
        /// # Errors
        /// More than two dimensions, a boolean dtype.
        ///
        /// PyTorch: `torch.corrcoef`.
        corrcoef(Tensor self) -> Tensor;
    }
}
