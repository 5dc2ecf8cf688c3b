//! Operators under their other names: those of NumPy, and of `torch.special`.

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack, torch_library};

/// Declares aliases and registers kernels that call the operator they stand for. Each row gives the name in Rust, that
/// operator, and the schema of the alias.
macro_rules! aliases {
    ($($name:ident: $base:ident => $schema:tt;)*) => {
        torch_library! {
            /// Aliases.
            pub(crate) mod aten extends "aten" {
                $(
                    #[doc = concat!("Alias for [`", stringify!($base), "`](fn@crate::aten::", stringify!($base), ").")]
                    $schema;
                )*
            }
        }

        #[torch_impl(aten, CompositeImplicitAutograd, boxed)]
        mod kernels {
            use super::*;

            $(
                fn $name(_: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
                    crate::aten::$base::handle().call_boxed(stack)
                }
            )*
        }
    };
}
pub(super) use aliases;

aliases! {
    absolute: abs => "absolute(Tensor self) -> Tensor";
    absolute_: abs_ => "absolute_(Tensor(a!) self) -> Tensor(a!)";
    negative: neg => "negative(Tensor self) -> Tensor";
    negative_: neg_ => "negative_(Tensor(a!) self) -> Tensor(a!)";
    arccos: acos => "arccos(Tensor self) -> Tensor";
    arccosh: acosh => "arccosh(Tensor self) -> Tensor";
    arcsin: asin => "arcsin(Tensor self) -> Tensor";
    arcsinh: asinh => "arcsinh(Tensor self) -> Tensor";
    arctan: atan => "arctan(Tensor self) -> Tensor";
    arctanh: atanh => "arctanh(Tensor self) -> Tensor";
    arctan2: atan2 => "arctan2(Tensor self, Tensor other) -> Tensor";
    fix: trunc => "fix(Tensor self) -> Tensor";
    fix_: trunc_ => "fix_(Tensor(a!) self) -> Tensor(a!)";
    clip: clamp => "clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor";
    clip_: clamp_ => "clip_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)";
    clip_Tensor: clamp_Tensor => "clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor";
    concat: cat => "concat(Tensor[] tensors, int dim=0) -> Tensor";
    concatenate: cat => "concatenate(Tensor[] tensors, int dim=0) -> Tensor";
    multiply_Tensor: mul_Tensor => "multiply.Tensor(Tensor self, Tensor other) -> Tensor";
    multiply_Scalar: mul_Scalar => "multiply.Scalar(Tensor self, Scalar other) -> Tensor";
    multiply__Tensor: mul__Tensor => "multiply_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    multiply__Scalar: mul__Scalar => "multiply_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    subtract_Tensor: sub_Tensor => "subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
    subtract_Scalar: sub_Scalar => "subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor";
    subtract__Tensor: sub__Tensor => "subtract_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)";
    subtract__Scalar: sub__Scalar => "subtract_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)";
    divide_Tensor: div_Tensor => "divide.Tensor(Tensor self, Tensor other) -> Tensor";
    divide_Scalar: div_Scalar => "divide.Scalar(Tensor self, Scalar other) -> Tensor";
    divide_Tensor_mode: div_Tensor_mode =>
        "divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor";
    divide_Scalar_mode: div_Scalar_mode =>
        "divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor";
    divide__Tensor: div__Tensor => "divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    divide__Scalar: div__Scalar => "divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    true_divide_Tensor: div_Tensor => "true_divide.Tensor(Tensor self, Tensor other) -> Tensor";
    true_divide_Scalar: div_Scalar => "true_divide.Scalar(Tensor self, Scalar other) -> Tensor";
    true_divide__Tensor: div__Tensor => "true_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    true_divide__Scalar: div__Scalar => "true_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    greater_Tensor: gt_Tensor => "greater.Tensor(Tensor self, Tensor other) -> Tensor";
    greater_Scalar: gt_Scalar => "greater.Scalar(Tensor self, Scalar other) -> Tensor";
    greater_equal_Tensor: ge_Tensor => "greater_equal.Tensor(Tensor self, Tensor other) -> Tensor";
    greater_equal_Scalar: ge_Scalar => "greater_equal.Scalar(Tensor self, Scalar other) -> Tensor";
    less_Tensor: lt_Tensor => "less.Tensor(Tensor self, Tensor other) -> Tensor";
    less_Scalar: lt_Scalar => "less.Scalar(Tensor self, Scalar other) -> Tensor";
    less_equal_Tensor: le_Tensor => "less_equal.Tensor(Tensor self, Tensor other) -> Tensor";
    less_equal_Scalar: le_Scalar => "less_equal.Scalar(Tensor self, Scalar other) -> Tensor";
    not_equal_Tensor: ne_Tensor => "not_equal.Tensor(Tensor self, Tensor other) -> Tensor";
    not_equal_Scalar: ne_Scalar => "not_equal.Scalar(Tensor self, Scalar other) -> Tensor";
    special_exp2: exp2 => "special_exp2(Tensor self) -> Tensor";
    special_expm1: expm1 => "special_expm1(Tensor self) -> Tensor";
    special_log1p: log1p => "special_log1p(Tensor self) -> Tensor";
    special_erfc: erfc => "special_erfc(Tensor self) -> Tensor";
    special_erfinv: erfinv => "special_erfinv(Tensor self) -> Tensor";
    special_gammaln: lgamma => "special_gammaln(Tensor self) -> Tensor";
    special_gammainc: igamma => "special_gammainc(Tensor self, Tensor other) -> Tensor";
    special_gammaincc: igammac => "special_gammaincc(Tensor self, Tensor other) -> Tensor";
    special_psi: digamma => "special_psi(Tensor self) -> Tensor";
    special_polygamma: polygamma => "special_polygamma(int n, Tensor self) -> Tensor";
    special_digamma: digamma => "special_digamma(Tensor self) -> Tensor";
    special_sinc: sinc => "special_sinc(Tensor self) -> Tensor";
    special_xlogy: xlogy_Tensor => "special_xlogy(Tensor self, Tensor other) -> Tensor";
    special_xlogy_other_scalar: xlogy_Scalar_Other => "special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor";
    special_xlogy_self_scalar: xlogy_Scalar_Self => "special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor";
    special_round: round_decimals => "special_round(Tensor self, *, int decimals=0) -> Tensor";
    special_logsumexp: logsumexp => "special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor";
    special_logit: logit => "special_logit(Tensor self, float? eps=None) -> Tensor";
    special_log_softmax: log_softmax_int =>
        "special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor";
    special_softmax: softmax_int => "special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor";
    ger: outer => "ger(Tensor self, Tensor vec2) -> Tensor";
    row_stack: vstack => "row_stack(Tensor[] tensors) -> Tensor";
}
