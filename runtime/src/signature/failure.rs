//! The errors for a boxed call that does not fit its operator.

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
    let found = stack.last(usize::from(operator.spec().arity)).get(index).map_or("missing", Value::type_name);
    mistyped(operator, index, want[index], found)
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
