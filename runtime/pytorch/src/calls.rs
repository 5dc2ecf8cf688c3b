//! Operators that kernels call on stand-ins: the calls go to PyTorch's dispatcher.
#![expect(unsafe_code, reason = "calls operators of PyTorch with a stack of words")]

use std::ffi::CString;
use std::fmt::Write;

use torch_library::schema::{Schema, Type};
use torch_library::{
    DispatchKeySet, ErrorKind, OperatorHandle, Result, Stack, Tensor, Value, bail, ensure, torch_fallback,
};

use crate::derivative;
use crate::incoming::{Incoming, Sight, rewritten};
use crate::later::Later;
use crate::plan::{self, Passing, passing};
use crate::shim::{Word, shim};
use crate::text::json_string;
use crate::words;

/// Calls the operator of the same name in PyTorch.
#[torch_fallback(Python)]
fn pytorch(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let schema = operator.schema()?;
    let mut arguments = operator.take_arguments(stack)?;
    if let Some(results) = derivative::answer(operator) {
        for (index, value) in results.into_iter().enumerate() {
            stack.push(match schema.returned_argument(index) {
                Some(argument) => {
                    let argument = std::mem::replace(&mut arguments[argument], Value::None).into_owned();
                    if let (Some(before), Some(after)) = (argument.as_tensor(), value.as_tensor()) {
                        rewritten(before, after);
                    }
                    argument
                }
                None => value,
            });
        }
        return Ok(());
    }
    ensure!(
        !operator.tags().contains(&"inplace_view") && !operator.name().starts_with("resize_"),
        NotSupported,
        "{operator} would change the sizes of a tensor of PyTorch under a kernel that has looked at them"
    );
    let has_numbers = schema.arguments.iter().any(|argument| passing(&argument.ty) != Ok(Passing::Word));
    let host_takes_all = shim().torch_library_host_call_dispatcher.is_some();
    let returns = match (has_numbers || plan::check_call(schema).is_err()) && !host_takes_all {
        true => by_python(operator, schema, &arguments)?,
        false => by_words(operator, schema, &arguments)?,
    };
    for (index, value) in returns.into_iter().enumerate() {
        let returned = schema.returned_argument(index);
        stack.push(match returned {
            Some(argument) => std::mem::replace(&mut arguments[argument], Value::None).into_owned(),
            None => value,
        });
    }
    Ok(())
}

/// Calls an operator whose arguments and returns all pass through PyTorch's C functions.
fn by_words(
    operator: OperatorHandle,
    schema: &Schema,
    arguments: &[Value<'_>],
) -> Result<Vec<Value<'static>>> {
    let (name, overload) = names(operator);
    let mut incoming = Incoming::of_call();
    let mut stack: Vec<Word> = Vec::with_capacity(arguments.len().max(schema.returns.len()));
    for (argument, value) in schema.arguments.iter().zip(arguments) {
        match incoming.give(&argument.ty, value) {
            Ok(word) => stack.push(word),
            Err(error) => {
                for (argument, word) in schema.arguments.iter().zip(stack) {
                    // SAFETY: the word was made from an argument of this type, and nothing else owns it.
                    drop(unsafe { incoming.take(&argument.ty, word, Sight::StandIn) });
                }
                return Err(error.context(operator));
            }
        }
    }
    stack.resize(stack.len().max(schema.returns.len()), words::NONE);
    // SAFETY: the words are the operator's arguments by its schema in this library, which is PyTorch's schema too for
    // operators of `aten` and for exported ones; there is room for the returns.
    unsafe { words::call(&name, &overload, &mut stack)? };
    let returns = schema.returns.iter().zip(stack);
    // Take all of them before returning an error, so that none is leaked.
    // SAFETY: the words are now the operator's returns, and owned.
    let taken = returns.map(|(ret, word)| unsafe { incoming.take(&ret.ty, word, Sight::StandIn) });
    let taken: Vec<Result<Value<'static>>> = taken.collect();
    taken.into_iter().collect()
}

