//! Calls of operators below this layer.

use super::from_functional;
use super::view::below;
use crate::error::Result;
use crate::operator::OperatorHandle;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

/// The arguments with plain tensors, as operators below this layer take them.
pub(super) fn values_of(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Vec<Value<'static>>> {
    let value = |argument: &Value<'_>| argument.map_tensors(from_functional).map(Value::into_owned);
    let mut values = arguments.iter().map(value).collect::<Result<Vec<_>>>()?;
    // The value of the first tensor may start elsewhere in its own memory.
    let tensor = |values: &[Value<'_>]| values.first()?.as_tensor().map(Tensor::storage_offset);
    if let (Some(seen), Some(has)) = (tensor(arguments), tensor(&values)) {
        let place = place(operator)?;
        shift(&mut values, place, has - seen);
    }
    Ok(values)
}

/// The position of the argument that says where a view starts in the memory of its base.
pub(super) fn place(operator: OperatorHandle) -> Result<Option<usize>> {
    Ok(operator.schema()?.argument_index("storage_offset"))
}

/// Moves the start of a view.
pub(super) fn shift(arguments: &mut [Value<'_>], place: Option<usize>, by: i64) {
    if let Some(Value::Int(offset)) = place.map(|place| &mut arguments[place]) {
        *offset = offset.saturating_add(by);
    }
}

/// Calls an operator below this layer.
pub(super) fn call<'v>(
    operator: OperatorHandle,
    arguments: impl IntoIterator<Item = Value<'v>>,
) -> Result<Vec<Value<'v>>> {
    let _below = below();
    let mut stack = Stack::from_iter(arguments);
    operator.call_boxed(&mut stack)?;
    Ok(stack.into_iter().collect())
}
