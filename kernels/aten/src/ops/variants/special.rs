//! The out and in-place variants of special functions.
#![expect(unreachable_pub, reason = "what extends this namespace exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    super::linalg::aten;
    logit_out: logit Castable => "logit.out(Tensor self, float? eps=None, *, Tensor(a!) out) -> Tensor(a!)";
    special_digamma_out: special_digamma => "special_digamma.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_erf_out: special_erf => "special_erf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_erfc_out: special_erfc => "special_erfc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_erfinv_out: special_erfinv => "special_erfinv.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_exp2_out: special_exp2 => "special_exp2.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_expit_out: special_expit => "special_expit.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_expm1_out: special_expm1 => "special_expm1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_gammainc_out: special_gammainc =>
        "special_gammainc.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    special_gammaincc_out: special_gammaincc =>
        "special_gammaincc.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    special_gammaln_out: special_gammaln => "special_gammaln.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_i0_out: special_i0 Castable => "special_i0.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_log1p_out: special_log1p => "special_log1p.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_logit_out: special_logit Castable =>
        "special_logit.out(Tensor self, float? eps=None, *, Tensor(a!) out) -> Tensor(a!)";
    special_logsumexp_out: special_logsumexp =>
        "special_logsumexp.out(Tensor self, int[1] dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    special_multigammaln_out: special_multigammaln Castable =>
        "special_multigammaln.out(Tensor self, int p, *, Tensor(a!) out) -> Tensor(a!)";
    special_ndtr_out: special_ndtr Castable => "special_ndtr.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_polygamma_out: special_polygamma Castable =>
        "special_polygamma.out(int n, Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_psi_out: special_psi => "special_psi.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_round_out: special_round Exact =>
        "special_round.out(Tensor self, *, int decimals=0, Tensor(a!) out) -> Tensor(a!)";
    special_sinc_out: special_sinc => "special_sinc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_xlog1py_other_scalar_out: special_xlog1py_other_scalar Castable =>
        "special_xlog1py.other_scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    special_xlog1py_self_scalar_out: special_xlog1py_self_scalar Castable =>
        "special_xlog1py.self_scalar_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    special_xlogy_other_scalar_out: special_xlogy_other_scalar Castable =>
        "special_xlogy.other_scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    special_xlogy_out: special_xlogy => "special_xlogy.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    special_xlogy_self_scalar_out: special_xlogy_self_scalar Castable =>
        "special_xlogy.self_scalar_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    special_zeta_other_scalar_out: special_zeta_other_scalar Castable =>
        "special_zeta.other_scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    special_zeta_self_scalar_out: special_zeta_self_scalar Castable =>
        "special_zeta.self_scalar_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    xlogy_OutScalar_Other: xlogy_Scalar_Other =>
        "xlogy.OutScalar_Other(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    xlogy_OutScalar_Self: xlogy_Scalar_Self =>
        "xlogy.OutScalar_Self(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
}
