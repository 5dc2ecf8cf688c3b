//! The out variants of aliases: each writes as the out variant of the operator that it stands for.

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack, torch_library};

use crate::ops::alias::aliases;

aliases! {
    ger_out: outer_out => "ger.out(Tensor self, Tensor vec2, *, Tensor(a!) out) -> Tensor(a!)";
    special_digamma_out: digamma_out => "special_digamma.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_erfc_out: erfc_out => "special_erfc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_erfinv_out: erfinv_out => "special_erfinv.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_exp2_out: exp2_out => "special_exp2.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_expm1_out: expm1_out => "special_expm1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_gammainc_out: igamma_out =>
        "special_gammainc.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    special_gammaincc_out: igammac_out =>
        "special_gammaincc.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    special_gammaln_out: lgamma_out => "special_gammaln.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_log1p_out: log1p_out => "special_log1p.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_logit_out: logit_out => "special_logit.out(Tensor self, float? eps=None, *, Tensor(a!) out) -> Tensor(a!)";
    special_logsumexp_out: logsumexp_out =>
        "special_logsumexp.out(Tensor self, int[1] dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    special_polygamma_out: polygamma_out =>
        "special_polygamma.out(int n, Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_psi_out: digamma_out => "special_psi.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_round_out: round_decimals_out =>
        "special_round.out(Tensor self, *, int decimals=0, Tensor(a!) out) -> Tensor(a!)";
    special_sinc_out: sinc_out => "special_sinc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_xlogy_other_scalar_out: xlogy_OutScalar_Other =>
        "special_xlogy.other_scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    special_xlogy_out: xlogy_OutTensor =>
        "special_xlogy.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    special_xlogy_self_scalar_out: xlogy_OutScalar_Self =>
        "special_xlogy.self_scalar_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    absolute_out: abs_out => "absolute.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arccos_out: acos_out => "arccos.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arccosh_out: acosh_out => "arccosh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arcsin_out: asin_out => "arcsin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arcsinh_out: asinh_out => "arcsinh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arctan_out: atan_out => "arctan.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arctan2_out: atan2_out => "arctan2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    arctanh_out: atanh_out => "arctanh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    clip_Tensor_out: clamp_Tensor_out =>
        "clip.Tensor_out(Tensor self, Tensor? min=None, Tensor? max=None, *, Tensor(a!) out) -> Tensor(a!)";
    clip_out: clamp_out => "clip.out(Tensor self, Scalar? min=None, Scalar? max=None, *, Tensor(a!) out) -> Tensor(a!)";
    concat_out: cat_out => "concat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)";
    concatenate_out: cat_out => "concatenate.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)";
    divide_out: div_out => "divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    divide_out_mode: div_out_mode =>
        "divide.out_mode(Tensor self, Tensor other, *, str? rounding_mode, Tensor(a!) out) -> Tensor(a!)";
    fix_out: trunc_out => "fix.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    greater_Scalar_out: gt_Scalar_out =>
        "greater.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    greater_Tensor_out: gt_Tensor_out =>
        "greater.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    greater_equal_Scalar_out: ge_Scalar_out =>
        "greater_equal.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    greater_equal_Tensor_out: ge_Tensor_out =>
        "greater_equal.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    less_Scalar_out: lt_Scalar_out => "less.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    less_Tensor_out: lt_Tensor_out => "less.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    less_equal_Scalar_out: le_Scalar_out =>
        "less_equal.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    less_equal_Tensor_out: le_Tensor_out =>
        "less_equal.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    multiply_out: mul_out => "multiply.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    negative_out: neg_out => "negative.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    not_equal_Scalar_out: ne_Scalar_out =>
        "not_equal.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    not_equal_Tensor_out: ne_Tensor_out =>
        "not_equal.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    row_stack_out: vstack_out => "row_stack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)";
    subtract_out: sub_out => "subtract.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
    true_divide_out: div_out => "true_divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    special_erf_out: erf_out => "special_erf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_expit_out: sigmoid_out => "special_expit.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_i0_out: i0_out => "special_i0.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_multigammaln_out: mvlgamma_out =>
        "special_multigammaln.out(Tensor self, int p, *, Tensor(a!) out) -> Tensor(a!)";
    inverse_out: linalg_inv_out => "inverse.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_matmul_out: matmul_out => "linalg_matmul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
}
