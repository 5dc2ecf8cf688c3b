//! Operators on lists of tensors: each applies another operator to every tensor.
//!
//! They call that operator once for each tensor, so derivatives, batching rules and dtypes are those of that operator.

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, IntoValue, OperatorHandle, Stack, torch_library};

/// Declares operators on lists and registers their kernels. Each row gives the name in Rust, the operator that is
/// called for each tensor, and the schema.
macro_rules! foreach {
    ($($name:ident: $base:ident => $schema:tt;)*) => {
        torch_library! {
            /// Operators on lists of tensors.
            pub(crate) mod aten extends "aten" {
                $(
                    #[doc = concat!("[`", stringify!($base), "`](fn@crate::aten::", stringify!($base),
                        ") for each tensor of a list, with the corresponding elements of the other lists.")]
                    $schema;
                )*
            }
        }

        #[torch_impl(aten, CompositeImplicitAutograd, boxed)]
        mod kernels {
            use super::*;

            $(
                fn $name(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
                    each(operator, crate::aten::$base::handle(), stack)
                }
            )*
        }
    };
}

foreach! {
    _foreach_abs: abs => "_foreach_abs(Tensor[] self) -> Tensor[]";
    _foreach_abs_: abs_ => "_foreach_abs_(Tensor(a!)[] self) -> ()";
    _foreach_acos: acos => "_foreach_acos(Tensor[] self) -> Tensor[]";
    _foreach_acos_: acos_ => "_foreach_acos_(Tensor(a!)[] self) -> ()";
    _foreach_add_List: add_Tensor => "_foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]";
    _foreach_add_Scalar: add_Scalar => "_foreach_add.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]";
    _foreach_add_ScalarList: add_Scalar => "_foreach_add.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]";
    _foreach_add_Tensor: add_Tensor =>
        "_foreach_add.Tensor(Tensor[] self, Tensor other, *, Scalar alpha=1) -> Tensor[]";
    _foreach_add__ScalarList: add__Scalar => "_foreach_add_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()";
    _foreach_add__Tensor: add__Tensor =>
        "_foreach_add_.Tensor(Tensor(a!)[] self, Tensor other, *, Scalar alpha=1) -> ()";
    _foreach_addcdiv_Scalar: addcdiv =>
        "_foreach_addcdiv.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[]";
    _foreach_addcdiv_ScalarList: addcdiv =>
        "_foreach_addcdiv.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> Tensor[]";
    _foreach_addcdiv__ScalarList: addcdiv_ =>
        "_foreach_addcdiv_.ScalarList(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> ()";
    _foreach_addcmul_Scalar: addcmul =>
        "_foreach_addcmul.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[]";
    _foreach_addcmul_ScalarList: addcmul =>
        "_foreach_addcmul.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> Tensor[]";
    _foreach_addcmul__ScalarList: addcmul_ =>
        "_foreach_addcmul_.ScalarList(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars) -> ()";
    _foreach_asin: asin => "_foreach_asin(Tensor[] self) -> Tensor[]";
    _foreach_asin_: asin_ => "_foreach_asin_(Tensor(a!)[] self) -> ()";
    _foreach_atan: atan => "_foreach_atan(Tensor[] self) -> Tensor[]";
    _foreach_atan_: atan_ => "_foreach_atan_(Tensor(a!)[] self) -> ()";
    _foreach_ceil: ceil => "_foreach_ceil(Tensor[] self) -> Tensor[]";
    _foreach_ceil_: ceil_ => "_foreach_ceil_(Tensor(a!)[] self) -> ()";
    _foreach_clamp_max_List: clamp_max_Tensor => "_foreach_clamp_max.List(Tensor[] self, Tensor[] other) -> Tensor[]";
    _foreach_clamp_max_Scalar: clamp_max => "_foreach_clamp_max.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]";
    _foreach_clamp_max_ScalarList: clamp_max =>
        "_foreach_clamp_max.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]";
    _foreach_clamp_max__List: clamp_max__Tensor => "_foreach_clamp_max_.List(Tensor(a!)[] self, Tensor[] other) -> ()";
    _foreach_clamp_max__Scalar: clamp_max_ => "_foreach_clamp_max_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()";
    _foreach_clamp_max__ScalarList: clamp_max_ =>
        "_foreach_clamp_max_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()";
    _foreach_clamp_min_List: clamp_min_Tensor => "_foreach_clamp_min.List(Tensor[] self, Tensor[] other) -> Tensor[]";
    _foreach_clamp_min_Scalar: clamp_min => "_foreach_clamp_min.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]";
    _foreach_clamp_min_ScalarList: clamp_min =>
        "_foreach_clamp_min.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]";
    _foreach_clamp_min__List: clamp_min__Tensor => "_foreach_clamp_min_.List(Tensor(a!)[] self, Tensor[] other) -> ()";
    _foreach_clamp_min__Scalar: clamp_min_ => "_foreach_clamp_min_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()";
    _foreach_clamp_min__ScalarList: clamp_min_ =>
        "_foreach_clamp_min_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()";
    _foreach_clone: clone => "_foreach_clone(Tensor[] self, *, MemoryFormat? memory_format=None) -> Tensor[]";
    _foreach_copy: copy => "_foreach_copy(Tensor[] self, Tensor[] src, bool non_blocking=False) -> Tensor[] self_out";
    _foreach_copy_: copy_ => "_foreach_copy_(Tensor(a!)[] self, Tensor[] src, bool non_blocking=False) -> ()";
    _foreach_cos: cos => "_foreach_cos(Tensor[] self) -> Tensor[]";
    _foreach_cos_: cos_ => "_foreach_cos_(Tensor(a!)[] self) -> ()";
    _foreach_cosh: cosh => "_foreach_cosh(Tensor[] self) -> Tensor[]";
    _foreach_cosh_: cosh_ => "_foreach_cosh_(Tensor(a!)[] self) -> ()";
    _foreach_div_List: div_Tensor => "_foreach_div.List(Tensor[] self, Tensor[] other) -> Tensor[]";
    _foreach_div_Scalar: div_Scalar => "_foreach_div.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]";
    _foreach_div_ScalarList: div_Scalar => "_foreach_div.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]";
    _foreach_div_Tensor: div_Tensor => "_foreach_div.Tensor(Tensor[] self, Tensor other) -> Tensor[]";
    _foreach_div__ScalarList: div__Scalar => "_foreach_div_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()";
    _foreach_div__Tensor: div__Tensor => "_foreach_div_.Tensor(Tensor(a!)[] self, Tensor other) -> ()";
    _foreach_erf: erf => "_foreach_erf(Tensor[] self) -> Tensor[]";
    _foreach_erf_: erf_ => "_foreach_erf_(Tensor(a!)[] self) -> ()";
    _foreach_erfc: erfc => "_foreach_erfc(Tensor[] self) -> Tensor[]";
    _foreach_erfc_: erfc_ => "_foreach_erfc_(Tensor(a!)[] self) -> ()";
    _foreach_exp: exp => "_foreach_exp(Tensor[] self) -> Tensor[]";
    _foreach_exp_: exp_ => "_foreach_exp_(Tensor(a!)[] self) -> ()";
    _foreach_expm1: expm1 => "_foreach_expm1(Tensor[] self) -> Tensor[]";
    _foreach_expm1_: expm1_ => "_foreach_expm1_(Tensor(a!)[] self) -> ()";
    _foreach_floor: floor => "_foreach_floor(Tensor[] self) -> Tensor[]";
    _foreach_floor_: floor_ => "_foreach_floor_(Tensor(a!)[] self) -> ()";
    _foreach_frac: frac => "_foreach_frac(Tensor[] self) -> Tensor[]";
    _foreach_frac_: frac_ => "_foreach_frac_(Tensor(a!)[] self) -> ()";
    _foreach_lerp_List: lerp_Tensor =>
        "_foreach_lerp.List(Tensor[] self, Tensor[] tensors1, Tensor[] weights) -> Tensor[]";
    _foreach_lerp_Scalar: lerp_Scalar =>
        "_foreach_lerp.Scalar(Tensor[] self, Tensor[] tensors1, Scalar weight) -> Tensor[]";
    _foreach_lerp_ScalarList: lerp_Scalar =>
        "_foreach_lerp.ScalarList(Tensor[] self, Tensor[] tensors1, Scalar[] weight) -> Tensor[]";
    _foreach_lerp__List: lerp__Tensor =>
        "_foreach_lerp_.List(Tensor(a!)[] self, Tensor[] tensors1, Tensor[] weights) -> ()";
    _foreach_lerp__ScalarList: lerp__Scalar =>
        "_foreach_lerp_.ScalarList(Tensor(a!)[] self, Tensor[] tensors1, Scalar[] weight) -> ()";
    _foreach_lgamma: lgamma => "_foreach_lgamma(Tensor[] self) -> Tensor[]";
    _foreach_lgamma_: lgamma_ => "_foreach_lgamma_(Tensor(a!)[] self) -> ()";
    _foreach_log: log => "_foreach_log(Tensor[] self) -> Tensor[]";
    _foreach_log10: log10 => "_foreach_log10(Tensor[] self) -> Tensor[]";
    _foreach_log10_: log10_ => "_foreach_log10_(Tensor(a!)[] self) -> ()";
    _foreach_log1p: log1p => "_foreach_log1p(Tensor[] self) -> Tensor[]";
    _foreach_log1p_: log1p_ => "_foreach_log1p_(Tensor(a!)[] self) -> ()";
    _foreach_log2: log2 => "_foreach_log2(Tensor[] self) -> Tensor[]";
    _foreach_log2_: log2_ => "_foreach_log2_(Tensor(a!)[] self) -> ()";
    _foreach_log_: log_ => "_foreach_log_(Tensor(a!)[] self) -> ()";
    _foreach_max: max => "_foreach_max(Tensor[] self) -> Tensor[]";
    _foreach_maximum_List: maximum => "_foreach_maximum.List(Tensor[] self, Tensor[] other) -> Tensor[]";
    _foreach_maximum_Scalar: maximum => "_foreach_maximum.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]";
    _foreach_maximum_ScalarList: maximum =>
        "_foreach_maximum.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]";
    _foreach_maximum__List: clamp_min__Tensor => "_foreach_maximum_.List(Tensor(a!)[] self, Tensor[] other) -> ()";
    _foreach_maximum__Scalar: clamp_min__Tensor => "_foreach_maximum_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()";
    _foreach_maximum__ScalarList: clamp_min__Tensor =>
        "_foreach_maximum_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()";
    _foreach_minimum_List: minimum => "_foreach_minimum.List(Tensor[] self, Tensor[] other) -> Tensor[]";
    _foreach_minimum_Scalar: minimum => "_foreach_minimum.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]";
    _foreach_minimum_ScalarList: minimum =>
        "_foreach_minimum.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]";
    _foreach_minimum__List: clamp_max__Tensor => "_foreach_minimum_.List(Tensor(a!)[] self, Tensor[] other) -> ()";
    _foreach_minimum__Scalar: clamp_max__Tensor => "_foreach_minimum_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()";
    _foreach_minimum__ScalarList: clamp_max__Tensor =>
        "_foreach_minimum_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()";
    _foreach_mm: mm => "_foreach_mm(Tensor[] self, Tensor[] mat2) -> Tensor[]";
    _foreach_mul_List: mul_Tensor => "_foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[]";
    _foreach_mul_Scalar: mul_Scalar => "_foreach_mul.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]";
    _foreach_mul_ScalarList: mul_Scalar => "_foreach_mul.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]";
    _foreach_mul_Tensor: mul_Tensor => "_foreach_mul.Tensor(Tensor[] self, Tensor other) -> Tensor[]";
    _foreach_mul__ScalarList: mul__Scalar => "_foreach_mul_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()";
    _foreach_mul__Tensor: mul__Tensor => "_foreach_mul_.Tensor(Tensor(a!)[] self, Tensor other) -> ()";
    _foreach_neg: neg => "_foreach_neg(Tensor[] self) -> Tensor[]";
    _foreach_neg_: neg_ => "_foreach_neg_(Tensor(a!)[] self) -> ()";
    _foreach_pow_List: pow_Tensor_Tensor => "_foreach_pow.List(Tensor[] self, Tensor[] exponent) -> Tensor[]";
    _foreach_pow_Scalar: pow_Tensor_Scalar => "_foreach_pow.Scalar(Tensor[] self, Scalar exponent) -> Tensor[]";
    _foreach_pow_ScalarAndTensor: pow_Scalar =>
        "_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]";
    _foreach_pow_ScalarList: pow_Tensor_Scalar =>
        "_foreach_pow.ScalarList(Tensor[] self, Scalar[] exponent) -> Tensor[]";
    _foreach_pow__List: pow__Tensor => "_foreach_pow_.List(Tensor(a!)[] self, Tensor[] exponent) -> ()";
    _foreach_pow__Scalar: pow__Scalar => "_foreach_pow_.Scalar(Tensor(a!)[] self, Scalar exponent) -> ()";
    _foreach_pow__ScalarList: pow__Scalar => "_foreach_pow_.ScalarList(Tensor(a!)[] self, Scalar[] exponent) -> ()";
    _foreach_reciprocal: reciprocal => "_foreach_reciprocal(Tensor[] self) -> Tensor[]";
    _foreach_reciprocal_: reciprocal_ => "_foreach_reciprocal_(Tensor(a!)[] self) -> ()";
    _foreach_round: round => "_foreach_round(Tensor[] self) -> Tensor[]";
    _foreach_round_: round_ => "_foreach_round_(Tensor(a!)[] self) -> ()";
    _foreach_rsqrt: rsqrt => "_foreach_rsqrt(Tensor[] self) -> Tensor[]";
    _foreach_rsqrt_: rsqrt_ => "_foreach_rsqrt_(Tensor(a!)[] self) -> ()";
    _foreach_sigmoid: sigmoid => "_foreach_sigmoid(Tensor[] self) -> Tensor[]";
    _foreach_sigmoid_: sigmoid_ => "_foreach_sigmoid_(Tensor(a!)[] self) -> ()";
    _foreach_sign: sign => "_foreach_sign(Tensor[] self) -> Tensor[]";
    _foreach_sign_: sign_ => "_foreach_sign_(Tensor(a!)[] self) -> ()";
    _foreach_sin: sin => "_foreach_sin(Tensor[] self) -> Tensor[]";
    _foreach_sin_: sin_ => "_foreach_sin_(Tensor(a!)[] self) -> ()";
    _foreach_sinh: sinh => "_foreach_sinh(Tensor[] self) -> Tensor[]";
    _foreach_sinh_: sinh_ => "_foreach_sinh_(Tensor(a!)[] self) -> ()";
    _foreach_sqrt_: sqrt_ => "_foreach_sqrt_(Tensor(a!)[] self) -> ()";
    _foreach_sub_List: sub_Tensor => "_foreach_sub.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]";
    _foreach_sub_Scalar: sub_Scalar => "_foreach_sub.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]";
    _foreach_sub_ScalarList: sub_Scalar => "_foreach_sub.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]";
    _foreach_sub__Scalar: sub__Scalar => "_foreach_sub_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()";
    _foreach_sub__ScalarList: sub__Scalar => "_foreach_sub_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()";
    _foreach_tan: tan => "_foreach_tan(Tensor[] self) -> Tensor[]";
    _foreach_tan_: tan_ => "_foreach_tan_(Tensor(a!)[] self) -> ()";
    _foreach_tanh: tanh => "_foreach_tanh(Tensor[] self) -> Tensor[]";
    _foreach_tanh_: tanh_ => "_foreach_tanh_(Tensor(a!)[] self) -> ()";
    _foreach_trunc: trunc => "_foreach_trunc(Tensor[] self) -> Tensor[]";
    _foreach_trunc_: trunc_ => "_foreach_trunc_(Tensor(a!)[] self) -> ()";
    _foreach_zero: zero => "_foreach_zero(Tensor[] self) -> Tensor[] self_out";
}

