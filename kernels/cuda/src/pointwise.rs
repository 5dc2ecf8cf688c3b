//! Element-wise operators: one kernel for each expression, layout and types.

mod more;
mod source;

use torch_library::prelude::*;
use torch_library::result_type;
use torch_library_gpu::{Expression, First, Layout, Over, SAME, Tensors, computed, index_of, on_meta};
use torch_library_kernels::aten;

use crate::call::{Cuda, kernels};
use crate::kernel::c_type;

kernels! {
    super::kernel: abs neg relu exp log sqrt rsqrt sin cos tanh sigmoid floor ceil trunc reciprocal silu logical_not
        add_Tensor sub_Tensor mul_Tensor div_Tensor maximum minimum
        eq_Tensor ne_Tensor lt_Tensor le_Tensor gt_Tensor ge_Tensor
        eq_Scalar ne_Scalar lt_Scalar le_Scalar gt_Scalar ge_Scalar
        logical_and logical_or where_self pow_Tensor_Scalar
        threshold_backward sigmoid_backward tanh_backward addcmul addcdiv leaky_relu lerp_Scalar
        leaky_relu_backward bitwise_and_Tensor bitwise_or_Tensor erf hardtanh hardtanh_backward hardswish hardswish_backward hardsigmoid
        hardsigmoid_backward silu_backward gelu gelu_backward clamp
        expm1 log1p log2 log10 exp2 tan asin acos atan sinh cosh asinh acosh atanh erfc frac round
        atan2 pow_Tensor_Tensor bitwise_xor_Tensor bitwise_not logical_xor softplus
        elu elu_backward mish mish_backward masked_fill_Scalar;
    super::in_place: add__Tensor sub__Tensor mul__Tensor div__Tensor relu_ exp_ log_ sqrt_ rsqrt_ neg_ abs_ sigmoid_ tanh_
        addcmul_ addcdiv_ lerp__Scalar clamp_ masked_fill__Scalar;
}

/// An input: elements on the device, or a number on the host.
pub(crate) enum Input<'a> {
    Here(&'a Tensor),
    Number(Scalar),
}

/// A call with an expression.
struct Known {
    expression: Expression,
    /// The type that operands are promoted to before the computation.
    promoted: DType,
    /// The scalar arguments of the call.
    scalars: Vec<Scalar>,
    /// The result on `meta`.
    meta: Tensor,
}

