//! The errors for a boxed call that does not fit its operator.

use torch_library_schema::{Argument, Type};

use crate::error::{Error, ErrorKind};
use crate::operator::Operator;
use crate::value::{Stack, Value};

/// An argument has a type other than the schema's, which are `want`.
#[cold]
pub(super) fn wrong_type(
    operator: &'static Operator,
    index: usize,
    want: &[&str],
    stack: &Stack<'_>,
) -> Error {
    let value = stack.last(usize::from(operator.spec().arity)).get(index);
    let error = mistyped(operator, index, want[index], value.map_or("missing", Value::type_name));
    let argument = operator.schema().ok().and_then(|schema| schema.arguments.get(index));
    match (value, argument) {
        (Some(value), Some(argument)) if is_convertible(value, argument) => {
            Error::new(error.kind(), format!("{error}\n  help: `call_with` converts it"))
        }
        _ => error,
    }
}

/// Whether a call by [`OperatorHandle::call_with`](crate::OperatorHandle::call_with) takes this number for a tensor.
fn is_convertible(value: &Value<'_>, argument: &Argument) -> bool {
    let is_number = matches!(value, Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Complex(_));
    is_number && *argument.ty.without_optional() == Type::Tensor && !argument.is_mutable()
}

/// Like [`wrong_type`], for callers that have looked at the stack already.
#[cold]
pub(crate) fn mistyped(operator: &'static Operator, index: usize, want: &str, found: &str) -> Error {
    let argument = operator.argument(index);
    let message = format!("{argument} of {operator} must be {want}, but is {found}");
    Error::new(ErrorKind::Type, format!("{message}\n  schema: {}", operator.spec().schema))
}

/// A boxed kernel left more or fewer values than the schema has returns.
#[cold]
pub(super) fn wrong_return_count(operator: &'static Operator, found: usize) -> Error {
    let spec = operator.spec();
    let message =
        format!("a boxed kernel of {operator} left {found} on the stack instead of {} returns", spec.returns);
    Error::new(ErrorKind::Type, format!("{message}\n  schema: {}", spec.schema))
}

/// A boxed kernel left a value with a type other than the schema's.
#[cold]
pub(super) fn wrong_return(operator: &'static Operator, want: &str, found: &str) -> Error {
    let spec = operator.spec();
    let message = format!("a boxed kernel of {operator} must return {want}, but returned {found}");
    Error::new(ErrorKind::Type, format!("{message}\n  schema: {}", spec.schema))
}
