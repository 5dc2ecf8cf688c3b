//! Element-wise operators: one shader for each expression and layout.

mod shader;

use torch_library::prelude::*;
use torch_library::result_type;
use torch_library_gpu::{Expression, First, Layout, Over, SAME, Tensors, index_of, on_meta, run};
use torch_library_kernels::aten;

use crate::call::{Wgpu, is_here, is_native, is_small, kernels};
use crate::launch::{Launch, Parameters, THREADS};
use crate::memory::Memory;
pub(crate) use shader::{Call, Operand, folded, source};

kernels! {
    super::kernel: abs neg relu exp log sqrt rsqrt sin cos tanh sigmoid floor ceil trunc reciprocal silu logical_not
        add_Tensor sub_Tensor mul_Tensor div_Tensor maximum minimum
        eq_Tensor ne_Tensor lt_Tensor le_Tensor gt_Tensor ge_Tensor
        eq_Scalar ne_Scalar lt_Scalar le_Scalar gt_Scalar ge_Scalar
        logical_and logical_or where_self pow_Tensor_Scalar
        threshold_backward sigmoid_backward tanh_backward addcmul addcdiv leaky_relu lerp_Scalar
        leaky_relu_backward bitwise_and_Tensor bitwise_or_Tensor erf hardtanh hardtanh_backward hardswish hardswish_backward hardsigmoid
        hardsigmoid_backward silu_backward elu_backward gelu gelu_backward clamp;
}

/// In-place operators: the result is computed and then copied, and overlap is refused as on the CPU.
#[torch_impl(aten, PrivateUse2, boxed)]
mod in_place {
    use super::*;

    fn add__Tensor(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        apart(operator, stack)
    }

    fn sub__Tensor(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        apart(operator, stack)
    }

    fn mul__Tensor(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        apart(operator, stack)
    }

    fn div__Tensor(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
        apart(operator, stack)
    }

    fn masked_fill__Scalar(
        operator: OperatorHandle,
        keys: DispatchKeySet,
        stack: &mut Stack<'_>,
    ) -> Result<()> {
        run::<Wgpu, _>(masked_fill, operator, keys, stack)
    }
}