/// The computation for a call of an operator of `aten`; `None` if there is no kernel for it.
fn known(name: &str, operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Known>> {
    let Some(expression) = more::of_call(name, arguments).or_else(|| Expression::of_call(name, arguments))
    else {
        return Ok(None);
    };
    // Before anything else, so that arguments that do not fit together are refused as on the CPU.
    let meta = on_meta(operator, arguments)?;
    let inputs: Vec<&Tensor> = arguments.iter().filter_map(Value::as_tensor).collect();
    let scalars = arguments.iter().filter_map(number).collect();
    let promoted = promoted_type(&expression, &inputs, &meta)?;
    Ok(promoted.map(|promoted| Known { expression, promoted, scalars, meta }))
}

fn kernel(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    let full = operator.to_string();
    let name = full.strip_prefix("aten::").unwrap_or(&full);
    let Some(known) = known(name, operator, arguments)? else { return Ok(None) };
    let Some(inputs) = inputs_of(arguments)? else { return Ok(None) };
    compute(&known, &inputs, None)
}

/// An in-place operator, if its first argument does not partially overlap other arguments.
fn in_place(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<First>> {
    let full = operator.to_string();
    let name = full.strip_prefix("aten::").unwrap_or(&full);
    let name = match name.split_once('.') {
        Some((name, overload)) => format!("{}.{overload}", name.trim_end_matches('_')),
        None => name.trim_end_matches('_').to_owned(),
    };
    let Some(this) = arguments.first().and_then(Value::as_tensor) else { return Ok(None) };
    this.check_no_internal_overlap()?;
    for other in arguments[1..].iter().filter_map(Value::as_tensor).filter(|other| !this.is_same(other)) {
        this.check_no_partial_overlap(other)?;
    }
    let Some(known) = known(&name, operator, arguments)? else { return Ok(None) };
    let Some(inputs) = inputs_of(arguments)? else { return Ok(None) };
    if known.expression.is_predicate || known.meta.sizes() != this.sizes() {
        return Ok(None);
    }
    Ok(compute(&known, &inputs, Some(this))?.map(|_| First))
}

fn inputs_of<'a>(arguments: &'a [Value<'_>]) -> Result<Option<Vec<Input<'a>>>> {
    arguments.iter().filter_map(Value::as_tensor).map(input).collect()
}

/// A tensor as an input; `None` if kernels cannot read it.
fn input(tensor: &Tensor) -> Result<Option<Input<'_>>> {
    Ok(match Cuda::is_here(tensor) {
        true => Some(Input::Here(tensor)),
        false if tensor.device() == Device::CPU && tensor.dim() == 0 => Some(Input::Number(tensor.item()?)),
        false => None,
    })
}

/// An argument as a number, if it is one.
pub(crate) fn number(argument: &Value<'_>) -> Option<Scalar> {
    match argument {
        Value::Int(x) => Some(Scalar::Int(*x)),
        Value::Float(x) => Some(Scalar::Float(*x)),
        Value::Bool(x) => Some(Scalar::Bool(*x)),
        _ => None,
    }
}

/// The type that operands are promoted to; `None` if there is no kernel for it.
fn promoted_type(expression: &Expression, inputs: &[&Tensor], meta: &Tensor) -> Result<Option<DType>> {
    let mut operands =
        inputs.iter().skip(expression.conditions).map(|input| input.promotion_operand()).peekable();
    let promoted = match operands.peek() {
        Some(_) => result_type(operands)?,
        None => DType::Bool, // only conditions
    };
    // A comparison with a number from the host is computed in the type that both promote to.
    let promoted = match expression.promotes_scalar {
        Some(Scalar::Float(_)) if !promoted.is_floating_point() => DType::Float32,
        Some(Scalar::Int(_)) if promoted == DType::Bool => DType::Int64,
        _ => promoted,
    };
    let promoted = match meta.dtype() {
        result if result.is_floating_point() && !promoted.is_floating_point() => result,
        _ => promoted,
    };
    if c_type(promoted).is_none() || c_type(meta.dtype()).is_none() {
        return Ok(None);
    }
    let is_float = promoted.is_floating_point();
    let is_ours = match expression.over {
        Over::Floats => is_float,
        Over::Numbers => promoted != DType::Bool || expression.conditions > 0,
        Over::Whole => !is_float,
        Over::All => true,
    };
    Ok(is_ours.then_some(promoted))
}

/// Computes a new tensor, or writes to an existing one.
fn compute(known: &Known, inputs: &[Input<'_>], target: Option<&Tensor>) -> Result<Option<Tensor>> {
    let Known { expression, promoted, scalars, meta } = known;
    let here: Vec<&Tensor> = inputs
        .iter()
        .filter_map(|input| if let Input::Here(tensor) = input { Some(*tensor) } else { None })
        .collect();
    let Some(first) = here.first() else { return Ok(None) };
    if here.iter().any(|other| other.device() != first.device()) {
        return Ok(None);
    }
    let kind = computed(*promoted);
    let numbers = inputs
        .iter()
        .filter_map(|input| if let Input::Number(number) = input { Some(*number) } else { None })
        .chain(scalars.iter().copied());
    if numbers.into_iter().any(|number| !fits(number, kind)) {
        return Ok(None);
    }
    let (result, layout) = match target {
        Some(target) => (target.clone(), in_target(target, &here)),
        None => (Cuda::unwritten(meta, index_of(first))?, Layout::of(meta, &here)),
    };
    let Some(layout) = layout else { return Ok(None) };
    let of = source::Pointwise { expression, promoted: *promoted, inputs, scalars, layout: &layout };
    of.run(&result, target.is_some())?;
    Ok(Some(result))
}

/// The order in which the elements of a target with any strides are visited; the target becomes the first input.
pub(crate) fn in_target(target: &Tensor, inputs: &[&Tensor]) -> Option<Layout> {
    let mut order: Vec<usize> = (0..target.dim()).collect();
    order.sort_by_key(|dim| std::cmp::Reverse(target.strides()[*dim]));
    let all: Vec<&Tensor> = std::iter::once(target).chain(inputs.iter().copied()).collect();
    Layout::rows(target, &order, &[], &all).map(|(layout, _)| layout)
}

/// Whether a type can hold a number; other numbers are truncated or refused by the CPU's kernel.
pub(crate) fn fits(number: Scalar, dtype: DType) -> bool {
    match (number, dtype) {
        (Scalar::Complex(_), _) => false,
        (Scalar::Bool(_), _) => true,
        (_, dtype) if dtype.is_floating_point() => true,
        (Scalar::Int(_), DType::Int64) => true,
        (Scalar::Int(x), DType::Int32) => i32::try_from(x).is_ok(),
        (Scalar::Int(x), DType::Int16) => i16::try_from(x).is_ok(),
        (Scalar::Int(x), DType::Int8) => i8::try_from(x).is_ok(),
        (Scalar::Int(x), DType::UInt8) => u8::try_from(x).is_ok(),
        _ => false,
    }
}

/// Copies a tensor to another one, to which it broadcasts, of any types and strides.
pub(crate) fn write(target: &Tensor, from: &Tensor) -> Result<bool> {
    write_input(target, Input::Here(from))
}

/// Writes a number to all elements of a tensor.
pub(crate) fn write_number(target: &Tensor, number: Scalar) -> Result<bool> {
    write_input(target, Input::Number(number))
}

fn write_input(target: &Tensor, input: Input<'_>) -> Result<bool> {
    let here: &[&Tensor] = match &input {
        Input::Here(tensor) => &[*tensor],
        Input::Number(_) => &[],
    };
    let Some(layout) = in_target(target, here) else { return Ok(false) };
    let promoted = match &input {
        Input::Here(tensor) => tensor.dtype(),
        Input::Number(_) => target.dtype(),
    };
    let inputs = &[input];
    let of = source::Pointwise { expression: &SAME, promoted, inputs, scalars: &[], layout: &layout };
    of.run(target, true)?;
    Ok(true)
}
