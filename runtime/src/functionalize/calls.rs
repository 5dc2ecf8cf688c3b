//! Calls of operators below this layer.

use super::from_functional;
use super::view::below;
use crate::error::Result;
use crate::operator::OperatorHandle;
use crate::value::{Stack, Value};

/// The arguments with plain tensors, as operators below this layer take them.
pub(super) fn values_of(arguments: &[Value<'_>]) -> Result<Vec<Value<'static>>> {
    let value = |argument: &Value<'_>| argument.map_tensors(from_functional).map(Value::into_owned);
    arguments.iter().map(value).collect()
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