fn names(operator: OperatorHandle) -> (CString, CString) {
    let text = |text: String| CString::new(text).unwrap_or_default();
    (text(format!("{}::{}", operator.namespace(), operator.name())), text(operator.overload().to_owned()))
}

/// Calls an operator through the glue in Python: one with `Scalar` arguments, which PyTorch's C functions do not pass,
/// or with returns that they put in the wrong order.
fn by_python(
    operator: OperatorHandle,
    schema: &Schema,
    arguments: &[Value<'_>],
) -> Result<Vec<Value<'static>>> {
    static DEFINED: Later = Later::of_calls();
    DEFINED.ensure();
    let why = plan::check_call(schema).err().unwrap_or("PyTorch's C functions pass no number");
    let (text, tensors) = python_text(operator, schema, arguments)?;
    let incoming = Incoming::of_call();
    let strings =
        [format!("{}::{}", operator.namespace(), operator.name()), operator.overload().to_owned(), text];
    let mut stack = Vec::with_capacity(4);
    for string in strings {
        stack.push(incoming.give(&Type::Str, &Value::from(string))?);
    }
    let list = Type::List(Box::new(Type::Tensor));
    stack.push(incoming.give(&list, &Value::from(tensors))?);
    // SAFETY: these are the arguments of the operator that the glue defines: three strings and a list of tensors.
    let called = unsafe { words::call(c"torch_library::call", c"", &mut stack) };
    called.map_err(|error| match error.kind() {
        ErrorKind::Kernel if error.to_string().contains("Could not find schema") => error.context(format!(
            "{operator} is passed on by Python alone ({why}): load the library by its package, whose glue does"
        )),
        _ => error,
    })?;
    // SAFETY: its return is an owned list of tensors.
    let Value::Tensors(tensors) = (unsafe { Incoming::default().take(&list, stack[0], Sight::StandIn)? })
    else {
        bail!(Internal, "{operator} returned no list from Python")
    };
    let mut told = [words::NONE];
    // SAFETY: this operator of the glue takes no arguments, and there is room for its return.
    unsafe { words::call(c"torch_library::told", c"", &mut told) }?;
    // SAFETY: its return is an owned string.
    let Value::Str(told) = (unsafe { Incoming::default().take(&Type::Str, told[0], Sight::StandIn)? }) else {
        bail!(Internal, "{operator} told nothing of its returns")
    };
    let mut tensors = tensors.iter().cloned();
    let returns = told.lines().map(|line| returned(line, &mut tensors));
    let Some(returns) = returns.collect::<Option<Vec<_>>>().filter(|all| all.len() == schema.returns.len())
    else {
        bail!(
            NotSupported,
            "{operator} returns a value that Python does not pass on to a kernel or a formula"
        )
    };
    Ok(returns)
}

/// A return, from its line in the text of the glue: a letter for its type, then its value. Tensors are taken in order.
fn returned(line: &str, tensors: &mut impl Iterator<Item = Tensor>) -> Option<Value<'static>> {
    let (kind, rest) = line.split_at_checked(1)?;
    Some(match kind {
        "n" => Value::None,
        "t" => Value::Tensor(tensors.next()?),
        "l" => Value::from(tensors.take(rest.parse().ok()?).collect::<Vec<_>>()),
        "i" => Value::Int(rest.parse().ok()?),
        "f" => Value::Float(f64::from_bits(rest.parse::<i64>().ok()? as u64)),
        "b" => Value::Bool(rest == "1"),
        "s" => {
            let bytes =
                (0..rest.len()).step_by(2).map(|at| u8::from_str_radix(rest.get(at..at + 2)?, 16).ok());
            Value::from(String::from_utf8(bytes.collect::<Option<_>>()?).ok()?)
        }
        _ => return None,
    })
}

