//! Constants of the export: arguments that are part of the program. Callers may pass them all the same, as in Python.

use torch_library::prelude::*;

use crate::signature::{Input, Kind};
use crate::wire::{Argument, ConstantValue, Float};

/// The value that an argument always has; `None` if it is an input, or something that no argument is.
pub(crate) fn of_argument(argument: &Argument) -> Option<Value<'static>> {
    Some(match argument {
        Argument::AsNone(_) => Value::None,
        Argument::AsInt(number) => Value::Int(*number),
        Argument::AsFloat(Float(number)) => Value::Float(*number),
        Argument::AsBool(yes) => Value::Bool(*yes),
        Argument::AsString(text) => Value::from(text.clone()),
        _ => return None,
    })
}

/// The value that an argument always has.
pub(crate) fn of(value: &ConstantValue) -> Value<'static> {
    match value {
        ConstantValue::AsNone(_) => Value::None,
        ConstantValue::AsInt(number) => Value::Int(*number),
        ConstantValue::AsFloat(Float(number)) => Value::Float(*number),
        ConstantValue::AsBool(yes) => Value::Bool(*yes),
        ConstantValue::AsString(text) => Value::from(text.clone()),
    }
}

/// A constant as Python prints it.
pub(crate) fn shown(value: &Value<'_>) -> String {
    match value {
        Value::None => "None".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Bool(yes) => if *yes { "True" } else { "False" }.to_owned(),
        Value::Str(text) => format!("{text:?}"),
        value => value.type_name().to_owned(),
    }
}

/// Whether both are the same constant: of the same type, as PyTorch demands, and equal. All NaN are.
fn is_same(one: &Value<'_>, other: &Value<'_>) -> bool {
    match (one, other) {
        (Value::None, Value::None) => true,
        (Value::Int(one), Value::Int(other)) => one == other,
        (Value::Float(one), Value::Float(other)) => one == other || (one.is_nan() && other.is_nan()),
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Str(one), Value::Str(other)) => one == other,
        _ => false,
    }
}

/// All arguments of a program, inputs and constants, in the order in which Python flattens them.
#[derive(Debug, Default)]
pub(crate) struct Leaves {
    pub(crate) arguments: Vec<Input>,
    /// The value of each argument that is a constant.
    values: Vec<Option<Value<'static>>>,
}

impl Leaves {
    /// Adds an input.
    pub(crate) fn push(&mut self, input: Input) {
        self.arguments.push(input);
        self.values.push(None);
    }

    /// Adds a constant.
    pub(crate) fn push_constant(&mut self, name: &str, path: Option<String>, value: Value<'static>) {
        let path = path.unwrap_or_else(|| name.to_owned());
        self.arguments.push(Input { name: name.to_owned(), path, kind: Kind::Constant(shown(&value)) });
        self.values.push(Some(value));
    }

    /// The constant with this name or path.
    pub(crate) fn constant(&self, name: &str) -> Option<&Value<'static>> {
        let place = self.arguments.iter().position(|leaf| leaf.name == name || leaf.path == name)?;
        self.values[place].as_ref()
    }

    /// The inputs among the values of a call, which may be those of all arguments.
    ///
    /// # Errors
    /// All arguments are passed, and the value of a constant is another one.
    pub(crate) fn inputs(&self, values: Vec<Value<'static>>) -> Result<Vec<Value<'static>>> {
        if values.len() != self.arguments.len() || self.values.iter().all(Option::is_none) {
            return Ok(values);
        }
        let mut inputs = Vec::with_capacity(values.len());
        for ((value, constant), argument) in values.into_iter().zip(&self.values).zip(&self.arguments) {
            match constant {
                None => inputs.push(value),
                Some(constant) => ensure!(
                    is_same(constant, &value),
                    Argument,
                    "argument `{}` is {} in this program, got {}",
                    argument.path,
                    argument.kind,
                    shown(&value)
                ),
            }
        }
        Ok(inputs)
    }
}
