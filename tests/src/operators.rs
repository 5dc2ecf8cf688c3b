//! Calls operators of the kernels crate by name.

use serde_json::Value as Json;
use torch_library::{
    DispatchKey, Dispatcher, ErrorKind, OperatorHandle, Result, Scalar, Tensor, Value, ensure,
};
use torch_library_kernels as _; // the kernels that are called
use torch_library_quantized as _;
use torch_library_schema::Type;
use torch_library_vision as _;

use crate::report::{Check, Unmet};
use crate::values;

/// The operator of a name; if it is not declared, the row is skipped.
pub(crate) fn find(name: &str) -> Check<OperatorHandle> {
    Dispatcher::global().find(name).map_err(|_| Unmet::Skipped(format!("{name} is not declared")))
}

/// The arguments of a call: by position, and by name.
pub(crate) struct Arguments<'n> {
    pub(crate) positional: Vec<Value<'static>>,
    pub(crate) named: Vec<(&'n str, Value<'static>)>,
}

impl<'n> Arguments<'n> {
    /// Decodes the fields `args` and `kwargs` of a row.
    pub(crate) fn of(row: &'n Json) -> Result<Self> {
        Self::with_variables(row, &|_| None)
    }

    /// Like [`of`](Self::of), where an argument may also be `{"var": name}`.
    pub(crate) fn with_variables(row: &'n Json, variable: &dyn Fn(&str) -> Option<Tensor>) -> Result<Self> {
        let decode = |json: &Json| values::decode_with(json, variable);
        let positional = row["args"].as_array().into_iter().flatten().map(decode);
        let named = row["kwargs"].as_object().into_iter().flatten();
        let named = named.map(|(name, value)| Ok((name.as_str(), decode(value)?)));
        Ok(Arguments { positional: positional.collect::<Result<_>>()?, named: named.collect::<Result<_>>()? })
    }

    /// The tensors with their paths: `0`, `0.1` in a list, or a name.
    pub(crate) fn tensors(&self) -> Vec<(String, Tensor)> {
        let positional = self.positional.iter().enumerate().map(|(index, value)| (index.to_string(), value));
        let named = self.named.iter().map(|(name, value)| ((*name).to_owned(), value));
        let mut tensors = Vec::new();
        for (path, value) in positional.chain(named) {
            match value {
                Value::Tensors(list) => {
                    let elements = list.iter().enumerate();
                    tensors
                        .extend(elements.map(|(index, tensor)| (format!("{path}.{index}"), tensor.clone())));
                }
                Value::OptionalTensors(list) => {
                    let elements = list.iter().enumerate();
                    let some = elements.filter_map(|(index, tensor)| Some((index, tensor.clone()?)));
                    tensors.extend(some.map(|(index, tensor)| (format!("{path}.{index}"), tensor)));
                }
                value => tensors.extend(value.as_tensor().map(|tensor| (path, tensor.clone()))),
            }
        }
        tensors
    }

    /// Replaces each tensor.
    ///
    /// # Errors
    /// The function's errors.
    pub(crate) fn map_tensors(&mut self, other: &mut dyn FnMut(&Tensor) -> Result<Tensor>) -> Result<()> {
        let named = self.named.iter_mut().map(|(_, value)| value);
        for value in self.positional.iter_mut().chain(named) {
            match value {
                Value::Tensors(list) => {
                    *value = list.iter().map(&mut *other).collect::<Result<Vec<_>>>()?.into();
                }
                Value::OptionalTensors(list) => {
                    let list = list.iter().map(|tensor| tensor.as_ref().map(&mut *other).transpose());
                    *value = list.collect::<Result<Vec<_>>>()?.into();
                }
                value => {
                    if let Some(tensor) = value.as_tensor() {
                        *value = Value::Tensor(other(tensor)?);
                    }
                }
            }
        }
        Ok(())
    }

    /// Calls an operator; a number for a tensor stands for one where it does in Python. Several returns become one list,
    /// and so does a single return that is a list.
    pub(crate) fn call(self, operator: OperatorHandle) -> Result<Vec<Value<'static>>> {
        let schema = operator.schema()?;
        let takes_numbers = takes_numbers(&operator.to_string());
        let fit = |value: Value<'static>, index: Option<usize>| {
            let argument = index.and_then(|index| schema.arguments.get(index));
            match argument {
                Some(argument) if *argument.ty.without_optional() == Type::Tensor => {
                    wrapped(value, takes_numbers)
                }
                _ => Ok(value),
            }
        };
        let positional = self.positional.into_iter().enumerate();
        let positional: Vec<_> =
            positional.map(|(index, value)| fit(value, Some(index))).collect::<Result<_>>()?;
        let named = self.named.into_iter();
        let named: Vec<_> = named
            .map(|(name, value)| Ok((name, fit(value, schema.argument_index(name))?)))
            .collect::<Result<_>>()?;
        let returns: Vec<_> = operator.call_with(positional, named)?.into_iter().collect();
        Ok(match <[Value<'_>; 1]>::try_from(returns) {
            Ok([Value::Tensors(list)]) => list.iter().cloned().map(Value::Tensor).collect(),
            Ok(single) => single.into(),
            Err(returns) => returns,
        })
    }
}

/// Whether Python takes numbers for the tensors of an operator: it does for the arithmetic that `torch` has with both.
///
/// PyTorch: `should_allow_numbers_as_tensors`.
fn takes_numbers(operator: &str) -> bool {
    const NAMES: [&str; 11] = [
        "add",
        "div",
        "divide",
        "mul",
        "multiply",
        "sub",
        "subtract",
        "true_divide",
        "floor_divide",
        "copy",
        "_conj",
    ];
    let name = operator.trim_start_matches("aten::").split('.').next().unwrap_or(operator);
    let base = name.strip_suffix('_').unwrap_or(name);
    NAMES.contains(&base) || ["to", "_to_copy"].contains(&name)
}

/// # Errors
/// A number where Python takes none.
fn wrapped(value: Value<'static>, takes_numbers: bool) -> Result<Value<'static>> {
    let number: Scalar = match value {
        Value::Int(number) => number.into(),
        Value::Float(number) => number.into(),
        Value::Bool(number) => number.into(),
        Value::Complex(number) => number.into(),
        value => return Ok(value),
    };
    ensure!(takes_numbers, Type, "{number} is a number, expected a tensor");
    Ok(Value::Tensor(Tensor::wrapped_number(number)))
}

/// Skips a row about an operator that has no kernel yet, even if PyTorch returns an error. A call that cannot be dispatched,
/// such as one without tensors, counts as an error.
pub(crate) fn skip_missing<T>(operator: OperatorHandle, outcome: Result<T>) -> Check<Result<T>> {
    match outcome {
        Err(error) if error.kind() == ErrorKind::MissingKernel && !has_kernel(operator) => {
            Err(Unmet::Skipped(format!("{operator} has no kernel")))
        }
        outcome => Ok(outcome),
    }
}

fn has_kernel(operator: OperatorHandle) -> bool {
    let table = Dispatcher::global().table(&operator.to_string());
    table.is_ok_and(|table| table.has_kernel_for(DispatchKey::CPU))
}
