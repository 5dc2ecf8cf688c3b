//! Calls of operators that crates above this one declare, by name.

use super::Dispatcher;
use crate::error::Result;
use crate::operator::OperatorHandle;
use crate::tensor::Tensor;
use crate::value::Value;

/// The operator with this name; if there is none, the error says what it is needed for.
pub(crate) fn find_for(purpose: &'static str, name: &str) -> Result<OperatorHandle> {
    Dispatcher::global().find(name).map_err(|error| error.context(purpose))
}

/// Calls an operator that returns one tensor. Arguments that are left out have their defaults.
pub(crate) fn call_for<'v>(
    purpose: &'static str,
    name: &str,
    arguments: impl IntoIterator<Item = Value<'v>>,
) -> Result<Tensor> {
    find_for(purpose, name)?.call_with(arguments, [])?.pop_as()
}
