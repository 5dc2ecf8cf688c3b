//! Orthogonal polynomials, element by element, and the function of Airy.
//!
//! Orders are cut to whole numbers; one below zero gives 0. Sums that overflow on the way end in NaN, as do orders
//! beyond 2²⁴ where a polynomial has no closed form, and for Hermite's those beyond 512, or 128 in `float32`.

use torch_library::torch_library;

torch_library! {
    /// Polynomials, on top of what was declared before.
    pub mod aten extends super::view_copy::aten {
        /// The function of Airy that decays, Ai.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.airy_ai`.
        #[tags(pointwise)]
        special_airy_ai(Tensor x) -> Tensor;

        /// Chebyshev's polynomials of the first kind: that of order `n` at `x`.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_t`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor;
        /// As [`special_chebyshev_polynomial_t`](fn@special_chebyshev_polynomial_t), all orders at one number.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_t`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// As [`special_chebyshev_polynomial_t`](fn@special_chebyshev_polynomial_t), one order for all elements.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_t`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// Chebyshev's polynomials of the second kind: that of order `n` at `x`.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_u`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor;
        /// As [`special_chebyshev_polynomial_u`](fn@special_chebyshev_polynomial_u), all orders at one number.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_u`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// As [`special_chebyshev_polynomial_u`](fn@special_chebyshev_polynomial_u), one order for all elements.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_u`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// Chebyshev's polynomials of the third kind: that of order `n` at `x`.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_v`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor;
        /// As [`special_chebyshev_polynomial_v`](fn@special_chebyshev_polynomial_v), all orders at one number.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_v`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// As [`special_chebyshev_polynomial_v`](fn@special_chebyshev_polynomial_v), one order for all elements.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_v`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// Chebyshev's polynomials of the fourth kind: that of order `n` at `x`.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_w`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor;
        /// As [`special_chebyshev_polynomial_w`](fn@special_chebyshev_polynomial_w), all orders at one number.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_w`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// As [`special_chebyshev_polynomial_w`](fn@special_chebyshev_polynomial_w), one order for all elements.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.chebyshev_polynomial_w`.
        #[tags(pointwise)]
        special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// Hermite's polynomials, as physics has them: that of order `n` at `x`.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.hermite_polynomial_h`.
        #[tags(pointwise)]
        special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor;
        /// As [`special_hermite_polynomial_h`](fn@special_hermite_polynomial_h), all orders at one number.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.hermite_polynomial_h`.
        #[tags(pointwise)]
        special_hermite_polynomial_h.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// As [`special_hermite_polynomial_h`](fn@special_hermite_polynomial_h), one order for all elements.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.hermite_polynomial_h`.
        #[tags(pointwise)]
        special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// Hermite's polynomials, as probability theory has them: that of order `n` at `x`.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.hermite_polynomial_he`.
        #[tags(pointwise)]
        special_hermite_polynomial_he(Tensor x, Tensor n) -> Tensor;
        /// As [`special_hermite_polynomial_he`](fn@special_hermite_polynomial_he), all orders at one number.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.hermite_polynomial_he`.
        #[tags(pointwise)]
        special_hermite_polynomial_he.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// As [`special_hermite_polynomial_he`](fn@special_hermite_polynomial_he), one order for all elements.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.hermite_polynomial_he`.
        #[tags(pointwise)]
        special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// Laguerre's polynomials: that of order `n` at `x`.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.laguerre_polynomial_l`.
        #[tags(pointwise)]
        special_laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor;
        /// As [`special_laguerre_polynomial_l`](fn@special_laguerre_polynomial_l), all orders at one number.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.laguerre_polynomial_l`.
        #[tags(pointwise)]
        special_laguerre_polynomial_l.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// As [`special_laguerre_polynomial_l`](fn@special_laguerre_polynomial_l), one order for all elements.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.laguerre_polynomial_l`.
        #[tags(pointwise)]
        special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// Legendre's polynomials: that of order `n` at `x`.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.legendre_polynomial_p`.
        #[tags(pointwise)]
        special_legendre_polynomial_p(Tensor x, Tensor n) -> Tensor;
        /// As [`special_legendre_polynomial_p`](fn@special_legendre_polynomial_p), all orders at one number.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.legendre_polynomial_p`.
        #[tags(pointwise)]
        special_legendre_polynomial_p.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// As [`special_legendre_polynomial_p`](fn@special_legendre_polynomial_p), one order for all elements.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.legendre_polynomial_p`.
        #[tags(pointwise)]
        special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// Chebyshev's polynomials of the first kind, shifted to run from 0 to 1: that of order `n` at `x`.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_t`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor;
        /// As [`special_shifted_chebyshev_polynomial_t`](fn@special_shifted_chebyshev_polynomial_t), all orders at
        /// one number.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_t`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// As [`special_shifted_chebyshev_polynomial_t`](fn@special_shifted_chebyshev_polynomial_t), one order for
        /// all elements.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_t`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// Chebyshev's polynomials of the second kind, shifted to run from 0 to 1: that of order `n` at `x`.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_u`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor;
        /// As [`special_shifted_chebyshev_polynomial_u`](fn@special_shifted_chebyshev_polynomial_u), all orders at
        /// one number.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_u`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// As [`special_shifted_chebyshev_polynomial_u`](fn@special_shifted_chebyshev_polynomial_u), one order for
        /// all elements.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_u`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// Chebyshev's polynomials of the third kind, shifted to run from 0 to 1: that of order `n` at `x`.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_v`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor;
        /// As [`special_shifted_chebyshev_polynomial_v`](fn@special_shifted_chebyshev_polynomial_v), all orders at
        /// one number.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_v`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// As [`special_shifted_chebyshev_polynomial_v`](fn@special_shifted_chebyshev_polynomial_v), one order for
        /// all elements.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_v`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor;

        /// Chebyshev's polynomials of the fourth kind, shifted to run from 0 to 1: that of order `n` at `x`.
        ///
        /// # Errors
        /// Halves and complex numbers.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_w`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor;
        /// As [`special_shifted_chebyshev_polynomial_w`](fn@special_shifted_chebyshev_polynomial_w), all orders at
        /// one number.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_w`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor;
        /// As [`special_shifted_chebyshev_polynomial_w`](fn@special_shifted_chebyshev_polynomial_w), one order for
        /// all elements.
        ///
        /// # Errors
        /// As of that.
        ///
        /// PyTorch: `torch.special.shifted_chebyshev_polynomial_w`.
        #[tags(pointwise)]
        special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor;
    }
}
