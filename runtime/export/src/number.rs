//! Conversions between numbers of a program and the dispatcher's values.

use torch_library::prelude::*;
pub(crate) use torch_library_pt2::number::{Function, Number};

/// The number of a value, if it is one.
pub(crate) fn of(value: &Value<'_>) -> Option<Number> {
    match value {
        Value::Int(number) => Some(Number::Int(*number)),
        Value::Float(number) => Some(Number::Float(*number)),
        Value::Bool(number) => Some(Number::Bool(*number)),
        _ => None,
    }
}

/// The value of a number.
pub(crate) fn value(number: Number) -> Value<'static> {
    match number {
        Number::Int(number) => Value::Int(number),
        Number::Float(number) => Value::Float(number),
        Number::Bool(number) => Value::Bool(number),
    }
}