fn masked_fill(_: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<First>> {
    let [Some(this), Some(mask)] = [0, 1].map(|at| arguments[at].as_tensor()) else { return Ok(None) };
    let Some(number) = number(&arguments[2]) else { return Ok(None) };
    let is_ours =
        is_here(this) && is_here(mask) && this.dtype() == DType::Float32 && mask.dtype() == DType::Bool;
    if !is_ours || this.has_internal_overlap() || this.shares_storage_with(mask) {
        return Ok(None);
    }
    let number = Tensor::full(&[], number, this.dtype(), Device::CPU)?;
    let result = aten::where_self(mask, &number, this)?;
    if result.sizes() != this.sizes() {
        return Ok(None); // the CPU's kernel reports the error
    }
    aten::copy_(&mut this.clone(), &result)?;
    Ok(Some(First))
}

fn apart(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    if let [this, other, ..] = operator.arguments(stack)?
        && let (Some(this), Some(other)) = (this.as_tensor(), other.as_tensor())
    {
        this.check_no_internal_overlap()?;
        if !this.is_same(other) {
            this.check_no_partial_overlap(other)?;
        }
    }
    operator.call_boxed_for_key(DispatchKey::CompositeExplicitAutograd, stack)
}

/// An input: elements on the device, or a number on the host.
pub(crate) enum Input<'a> {
    Here(&'a Tensor),
    Number(Scalar),
}

/// A call with an expression.
pub(crate) struct Known {
    pub(crate) expression: Expression,
    /// The type in which the expression is computed.
    pub(crate) computed: DType,
    /// The scalar arguments of the call.
    pub(crate) scalars: Vec<Scalar>,
    /// The result on `meta`.
    pub(crate) meta: Tensor,
}

/// The computation for these arguments, whose tensors may be on `meta`; `None` if there is no kernel for it.
pub(crate) fn known(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Known>> {
    let Some(expression) = Expression::of(operator, arguments) else { return Ok(None) };
    // Before anything else, so that arguments that do not fit together are refused as on the CPU.
    let meta = on_meta(operator, arguments)?;
    let inputs: Vec<&Tensor> = arguments.iter().filter_map(Value::as_tensor).collect();
    let scalars = arguments.iter().filter_map(number).collect();
    let computed = computed_type(&expression, &inputs, &meta)?;
    Ok(computed.map(|computed| Known { expression, computed, scalars, meta }))
}

fn kernel(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    let Some(known) = known(operator, arguments)? else { return Ok(None) };
    let inputs = arguments.iter().filter_map(Value::as_tensor).map(input);
    let Some(inputs) = inputs.collect::<Result<Option<Vec<_>>>>()? else { return Ok(None) };
    compute(&known, &inputs)
}

/// An argument as a number, if it is one.
fn number(argument: &Value<'_>) -> Option<Scalar> {
    match argument {
        Value::Int(x) => Some(Scalar::Int(*x)),
        Value::Float(x) => Some(Scalar::Float(*x)),
        Value::Bool(x) => Some(Scalar::Bool(*x)),
        _ => None,
    }
}

/// The type in which the expression is computed; `None` if there is no kernel for it.
fn computed_type(expression: &Expression, inputs: &[&Tensor], meta: &Tensor) -> Result<Option<DType>> {
    if !is_known(meta.dtype()) || !is_small(meta) {
        return Ok(None);
    }
    let mut operands =
        inputs.iter().skip(expression.conditions).map(|input| input.promotion_operand()).peekable();
    let promoted = match operands.peek() {
        Some(_) => result_type(operands)?,
        None => DType::Bool, // only conditions
    };
    // A comparison with a number from the host is computed in the type that both promote to.
    let promoted = match expression.promotes_scalar {
        Some(Scalar::Float(_)) if !promoted.is_floating_point() => DType::Float32,
        Some(Scalar::Int(_)) if promoted == DType::Bool => return Ok(None),
        _ => promoted,
    };
    let computed = match meta.dtype() {
        _ if is_half(promoted) => DType::Float32,
        DType::Float32 => DType::Float32,
        _ => promoted,
    };
    // If operands are rounded before the computation, the result would be rounded twice.
    let is_mixed =
        |input: &&Tensor| input.dtype() != promoted && (input.dim() > 0 || input.device() != Device::CPU);
    if is_half(promoted) && inputs.iter().skip(expression.conditions).any(is_mixed) {
        return Ok(None);
    }
    let is_ours = match expression.over {
        _ if computed == DType::Int64 => expression.wide.is_some(),
        Over::Floats => computed == DType::Float32,
        Over::Numbers => matches!(computed, DType::Float32 | DType::Int32 | DType::UInt8),
        Over::Whole => matches!(computed, DType::Int32 | DType::UInt8 | DType::Bool),
        Over::All => is_native(computed) || computed == DType::UInt8,
    };
    Ok(is_ours.then_some(computed))
}

/// Whether shaders can read and write elements of a type.
fn is_known(dtype: DType) -> bool {
    is_native(dtype) || matches!(dtype, DType::Int64 | DType::UInt8) || is_half(dtype)
}

/// Whether a type is computed in float32, and rounded once.
pub(crate) fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::Float16 | DType::BFloat16)
}

/// A contiguous copy of a tensor, converted to another type; not from floats to integers, for which processors differ.
pub(crate) fn of_type(tensor: &Tensor, dtype: DType) -> Result<Option<Tensor>> {
    let is_wider = matches!(
        (tensor.dtype(), dtype),
        (DType::Bool | DType::UInt8, DType::Int32 | DType::Int64 | DType::Float32)
            | (DType::Bool, DType::UInt8)
            | (DType::Int32, DType::Int64 | DType::Float32)
            | (DType::Int64, DType::Int32 | DType::Float32)
            | (DType::UInt8 | DType::Int32 | DType::Int64 | DType::Float32, DType::Bool)
            | (DType::Float16 | DType::BFloat16, DType::Float32 | DType::Bool)
            | (DType::Bool | DType::UInt8 | DType::Float32, DType::Float16 | DType::BFloat16)
            | (DType::Float16, DType::BFloat16)
            | (DType::BFloat16, DType::Float16)
    );
    match is_wider {
        true => as_type(tensor, Tensor::empty(tensor.sizes(), dtype, Device::META)?),
        false => Ok(None),
    }
}

/// A float32 result, rounded to the 16-bit type that the operator's result has; other results stay as they are.
pub(crate) fn narrowed(wide: Tensor, meta: Tensor) -> Result<Option<Tensor>> {
    match is_half(meta.dtype()) && wide.dtype() == DType::Float32 && wide.sizes() == meta.sizes() {
        true => as_type(&wide, meta),
        false => Ok((wide.dtype() == meta.dtype()).then_some(wide)),
    }
}

/// A tensor, converted to the type and strides of `meta`.
fn as_type(tensor: &Tensor, meta: Tensor) -> Result<Option<Tensor>> {
    let Some(Input::Here(tensor)) = input(tensor)? else { return Ok(None) };
    let dtype = meta.dtype();
    let computed = if is_half(dtype) { DType::Float32 } else { dtype };
    let known = Known { expression: SAME, computed, scalars: Vec::new(), meta };
    compute(&known, &[Input::Here(tensor)])
}

