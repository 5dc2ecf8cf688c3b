//! Numbers and constants that the command line or a file gives.

use torch_library::prelude::*;
use torch_library_kernels::aten;

/// The zero-dimensional tensor of a number as Python writes it.
pub(crate) fn number(text: &str) -> Option<Tensor> {
    match parsed(text)? {
        Value::Int(number) => Some(Tensor::from(number)),
        Value::Float(number) => Some(Tensor::from(number)),
        Value::Bool(yes) => Some(Tensor::from(yes)),
        _ => None,
    }
}

/// A number as a tensor of the type that a program takes.
///
/// # Errors
/// It is not a number of this type.
pub(crate) fn converted(number: &Tensor, dtype: DType) -> Result<Tensor> {
    let tensor = aten::to_dtype(number, dtype)?;
    let is_same =
        dtype.is_differentiable() || aten::equal(&aten::to_dtype(&tensor, number.dtype())?, number)?;
    ensure!(is_same, DType, "{} is not a number of {dtype}", number.item()?);
    Ok(tensor)
}

/// A value other than a text, as Python writes it.
fn parsed(text: &str) -> Option<Value<'static>> {
    Some(match text {
        "None" => Value::None,
        "True" => Value::Bool(true),
        "False" => Value::Bool(false),
        _ => match text.parse::<i64>() {
            Ok(number) => Value::Int(number),
            Err(_) => Value::Float(text.parse().ok()?),
        },
    })
}

/// Checks that a text is the constant of a program. A text constant has quotes or none.
///
/// # Errors
/// It is another one.
pub(crate) fn check_text(name: &str, constant: &Value<'_>, text: &str) -> Result<()> {
    let is_same = match (constant, parsed(text)) {
        (Value::Str(constant), _) => {
            let quoted = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
            *constant == text || quoted('"').or_else(|| quoted('\'')).is_some_and(|text| *constant == text)
        }
        (constant, Some(value)) => is_same(constant, &value),
        (_, None) => false,
    };
    if is_same { Ok(()) } else { Err(other(name, constant, text)) }
}

/// Checks that a zero-dimensional tensor is the constant of a program, in the tensor's precision.
///
/// # Errors
/// It is another one, or no number.
pub(crate) fn check(name: &str, constant: &Value<'_>, tensor: &Tensor) -> Result<()> {
    let value = match (tensor.dim(), tensor.dtype()) {
        (0, dtype) if !dtype.is_complex() => Value::from(tensor.item()?),
        _ => return Err(other(name, constant, &format!("{}{:?}", tensor.dtype(), tensor.sizes()))),
    };
    let is_same = match (constant, &value) {
        (Value::Float(constant), Value::Float(value)) if tensor.dtype() == DType::Float32 => {
            is_same(&Value::Float(f64::from(*constant as f32)), &Value::Float(*value))
        }
        _ => is_same(constant, &value),
    };
    if is_same { Ok(()) } else { Err(other(name, constant, &tensor.to_string())) }
}

fn is_same(one: &Value<'_>, other: &Value<'_>) -> bool {
    match (one, other) {
        (Value::None, Value::None) => true,
        (Value::Int(one), Value::Int(other)) => one == other,
        (Value::Float(one), Value::Float(other)) => one == other || (one.is_nan() && other.is_nan()),
        (Value::Float(one), Value::Int(other)) => *one == *other as f64,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        _ => false,
    }
}

fn other(name: &str, constant: &Value<'_>, given: &str) -> Error {
    let constant = match constant {
        Value::Int(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Bool(yes) => if *yes { "True" } else { "False" }.to_owned(),
        Value::Str(text) => format!("{text:?}"),
        _ => "None".to_owned(),
    };
    let message = format!("argument {name:?} is always {constant} in this program, got {given}");
    Error::new(ErrorKind::Argument, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_what_it_was_or_refused() {
        let text = |constant: Value<'static>, text| check_text("n", &constant, text).is_ok();
        assert!(text(Value::Int(3), "3") && !text(Value::Int(3), "4") && !text(Value::Int(3), "3.0"));
        assert!(
            text(Value::Float(2.0), "2") && text(Value::Float(2.0), "2.0") && !text(Value::Float(2.0), "x")
        );
        assert!(text(Value::Bool(true), "True") && !text(Value::Bool(true), "1"));
        assert!(text(Value::None, "None") && !text(Value::None, "0"));
        for given in ["mean", "'mean'", "\"mean\""] {
            assert!(text(Value::from("mean"), given), "{given}");
        }
        assert!(!text(Value::from("mean"), "sum") && text(Value::from("3"), "3"));
        let refused = check_text("n", &Value::Int(3), "4").unwrap_err().to_string();
        assert_eq!(refused, "argument \"n\" is always 3 in this program, got 4");
    }

    #[test]
    fn a_number_has_the_type_that_a_program_takes() {
        let number = |text, dtype| converted(&number(text).unwrap(), dtype).map(|tensor| tensor.to_string());
        assert_eq!(number("3", DType::Int64).unwrap(), "tensor(3)");
        assert_eq!(number("0.1", DType::Float32).unwrap(), "tensor(0.1000)");
        assert_eq!(number("True", DType::Bool).unwrap(), "tensor(True)");
        assert_eq!(number("3.5", DType::Int64).unwrap_err().to_string(), "3.5 is not a number of int64");
        assert!(number("300", DType::UInt8).is_err() && number("2", DType::Bool).is_err());
    }

    #[test]
    fn a_constant_in_a_file_has_the_precision_of_the_file() {
        let file = |constant: Value<'static>, tensor: Tensor| check("n", &constant, &tensor).is_ok();
        assert!(
            file(Value::Float(0.1), Tensor::from(0.1f32)) && file(Value::Float(0.1), Tensor::from(0.1f64))
        );
        assert!(
            !file(Value::Float(0.1), Tensor::from(0.2f32))
                && !file(Value::Float(0.1), Tensor::from([0.1f32]))
        );
        assert!(file(Value::Int(3), Tensor::from(3i64)) && !file(Value::Int(3), Tensor::from(true)));
    }
}
