//! Batching rules for element-wise operators: the batch dimension comes first, and the other dimensions broadcast.

use torch_library::prelude::*;
use torch_library::result_type;
use torch_library::vmap::Level;

use super::boxed::{aligned, call, expanded, is_batched, rules, shared_write, wrapped};
use crate::aten;

/// The rule for every operator that computes each element of its result from the corresponding elements of its
/// operands.
pub(super) fn broadcasting(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let level = Level::current()?;
    let mut arguments = operator.take_arguments(stack)?;
    let tensors: Vec<&Tensor> = arguments.iter().filter_map(Value::as_tensor).collect();
    let writes = operator.schema()?.arguments.first().is_some_and(|argument| argument.is_mutable());
    if let [only] = tensors[..] {
        // There is no other operand to align with, so the batch dimension may stay where it is.
        let (value, dim) = level.unwrap(only);
        let returns = call(operator, with_tensors(&arguments, [value]))?;
        if !writes {
            return wrapped(level, stack, owned(returns), dim.unwrap_or(0));
        }
    } else {
        let rank = tensors.iter().map(|tensor| tensor.dim()).max().unwrap_or(0);
        if writes {
            check_write(level, operator, &arguments[0], tensors[0], rank)?;
        }
        let values = values(level, operator, &tensors, rank, writes)?;
        let returns = call(operator, with_tensors(&arguments, values))?;
        if !writes {
            return wrapped(level, stack, owned(returns), 0);
        }
    }
    stack.push(arguments.swap_remove(0));
    Ok(())
}

/// # Errors
/// The tensor that is written has no place for the values of each example, or for all dimensions of the operands.
fn check_write(
    level: Level,
    operator: OperatorHandle,
    argument: &Value<'_>,
    written: &Tensor,
    rank: usize,
) -> Result<()> {
    if !is_batched(level, argument) {
        return Err(shared_write(operator));
    }
    ensure!(
        written.dim() >= rank,
        Shape,
        "{operator}: a result of {rank} dimensions cannot be written to an example of sizes {:?}",
        written.sizes()
    );
    Ok(())
}

fn owned(returns: Vec<Value<'_>>) -> Vec<Value<'static>> {
    returns.into_iter().map(Value::into_owned).collect()
}

/// The arguments with their tensors replaced by others.
fn with_tensors<'s>(arguments: &'s [Value<'_>], tensors: impl IntoIterator<Item = Tensor>) -> Vec<Value<'s>> {
    let mut tensors = tensors.into_iter();
    let replaced = arguments.iter().map(|argument| match argument.as_tensor() {
        Some(_) => tensors.next().map_or(Value::None, Value::Tensor),
        None => argument.borrowed(),
    });
    replaced.collect()
}

/// The operands with the batch in front.
fn values(
    level: Level,
    operator: OperatorHandle,
    tensors: &[&Tensor],
    rank: usize,
    writes: bool,
) -> Result<Vec<Tensor>> {
    // `where` and `clamp` are promoted as in PyTorch: by the dtypes that the operator below is given.
    let is_binary = !matches!(operator.name(), "where" | "clamp");
    let has_others = rank > 0 || is_binary && tensors.iter().any(|tensor| !level.has(tensor));
    let is_number = |tensor: &Tensor| level.has(tensor) && tensor.dim() == 0 && has_others;
    // A scalar tensor for each example has lower priority in type promotion than the vector of them would have.
    let conditions = usize::from(matches!(operator.name(), "where" | "masked_fill"));
    let operands = tensors.iter().skip(conditions);
    let common = match operands.clone().any(|tensor| is_number(tensor)) && !writes {
        true => Some(result_type(operands.map(|tensor| tensor.promotion_operand()))?),
        false => None,
    };
    let values = tensors.iter().enumerate().map(|(index, tensor)| {
        let value = aligned(level, tensor, rank)?;
        match common {
            Some(dtype) if index >= conditions && is_number(tensor) => aten::to_dtype(&value, dtype),
            _ => Ok(value),
        }
    });
    values.collect()
}

/// `fill` and `masked_fill`: if the value differs between examples, it is no longer a single number, so `where` selects
/// it.
fn filling(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let level = Level::current()?;
    let is_own = |value: &Tensor| level.has(value) && value.dim() == 0;
    if !operator.arguments(stack)?.last().and_then(Value::as_tensor).is_some_and(is_own) {
        return broadcasting(operator, stack);
    }
    let mut arguments = operator.take_arguments(stack)?;
    let tensors: Vec<&Tensor> = arguments.iter().filter_map(Value::as_tensor).collect();
    let rank = tensors.iter().map(|tensor| tensor.dim()).max().unwrap_or(0);
    let values = tensors.iter().map(|tensor| aligned(level, tensor, rank)).collect::<Result<Vec<_>>>()?;
    let [this, mask @ .., number] = &values[..] else {
        bail!(Internal, "{operator} has a tensor and a number")
    };
    let number = aten::to_dtype(number, this.dtype())?;
    let filled = mask.iter().try_fold(number, |number, mask| aten::where_self(mask, &number, this))?;
    if !operator.schema()?.arguments[0].is_mutable() {
        return wrapped(level, stack, vec![filled.into()], 0);
    }
    check_write(level, operator, &arguments[0], tensors[0], rank)?;
    aten::copy_(&mut this.clone(), &filled)?;
    stack.push(arguments.swap_remove(0));
    Ok(())
}

// Operators tagged `pointwise` need not be listed: the fallback handles them.
rules! {
    tensors: broadcasting =>
        rsub_Tensor rsub_Scalar floor_divide where_ScalarSelf where_ScalarOther copy_;
    filled: filling => fill__Tensor masked_fill_Tensor masked_fill__Tensor;
    one_tensor: broadcasting =>
        alias detach fill_Scalar fill__Scalar zero zero_ floor_divide_Scalar isnan isinf _conj _conj_physical
        _neg_view view_as_real;
}

/// Operators whose first operand alone determines the sizes of the result.
#[torch_impl(aten, FuncTorchBatched)]
mod like_first {
    use super::*;

    fn copy(this: &Tensor, src: &Tensor, non_blocking: bool) -> Result<Tensor> {
        let level = Level::current()?;
        let (this, src) = (expanded(level, this)?, aligned(level, src, this.dim())?);
        level.wrap(aten::copy::call(&this, &src, non_blocking)?, 0)
    }

    fn fill_Tensor(this: &Tensor, value: &Tensor) -> Result<Tensor> {
        let level = Level::current()?;
        ensure!(
            value.dim() == 0,
            Shape,
            "{}: a value of sizes {:?}, expected one number",
            aten::fill_Tensor::NAME,
            value.sizes()
        );
        let (this, value) = (expanded(level, this)?, aligned(level, value, this.dim())?);
        level.wrap(aten::copy(&this, &value)?, 0)
    }
}