/// A tensor as an input; `None` if shaders cannot read it.
pub(crate) fn input(tensor: &Tensor) -> Result<Option<Input<'_>>> {
    Ok(match is_here(tensor) {
        true => (is_known(tensor.dtype()) && is_small(tensor)).then_some(Input::Here(tensor)),
        false if tensor.dim() == 0 => Some(Input::Number(tensor.item()?)),
        false => None,
    })
}

fn compute(known: &Known, inputs: &[Input<'_>]) -> Result<Option<Tensor>> {
    let Known { expression, computed, scalars, meta } = known;
    let here: Vec<&Tensor> = inputs
        .iter()
        .filter_map(|input| if let Input::Here(tensor) = input { Some(*tensor) } else { None })
        .collect();
    let Some(first) = here.first() else { return Ok(None) };
    let Some(layout) = Layout::of(meta, &here) else { return Ok(None) };
    let result = Wgpu::unwritten(meta, index_of(first))?;
    let mut params = words(&layout);
    let mut operands = Vec::new();
    let mut buffer = 0;
    for input in inputs {
        operands.push(match input {
            Input::Here(tensor) => {
                buffer += 1;
                Operand::Buffer { number: buffer - 1, dtype: tensor.dtype() }
            }
            Input::Number(number) => {
                let Some(words) = words_of(*number, *computed) else { return Ok(None) };
                params.extend(&words);
                Operand::Param(params.len() - words.len())
            }
        });
    }
    let mut places = Vec::new();
    for scalar in scalars {
        let Some(words) = words_of(*scalar, *computed) else { return Ok(None) };
        places.push(params.len());
        params.extend(words);
    }
    let call = Call { expression, computed: *computed, result: meta.dtype(), operands, scalars: places };
    let source = shader::source(&[call], &[0], &layout);
    launch(&source, &params, &here, &[&result], groups(&[&result]))?;
    Ok(Some(result))
}

/// The parameters of a layout, which the caller has checked to fit into words.
pub(crate) fn words(layout: &Layout) -> Vec<u32> {
    layout.params().into_iter().map(|number| number as u32).collect()
}

/// The number of workgroups for the elements of results with the same layout.
pub(crate) fn groups(results: &[&Tensor]) -> u64 {
    let numel = results.first().map_or(0, |result| result.numel() as u64);
    let per_thread = shader::per_thread(results.iter().map(|result| result.dtype()));
    numel.div_ceil(per_thread).div_ceil(u64::from(THREADS))
}

/// Launches a shader that reads and writes tensors.
pub(crate) fn launch(
    source: &str,
    params: &[u32],
    here: &[&Tensor],
    results: &[&Tensor],
    groups: u64,
) -> Result<()> {
    let storages = |tensors: &[&Tensor]| tensors.iter().map(|x| x.storage().clone()).collect::<Vec<_>>();
    let (read, written) = (storages(here), storages(results));
    let inputs = read.iter().map(Memory::of).collect::<Result<Vec<_>>>()?;
    let results = written.iter().map(Memory::of).collect::<Result<Vec<_>>>()?;
    Launch {
        label: "pointwise",
        source,
        params,
        params_are: Parameters::Numbered,
        inputs: &inputs,
        results: &results,
        groups,
    }
    .run()
}

/// The words of a number as an element of a type; `None` if the type cannot hold it.
pub(crate) fn words_of(number: Scalar, dtype: DType) -> Option<Vec<u32>> {
    let wide = |bits: u64| vec![bits as u32, (bits >> 32) as u32];
    match (number, dtype) {
        (Scalar::Complex(_), _) => None,
        (number, DType::Float32) => Some(vec![number.cast::<f32>().to_bits()]),
        (number, DType::Float64) => Some(wide(number.cast::<f64>().to_bits())),
        (Scalar::Int(x), DType::Int32) => i32::try_from(x).ok().map(|x| vec![x.cast_unsigned()]),
        (Scalar::Int(x), DType::Int64) => Some(wide(x.cast_unsigned())),
        (Scalar::Bool(x), DType::Int64) => Some(wide(u64::from(x))),
        (Scalar::Int(x), DType::UInt8) => u8::try_from(x).ok().map(|x| vec![u32::from(x)]),
        (Scalar::Bool(x), DType::Int32 | DType::UInt8 | DType::Bool) => Some(vec![u32::from(x)]),
        _ => None, // truncated or refused by the CPU's kernel
    }
}
