//! Orthogonal polynomials have no derivatives here, as in PyTorch: their results require no gradient.

use torch_library::derivatives;

derivatives! {
    in crate::aten;

    special_airy_ai(Tensor x) -> Tensor as non_differentiable;
    special_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor as non_differentiable;
    special_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor as non_differentiable;
    special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor as non_differentiable;
    special_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor as non_differentiable;
    special_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor as non_differentiable;
    special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor as non_differentiable;
    special_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor as non_differentiable;
    special_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor as non_differentiable;
    special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor as non_differentiable;
    special_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor as non_differentiable;
    special_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor as non_differentiable;
    special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor as non_differentiable;
    special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor as non_differentiable;
    special_hermite_polynomial_h.x_scalar(Scalar x, Tensor n) -> Tensor as non_differentiable;
    special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor as non_differentiable;
    special_hermite_polynomial_he(Tensor x, Tensor n) -> Tensor as non_differentiable;
    special_hermite_polynomial_he.x_scalar(Scalar x, Tensor n) -> Tensor as non_differentiable;
    special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor as non_differentiable;
    special_laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor as non_differentiable;
    special_laguerre_polynomial_l.x_scalar(Scalar x, Tensor n) -> Tensor as non_differentiable;
    special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor as non_differentiable;
    special_legendre_polynomial_p(Tensor x, Tensor n) -> Tensor as non_differentiable;
    special_legendre_polynomial_p.x_scalar(Scalar x, Tensor n) -> Tensor as non_differentiable;
    special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor as non_differentiable;
    special_shifted_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor as non_differentiable;
    special_shifted_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor as non_differentiable;
    special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor as non_differentiable;
    special_shifted_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor as non_differentiable;
    special_shifted_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor as non_differentiable;
    special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor as non_differentiable;
    special_shifted_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor as non_differentiable;
    special_shifted_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor as non_differentiable;
    special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor as non_differentiable;
    special_shifted_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor as non_differentiable;
    special_shifted_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor as non_differentiable;
    special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor as non_differentiable;
}
