//! The out variants of aliases.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    ger_out: ger => "ger.out(Tensor self, Tensor vec2, *, Tensor(a!) out) -> Tensor(a!)";
    special_digamma_out: special_digamma => "special_digamma.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_erfc_out: special_erfc => "special_erfc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_erfinv_out: special_erfinv => "special_erfinv.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_exp2_out: special_exp2 => "special_exp2.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_expm1_out: special_expm1 => "special_expm1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_gammainc_out: special_gammainc =>
        "special_gammainc.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    special_gammaincc_out: special_gammaincc =>
        "special_gammaincc.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    special_gammaln_out: special_gammaln => "special_gammaln.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_log1p_out: special_log1p => "special_log1p.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_logit_out: special_logit Castable =>
        "special_logit.out(Tensor self, float? eps=None, *, Tensor(a!) out) -> Tensor(a!)";
    special_logsumexp_out: special_logsumexp =>
        "special_logsumexp.out(Tensor self, int[1] dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    special_polygamma_out: special_polygamma Castable =>
        "special_polygamma.out(int n, Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_psi_out: special_psi => "special_psi.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_round_out: special_round Exact =>
        "special_round.out(Tensor self, *, int decimals=0, Tensor(a!) out) -> Tensor(a!)";
    special_sinc_out: special_sinc => "special_sinc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_xlogy_other_scalar_out: special_xlogy_other_scalar Castable =>
        "special_xlogy.other_scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    special_xlogy_out: special_xlogy => "special_xlogy.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    special_xlogy_self_scalar_out: special_xlogy_self_scalar Castable =>
        "special_xlogy.self_scalar_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    absolute_out: absolute => "absolute.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arccos_out: arccos => "arccos.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arccosh_out: arccosh => "arccosh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arcsin_out: arcsin => "arcsin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arcsinh_out: arcsinh => "arcsinh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arctan_out: arctan => "arctan.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arctan2_out: arctan2 => "arctan2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    arctanh_out: arctanh => "arctanh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    clip_Tensor_out: clip_Tensor =>
        "clip.Tensor_out(Tensor self, Tensor? min=None, Tensor? max=None, *, Tensor(a!) out) -> Tensor(a!)";
    clip_out: clip => "clip.out(Tensor self, Scalar? min=None, Scalar? max=None, *, Tensor(a!) out) -> Tensor(a!)";
    concat_out: concat => "concat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)";
    concatenate_out: concatenate => "concatenate.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)";
    divide_out: divide_Tensor Castable => "divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    divide_out_mode: divide_Tensor_mode Castable =>
        "divide.out_mode(Tensor self, Tensor other, *, str? rounding_mode, Tensor(a!) out) -> Tensor(a!)";
    fix_out: fix => "fix.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    greater_Scalar_out: greater_Scalar =>
        "greater.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    greater_Tensor_out: greater_Tensor =>
        "greater.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    greater_equal_Scalar_out: greater_equal_Scalar =>
        "greater_equal.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    greater_equal_Tensor_out: greater_equal_Tensor =>
        "greater_equal.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    less_Scalar_out: less_Scalar => "less.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    less_Tensor_out: less_Tensor => "less.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    less_equal_Scalar_out: less_equal_Scalar =>
        "less_equal.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    less_equal_Tensor_out: less_equal_Tensor =>
        "less_equal.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    multiply_out: multiply_Tensor Castable =>
        "multiply.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    negative_out: negative => "negative.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    not_equal_Scalar_out: not_equal_Scalar =>
        "not_equal.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    not_equal_Tensor_out: not_equal_Tensor =>
        "not_equal.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    row_stack_out: row_stack Castable => "row_stack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)";
    subtract_out: subtract_Tensor Castable =>
        "subtract.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
    true_divide_out: true_divide_Tensor Castable =>
        "true_divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
}
