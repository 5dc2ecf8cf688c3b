//! The out variants of orthogonal polynomials.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    special_airy_ai_out: special_airy_ai Castable => "special_airy_ai.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)";
    special_chebyshev_polynomial_t_out: special_chebyshev_polynomial_t Castable =>
        "special_chebyshev_polynomial_t.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_chebyshev_polynomial_t_x_scalar_out: special_chebyshev_polynomial_t_x_scalar Castable =>
        "special_chebyshev_polynomial_t.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_chebyshev_polynomial_t_n_scalar_out: special_chebyshev_polynomial_t_n_scalar Castable =>
        "special_chebyshev_polynomial_t.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)";
    special_chebyshev_polynomial_u_out: special_chebyshev_polynomial_u Castable =>
        "special_chebyshev_polynomial_u.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_chebyshev_polynomial_u_x_scalar_out: special_chebyshev_polynomial_u_x_scalar Castable =>
        "special_chebyshev_polynomial_u.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_chebyshev_polynomial_u_n_scalar_out: special_chebyshev_polynomial_u_n_scalar Castable =>
        "special_chebyshev_polynomial_u.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)";
    special_chebyshev_polynomial_v_out: special_chebyshev_polynomial_v Castable =>
        "special_chebyshev_polynomial_v.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_chebyshev_polynomial_v_x_scalar_out: special_chebyshev_polynomial_v_x_scalar Castable =>
        "special_chebyshev_polynomial_v.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_chebyshev_polynomial_v_n_scalar_out: special_chebyshev_polynomial_v_n_scalar Castable =>
        "special_chebyshev_polynomial_v.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)";
    special_chebyshev_polynomial_w_out: special_chebyshev_polynomial_w Castable =>
        "special_chebyshev_polynomial_w.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_chebyshev_polynomial_w_x_scalar_out: special_chebyshev_polynomial_w_x_scalar Castable =>
        "special_chebyshev_polynomial_w.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_chebyshev_polynomial_w_n_scalar_out: special_chebyshev_polynomial_w_n_scalar Castable =>
        "special_chebyshev_polynomial_w.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)";
    special_hermite_polynomial_h_out: special_hermite_polynomial_h Castable =>
        "special_hermite_polynomial_h.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_hermite_polynomial_h_x_scalar_out: special_hermite_polynomial_h_x_scalar Castable =>
        "special_hermite_polynomial_h.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_hermite_polynomial_h_n_scalar_out: special_hermite_polynomial_h_n_scalar Castable =>
        "special_hermite_polynomial_h.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)";
    special_hermite_polynomial_he_out: special_hermite_polynomial_he Castable =>
        "special_hermite_polynomial_he.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_hermite_polynomial_he_x_scalar_out: special_hermite_polynomial_he_x_scalar Castable =>
        "special_hermite_polynomial_he.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_hermite_polynomial_he_n_scalar_out: special_hermite_polynomial_he_n_scalar Castable =>
        "special_hermite_polynomial_he.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)";
    special_laguerre_polynomial_l_out: special_laguerre_polynomial_l Castable =>
        "special_laguerre_polynomial_l.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_laguerre_polynomial_l_x_scalar_out: special_laguerre_polynomial_l_x_scalar Castable =>
        "special_laguerre_polynomial_l.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_laguerre_polynomial_l_n_scalar_out: special_laguerre_polynomial_l_n_scalar Castable =>
        "special_laguerre_polynomial_l.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)";
    special_legendre_polynomial_p_out: special_legendre_polynomial_p Castable =>
        "special_legendre_polynomial_p.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_legendre_polynomial_p_x_scalar_out: special_legendre_polynomial_p_x_scalar Castable =>
        "special_legendre_polynomial_p.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_legendre_polynomial_p_n_scalar_out: special_legendre_polynomial_p_n_scalar Castable =>
        "special_legendre_polynomial_p.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)";
    special_shifted_chebyshev_polynomial_t_out: special_shifted_chebyshev_polynomial_t Castable =>
        "special_shifted_chebyshev_polynomial_t.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_shifted_chebyshev_polynomial_t_x_scalar_out: special_shifted_chebyshev_polynomial_t_x_scalar Castable =>
        "special_shifted_chebyshev_polynomial_t.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_shifted_chebyshev_polynomial_t_n_scalar_out: special_shifted_chebyshev_polynomial_t_n_scalar Castable =>
        "special_shifted_chebyshev_polynomial_t.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)";
    special_shifted_chebyshev_polynomial_u_out: special_shifted_chebyshev_polynomial_u Castable =>
        "special_shifted_chebyshev_polynomial_u.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_shifted_chebyshev_polynomial_u_x_scalar_out: special_shifted_chebyshev_polynomial_u_x_scalar Castable =>
        "special_shifted_chebyshev_polynomial_u.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_shifted_chebyshev_polynomial_u_n_scalar_out: special_shifted_chebyshev_polynomial_u_n_scalar Castable =>
        "special_shifted_chebyshev_polynomial_u.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)";
    special_shifted_chebyshev_polynomial_v_out: special_shifted_chebyshev_polynomial_v Castable =>
        "special_shifted_chebyshev_polynomial_v.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_shifted_chebyshev_polynomial_v_x_scalar_out: special_shifted_chebyshev_polynomial_v_x_scalar Castable =>
        "special_shifted_chebyshev_polynomial_v.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_shifted_chebyshev_polynomial_v_n_scalar_out: special_shifted_chebyshev_polynomial_v_n_scalar Castable =>
        "special_shifted_chebyshev_polynomial_v.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)";
    special_shifted_chebyshev_polynomial_w_out: special_shifted_chebyshev_polynomial_w Castable =>
        "special_shifted_chebyshev_polynomial_w.out(Tensor x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_shifted_chebyshev_polynomial_w_x_scalar_out: special_shifted_chebyshev_polynomial_w_x_scalar Castable =>
        "special_shifted_chebyshev_polynomial_w.x_scalar_out(Scalar x, Tensor n, *, Tensor(a!) out) -> Tensor(a!)";
    special_shifted_chebyshev_polynomial_w_n_scalar_out: special_shifted_chebyshev_polynomial_w_n_scalar Castable =>
        "special_shifted_chebyshev_polynomial_w.n_scalar_out(Tensor x, Scalar n, *, Tensor(a!) out) -> Tensor(a!)";
}