/// The arguments as Python source, and the tensors that it names `t[0]`, `t[1]`, ….
fn python_text(
    operator: OperatorHandle,
    schema: &Schema,
    arguments: &[Value<'_>],
) -> Result<(String, Vec<Tensor>)> {
    let (mut text, mut tensors) = (String::new(), Vec::new());
    for (argument, value) in schema.arguments.iter().zip(arguments) {
        if argument.kwarg_only {
            _ = write!(text, "{}=", argument.name);
        }
        let Some(value) = python_value(value, &mut tensors) else {
            bail!(NotSupported, "{operator}: a value of type {} is not passed to Python", value.type_name());
        };
        text += &value;
        text += ", ";
    }
    Ok((text, tensors))
}

fn python_value(value: &Value<'_>, tensors: &mut Vec<Tensor>) -> Option<String> {
    fn list<T>(values: &[T], text: impl FnMut(&T) -> String) -> String {
        format!("[{}]", values.iter().map(text).collect::<Vec<_>>().join(", "))
    }
    let mut named = |tensor: &Tensor| {
        if !tensor.is_defined() {
            return "None".to_owned();
        }
        tensors.push(tensor.clone());
        format!("t[{}]", tensors.len() - 1)
    };
    if let Some(tensor) = value.as_tensor() {
        return Some(named(tensor));
    }
    if let Some(scalar) = words::as_scalar(value) {
        return Some(words::scalar_text(scalar));
    }
    Some(match value {
        Value::None => "None".to_owned(),
        Value::Tensors(_) | Value::TensorsMut(_) => list(value.tensors(), named),
        Value::OptionalTensors(values) => list(values, |tensor| match tensor {
            Some(tensor) => named(tensor),
            None => "None".to_owned(),
        }),
        Value::Ints(values) => list(values, i64::to_string),
        Value::Floats(values) => list(values, |value| words::scalar_text((*value).into())),
        Value::Bools(values) => list(values, |value| words::scalar_text((*value).into())),
        Value::Scalars(values) => list(values, |value| words::scalar_text(*value)),
        Value::Str(text) => json_string(text),
        value => return words::enum_text(value),
    })
}

#[cfg(test)]
mod tests {
    use torch_library::Scalar;

    use super::*;

    #[test]
    fn arguments_are_python() {
        let (x, mut tensors) = (Tensor::from([1.0]), Vec::new());
        let mut text = |value: Value<'_>| python_value(&value, &mut tensors);
        assert_eq!(text(Value::from(&x)).as_deref(), Some("t[0]"));
        assert_eq!(text(vec![Some(x.clone()), None].into()).as_deref(), Some("[t[1], None]"));
        assert_eq!(text(vec![1i64, -2].into()).as_deref(), Some("[1, -2]"));
        assert_eq!(text(Scalar::Float(0.5).into()).as_deref(), Some("float.fromhex('0x1.0000000000000p-1')"));
        assert_eq!(text("it's".into()).as_deref(), Some("\"it's\""));
        assert_eq!(text(torch_library::DType::Float32.into()).as_deref(), Some("torch.float32"));
        assert_eq!(tensors.len(), 2);
    }

    #[test]
    fn returns_are_what_python_tells() {
        let mut tensors = [1.0, 2.0, 3.0].map(|value| Tensor::from([value])).into_iter();
        let mut of = |line| returned(line, &mut tensors);
        assert!(matches!(of("t"), Some(Value::Tensor(_))) && matches!(of("n"), Some(Value::None)));
        assert_eq!(of("l2").map(|value| value.tensors().len()), Some(2));
        assert!(matches!((of("i-7"), of("b1")), (Some(Value::Int(-7)), Some(Value::Bool(true)))));
        assert!(matches!(of("f4611686018427387904"), Some(Value::Float(2.0))));
        assert!(matches!(of("sc3a9"), Some(Value::Str(text)) if text == "é"));
        assert!(of("other").is_none() && of("").is_none() && of("sc").is_none() && of("t").is_none());
    }
}
