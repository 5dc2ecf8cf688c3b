//! Gamma, beta and Dirichlet distributions: random numbers, and their gradients with respect to the parameters.

use torch_library::torch_library;

torch_library! {
    /// Distributions, on top of the operators declared before.
    pub mod aten extends super::random::aten {
        /// Random numbers from gamma distributions of scale 1, with each element as the shape of its own. The gradient
        /// says how a number moves if its shape does; see [`_standard_gamma_grad`](fn@_standard_gamma_grad).
        ///
        /// # Errors
        /// Dtypes other than `float32` and `float64`.
        ///
        /// PyTorch: `torch._standard_gamma`.
        #[tags(nondeterministic_seeded)]
        _standard_gamma(Tensor self, Generator? generator=None) -> Tensor;
        /// The derivative of numbers `output`, drawn from gamma distributions of shapes `self`, with respect to the
        /// shapes, if the numbers keep their quantiles. It has no derivative of its own.
        ///
        /// # Errors
        /// Different dtypes, or others than `float32` and `float64`; sizes that do not broadcast.
        ///
        /// PyTorch: `torch._standard_gamma_grad`.
        _standard_gamma_grad(Tensor self, Tensor output) -> Tensor;
        /// Random numbers from Dirichlet distributions, whose concentrations are the last dimension: shares of 1.
        ///
        /// # Errors
        /// Dtypes other than `float32` and `float64`.
        ///
        /// PyTorch: `torch._sample_dirichlet`.
        #[tags(nondeterministic_seeded)]
        _sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor;
        /// The derivative of numbers `x`, drawn from Dirichlet distributions, with respect to their own concentrations
        /// `alpha`, divided by `1 - x`. `total` is the sum of all concentrations of a distribution.
        ///
        /// # Errors
        /// Different dtypes, or others than `float32` and `float64`; sizes that do not broadcast.
        ///
        /// PyTorch: `torch._dirichlet_grad`.
        _dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor;
    }
}