/// Calls `base` once for each tensor of a list.
fn each(operator: OperatorHandle, base: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let schema = operator.schema()?;
    let arguments = operator.take_arguments(stack)?;
    let arguments: Vec<Argument<'_>> = arguments.iter().map(Argument::of).collect();
    let (by_position, by_name): (Vec<_>, Vec<_>) =
        base.schema()?.arguments.iter().zip(&arguments).partition(|(argument, _)| !argument.kwarg_only);
    let mut results = Vec::new();
    for at in 0..check_lengths(operator, &arguments)? {
        let positional = by_position.iter().map(|(_, value)| value.at(at));
        let named = by_name.iter().map(|(argument, value)| (&*argument.name, value.at(at)));
        let returns = base.call_with(positional, named)?;
        results.extend(returns.into_iter().flat_map(|value| value.tensors().to_vec()));
    }
    if !schema.returns.is_empty() {
        stack.push(results);
    }
    Ok(())
}

/// An argument of an operator on lists.
enum Argument<'a> {
    Tensors(&'a [Tensor]),
    Numbers(Vec<Scalar>),
    /// One value for all tensors.
    Shared(Value<'a>),
}

impl<'a> Argument<'a> {
    fn of(value: &'a Value<'_>) -> Self {
        match value {
            Value::Scalars(list) => Argument::Numbers(list.to_vec()),
            Value::Tensors(_) | Value::TensorsMut(_) => Argument::Tensors(value.tensors()),
            value => Argument::Shared(value.borrowed()),
        }
    }

    fn at(&self, at: usize) -> Value<'_> {
        match self {
            Argument::Tensors(list) => Value::Tensor(list[at].clone()),
            Argument::Numbers(list) => list[at].into_value(),
            Argument::Shared(value) => value.borrowed(),
        }
    }

    fn len(&self) -> Option<usize> {
        match self {
            Argument::Tensors(list) => Some(list.len()),
            Argument::Numbers(list) => Some(list.len()),
            Argument::Shared(_) => None,
        }
    }
}

/// The common length of the lists.
fn check_lengths(operator: OperatorHandle, arguments: &[Argument<'_>]) -> Result<usize> {
    let mut lengths = arguments.iter().filter_map(Argument::len);
    let count = lengths.next().unwrap_or(0);
    ensure!(count > 0, Argument, "{operator}: a list has no tensors, expected at least one");
    for other in lengths {
        ensure!(
            other == count,
            Argument,
            "{operator}: lists of {count} and {other}, expected one for each tensor"
        );
    }
    Ok(count)
}
