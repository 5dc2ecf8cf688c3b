//! Orthogonal polynomials and the Airy function, element-wise.
//!
//! Orders are truncated to integers; a negative order gives 0. Intermediate sums that overflow end in NaN, as do orders
//! beyond 2²⁴ for polynomials without a closed form, and Hermite polynomials of orders beyond 512, or 128 in `float32`.

use torch_library::torch_library;

torch_library! {
    /// Polynomials.
    pub mod aten extends "aten" {
        /// The Airy function Ai, the solution that decays.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.airy_ai`.
        #[tags(pointwise)]
        special_airy_ai(Tensor x) -> Tensor;

        /// The Chebyshev polynomial of the first kind of order `n`, at `x`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_t`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor;
        /// [`special_chebyshev_polynomial_t`](fn@special_chebyshev_polynomial_t) with a scalar `x`.
        ///
        /// # Errors
        /// The errors of [`special_chebyshev_polynomial_t`](fn@special_chebyshev_polynomial_t).
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_t`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// [`special_chebyshev_polynomial_t`](fn@special_chebyshev_polynomial_t) with a scalar `n`.
        ///
        /// # Errors
        /// The errors of [`special_chebyshev_polynomial_t`](fn@special_chebyshev_polynomial_t).
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_t`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// The Chebyshev polynomial of the second kind of order `n`, at `x`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_u`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor;
        /// [`special_chebyshev_polynomial_u`](fn@special_chebyshev_polynomial_u) with a scalar `x`.
        ///
        /// # Errors
        /// The errors of [`special_chebyshev_polynomial_u`](fn@special_chebyshev_polynomial_u).
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_u`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// [`special_chebyshev_polynomial_u`](fn@special_chebyshev_polynomial_u) with a scalar `n`.
        ///
        /// # Errors
        /// The errors of [`special_chebyshev_polynomial_u`](fn@special_chebyshev_polynomial_u).
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_u`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// The Chebyshev polynomial of the third kind of order `n`, at `x`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_v`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor;
        /// [`special_chebyshev_polynomial_v`](fn@special_chebyshev_polynomial_v) with a scalar `x`.
        ///
        /// # Errors
        /// The errors of [`special_chebyshev_polynomial_v`](fn@special_chebyshev_polynomial_v).
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_v`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// [`special_chebyshev_polynomial_v`](fn@special_chebyshev_polynomial_v) with a scalar `n`.
        ///
        /// # Errors
        /// The errors of [`special_chebyshev_polynomial_v`](fn@special_chebyshev_polynomial_v).
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_v`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// The Chebyshev polynomial of the fourth kind of order `n`, at `x`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_w`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor;
        /// [`special_chebyshev_polynomial_w`](fn@special_chebyshev_polynomial_w) with a scalar `x`.
        ///
        /// # Errors
        /// The errors of [`special_chebyshev_polynomial_w`](fn@special_chebyshev_polynomial_w).
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_w`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// [`special_chebyshev_polynomial_w`](fn@special_chebyshev_polynomial_w) with a scalar `n`.
        ///
        /// # Errors
        /// The errors of [`special_chebyshev_polynomial_w`](fn@special_chebyshev_polynomial_w).
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_w`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// The physicist's Hermite polynomial of order `n`, at `x`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.hermite_polynomial_h`.
        #[tags(pointwise)]
        special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor;
        /// [`special_hermite_polynomial_h`](fn@special_hermite_polynomial_h) with a scalar `x`.
        ///
        /// # Errors
        /// The errors of [`special_hermite_polynomial_h`](fn@special_hermite_polynomial_h).
        ///
        /// PyTorch: `torch.special.hermite_polynomial_h`.
        #[tags(pointwise)]
        special_hermite_polynomial_h.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// [`special_hermite_polynomial_h`](fn@special_hermite_polynomial_h) with a scalar `n`.
        ///
        /// # Errors
        /// The errors of [`special_hermite_polynomial_h`](fn@special_hermite_polynomial_h).
        ///
        /// PyTorch: `torch.special.hermite_polynomial_h`.
        #[tags(pointwise)]
        special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// The probabilist's Hermite polynomial of order `n`, at `x`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.hermite_polynomial_he`.
        #[tags(pointwise)]
        special_hermite_polynomial_he(Tensor x, Tensor n) -> Tensor;
        /// [`special_hermite_polynomial_he`](fn@special_hermite_polynomial_he) with a scalar `x`.
        ///
        /// # Errors
        /// The errors of [`special_hermite_polynomial_he`](fn@special_hermite_polynomial_he).
        ///
        /// PyTorch: `torch.special.hermite_polynomial_he`.
        #[tags(pointwise)]
        special_hermite_polynomial_he.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// [`special_hermite_polynomial_he`](fn@special_hermite_polynomial_he) with a scalar `n`.
        ///
        /// # Errors
        /// The errors of [`special_hermite_polynomial_he`](fn@special_hermite_polynomial_he).
        ///
        /// PyTorch: `torch.special.hermite_polynomial_he`.
        #[tags(pointwise)]
        special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// The Laguerre polynomial of order `n`, at `x`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.laguerre_polynomial_l`.
        #[tags(pointwise)]
        special_laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor;
        /// [`special_laguerre_polynomial_l`](fn@special_laguerre_polynomial_l) with a scalar `x`.
        ///
        /// # Errors
        /// The errors of [`special_laguerre_polynomial_l`](fn@special_laguerre_polynomial_l).
        ///
        /// PyTorch: `torch.special.laguerre_polynomial_l`.
        #[tags(pointwise)]
        special_laguerre_polynomial_l.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// [`special_laguerre_polynomial_l`](fn@special_laguerre_polynomial_l) with a scalar `n`.
        ///
        /// # Errors
        /// The errors of [`special_laguerre_polynomial_l`](fn@special_laguerre_polynomial_l).
        ///
        /// PyTorch: `torch.special.laguerre_polynomial_l`.
        #[tags(pointwise)]
        special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// The Legendre polynomial of order `n`, at `x`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.legendre_polynomial_p`.
        #[tags(pointwise)]
        special_legendre_polynomial_p(Tensor x, Tensor n) -> Tensor;
        /// [`special_legendre_polynomial_p`](fn@special_legendre_polynomial_p) with a scalar `x`.
        ///
        /// # Errors
        /// The errors of [`special_legendre_polynomial_p`](fn@special_legendre_polynomial_p).
        ///
        /// PyTorch: `torch.special.legendre_polynomial_p`.
        #[tags(pointwise)]
        special_legendre_polynomial_p.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// [`special_legendre_polynomial_p`](fn@special_legendre_polynomial_p) with a scalar `n`.
        ///
        /// # Errors
        /// The errors of [`special_legendre_polynomial_p`](fn@special_legendre_polynomial_p).
        ///
        /// PyTorch: `torch.special.legendre_polynomial_p`.
        #[tags(pointwise)]
        special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// The Chebyshev polynomial of the first kind of order `n`, shifted to `[0, 1]`, at `x`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_t`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor;
        /// [`special_shifted_chebyshev_polynomial_t`](fn@special_shifted_chebyshev_polynomial_t) with a scalar `x`.
        ///
        /// # Errors
        /// The errors of [`special_shifted_chebyshev_polynomial_t`](fn@special_shifted_chebyshev_polynomial_t).
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_t`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// [`special_shifted_chebyshev_polynomial_t`](fn@special_shifted_chebyshev_polynomial_t) with a scalar `n`.
        ///
        /// # Errors
        /// The errors of [`special_shifted_chebyshev_polynomial_t`](fn@special_shifted_chebyshev_polynomial_t).
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_t`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// The Chebyshev polynomial of the second kind of order `n`, shifted to `[0, 1]`, at `x`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_u`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor;
        /// [`special_shifted_chebyshev_polynomial_u`](fn@special_shifted_chebyshev_polynomial_u) with a scalar `x`.
        ///
        /// # Errors
        /// The errors of [`special_shifted_chebyshev_polynomial_u`](fn@special_shifted_chebyshev_polynomial_u).
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_u`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// [`special_shifted_chebyshev_polynomial_u`](fn@special_shifted_chebyshev_polynomial_u) with a scalar `n`.
        ///
        /// # Errors
        /// The errors of [`special_shifted_chebyshev_polynomial_u`](fn@special_shifted_chebyshev_polynomial_u).
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_u`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// The Chebyshev polynomial of the third kind of order `n`, shifted to `[0, 1]`, at `x`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_v`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor;
        /// [`special_shifted_chebyshev_polynomial_v`](fn@special_shifted_chebyshev_polynomial_v) with a scalar `x`.
        ///
        /// # Errors
        /// The errors of [`special_shifted_chebyshev_polynomial_v`](fn@special_shifted_chebyshev_polynomial_v).
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_v`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// [`special_shifted_chebyshev_polynomial_v`](fn@special_shifted_chebyshev_polynomial_v) with a scalar `n`.
        ///
        /// # Errors
        /// The errors of [`special_shifted_chebyshev_polynomial_v`](fn@special_shifted_chebyshev_polynomial_v).
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_v`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// The Chebyshev polynomial of the fourth kind of order `n`, shifted to `[0, 1]`, at `x`.
        ///
        /// # Errors
        /// Half-precision and complex dtypes.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_w`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor;
        /// [`special_shifted_chebyshev_polynomial_w`](fn@special_shifted_chebyshev_polynomial_w) with a scalar `x`.
        ///
        /// # Errors
        /// The errors of [`special_shifted_chebyshev_polynomial_w`](fn@special_shifted_chebyshev_polynomial_w).
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_w`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// [`special_shifted_chebyshev_polynomial_w`](fn@special_shifted_chebyshev_polynomial_w) with a scalar `n`.
        ///
        /// # Errors
        /// The errors of [`special_shifted_chebyshev_polynomial_w`](fn@special_shifted_chebyshev_polynomial_w).
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_w`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor;
    }
}
