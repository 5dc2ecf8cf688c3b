//! Converts the values of a call to the types of a schema: integers to floats, a number to a list, defaults to values.

use std::borrow::Cow;

use num_complex::Complex64;
use torch_library_schema::{self as schema, Argument, DefaultValue, Type};

use super::{FromValue, Value};
use crate::device::Device;
use crate::dtype::DType;
use crate::layout::{Layout, MemoryFormat};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

impl schema::Value for Value<'_> {
    fn of_default(default: &DefaultValue, argument: &Argument) -> Self {
        of_default(default, argument.ty.without_optional())
    }

    fn is_a(&self, ty: &Type) -> bool {
        match (ty, self) {
            (Type::Optional(inner), value) => value.is_none() || value.is_a(inner),
            // `None` is PyTorch's undefined tensor, which boxed kernels may take; a number becomes a wrapped number.
            (Type::Tensor, value) => {
                value.is_none() || value.as_tensor().is_some() || as_scalar(value).is_some()
            }
            (Type::Scalar, value) => as_scalar(value).is_some(),
            (Type::Int | Type::SymInt, Value::Int(_) | Value::Bool(_)) => true,
            (Type::Float, Value::Float(_) | Value::Int(_) | Value::Bool(_)) => true,
            (Type::Complex, value) => as_scalar(value).is_some(),
            (Type::Bool | Type::SymBool, Value::Bool(_)) => true,
            (Type::Str, Value::Str(_)) => true,
            (Type::ScalarType, Value::DType(_)) => true,
            (Type::Layout, Value::Layout(_)) => true,
            (Type::MemoryFormat, Value::MemoryFormat(_)) => true,
            (ty, Value::Int(number)) if of_number(*number, ty).is_some() => true,
            (Type::Device, Value::Device(_)) => true,
            (Type::Device, Value::Str(text)) => text.parse::<Device>().is_ok(),
            (Type::Generator, Value::Generator(_)) => true,
            (Type::List(element), value) => is_list_of(value, element),
            (Type::Union(types), value) => types.iter().any(|ty| value.is_a(ty)),
            (Type::Any, _) => true,
            _ => false,
        }
    }

    fn type_name(&self) -> String {
        self.type_name().to_owned()
    }
}

/// Whether a value may be passed as a list: a list, or a number that is repeated.
fn is_list_of(value: &Value<'_>, element: &Type) -> bool {
    match (element, value) {
        (_, value) if is_empty_list(value) => true,
        (Type::Tensor, Value::Tensors(_) | Value::TensorsMut(_)) => true,
        (Type::Optional(inner), Value::OptionalTensors(_) | Value::Tensors(_) | Value::TensorsMut(_)) => {
            **inner == Type::Tensor
        }
        (Type::Int | Type::SymInt, Value::Ints(_) | Value::Int(_)) => true,
        (Type::Float, Value::Floats(_) | Value::Ints(_) | Value::Float(_)) => true,
        // A list with both ints and floats.
        (Type::Float, Value::Scalars(list)) => {
            !list.iter().any(|number| matches!(number, Scalar::Complex(_)))
        }
        (Type::Bool, Value::Bools(_)) => true,
        (Type::Scalar, Value::Scalars(_) | Value::Ints(_) | Value::Floats(_) | Value::Bools(_)) => true,
        (Type::Str, Value::Strs(_)) => true,
        _ => false,
    }
}

fn is_empty_list(value: &Value<'_>) -> bool {
    match value {
        Value::Tensors(list) => list.is_empty(),
        Value::TensorsMut(list) => list.is_empty(),
        Value::OptionalTensors(list) => list.is_empty(),
        Value::Ints(list) => list.is_empty(),
        Value::Floats(list) => list.is_empty(),
        Value::Bools(list) => list.is_empty(),
        Value::Scalars(list) => list.is_empty(),
        Value::Strs(list) => list.is_empty(),
        _ => false,
    }
}

/// Converts a value for an argument, after [`schema::Value::is_a`] has said that it may be passed. `None` for a number
/// if the argument is a list of unknown or excessive length, or a tensor that is written to.
pub(crate) fn fit<'v>(value: Value<'v>, argument: &Argument) -> Option<Value<'v>> {
    let ty = argument.ty.without_optional();
    Some(match (ty, value) {
        // An argument that the operator writes to gets its own handle.
        (Type::Tensor, Value::TensorRef(tensor)) if argument.is_mutable() => Value::Tensor(tensor.clone()),
        (Type::Tensor, value) => match as_scalar(&value) {
            Some(number) if !argument.is_mutable() => Value::Tensor(Tensor::wrapped_number(number)),
            Some(_) => return None,
            None => value,
        },
        (Type::Int | Type::SymInt, Value::Bool(value)) => Value::Int(i64::from(value)),
        (Type::Float, Value::Int(value)) => Value::Float(value as f64),
        (Type::Float, Value::Bool(value)) => Value::Float(f64::from(u8::from(value))),
        (Type::Complex, Value::Int(value)) => Value::Complex(Complex64::new(value as f64, 0.0)),
        (Type::Complex, Value::Float(value)) => Value::Complex(Complex64::new(value, 0.0)),
        (Type::Device, Value::Str(text)) => Value::Device(text.parse().ok()?),
        (Type::ScalarType | Type::Layout | Type::MemoryFormat, Value::Int(number)) => of_number(number, ty)?,
        (Type::List(element), value) if !value.is_none() => fit_list(value, element, argument.size)?,
        (_, value) => value,
    })
}

/// The maximum number of times that a number is repeated to make a list, as for defaults in schemas.
const MAX_REPEAT: usize = 1 << 16;

fn fit_list<'v>(value: Value<'v>, element: &Type, size: Option<i64>) -> Option<Value<'v>> {
    let count = || size.and_then(|size| usize::try_from(size).ok()).filter(|size| *size <= MAX_REPEAT);
    let ints_as = |list: &[i64]| list.iter().map(|value| *value as f64).collect::<Vec<_>>();
    let all = |list: &[Tensor]| list.iter().cloned().map(Some).collect::<Vec<_>>();
    Some(match (element, value) {
        // An empty list may be written to as well.
        (Type::Tensor, value @ (Value::Tensors(_) | Value::TensorsMut(_))) => value,
        (element, value) if is_empty_list(&value) => empty_list(element),
        (Type::Optional(_), Value::Tensors(list)) => all(&list).into(),
        (Type::Optional(_), Value::TensorsMut(list)) => all(list).into(),
        (Type::Int | Type::SymInt, Value::Int(value)) => vec![value; count()?].into(),
        (Type::Float, Value::Float(value)) => vec![value; count()?].into(),
        (Type::Float, Value::Ints(list)) => ints_as(&list).into(),
        (Type::Float, Value::Scalars(list)) => {
            list.iter().map(|number| number.cast()).collect::<Vec<f64>>().into()
        }
        (Type::Scalar, Value::Ints(list)) => scalars(&list),
        (Type::Scalar, Value::Floats(list)) => scalars(&list),
        (Type::Scalar, Value::Bools(list)) => scalars(&list),
        (_, value) => value,
    })
}

fn scalars<T: Copy + Into<Scalar>>(list: &[T]) -> Value<'static> {
    list.iter().map(|value| (*value).into()).collect::<Vec<Scalar>>().into()
}

fn empty_list(element: &Type) -> Value<'static> {
    match element {
        Type::Tensor => Value::Tensors(Cow::Borrowed(&[])),
        Type::Optional(_) => Value::OptionalTensors(Cow::Borrowed(&[])),
        Type::Float => Value::Floats(Cow::Borrowed(&[])),
        Type::Bool => Value::Bools(Cow::Borrowed(&[])),
        Type::Scalar => Value::Scalars(Cow::Borrowed(&[])),
        Type::Str => Value::Strs(Cow::Borrowed(&[])),
        _ => Value::Ints(Cow::Borrowed(&[])),
    }
}

fn as_scalar(value: &Value<'_>) -> Option<Scalar> {
    match value {
        Value::Int(value) => Some(Scalar::Int(*value)),
        Value::Float(value) => Some(Scalar::Float(*value)),
        Value::Bool(value) => Some(Scalar::Bool(*value)),
        Value::Complex(value) => Some(Scalar::Complex(*value)),
        _ => None,
    }
}

/// The value of a default. One of an unsupported type stays a number or a string, which the kernel refuses.
fn of_default<'v>(default: &DefaultValue, ty: &Type) -> Value<'v> {
    match (ty, default) {
        (_, DefaultValue::None) => Value::None,
        (_, DefaultValue::Bool(value)) => Value::Bool(*value),
        (_, DefaultValue::Double(value)) => Value::Float(*value),
        (_, DefaultValue::Complex { re, im }) => Value::Complex(Complex64::new(*re, *im)),
        (_, DefaultValue::Str(bytes)) => String::from_utf8_lossy(bytes).into_owned().into(),
        (_, DefaultValue::Device(text)) => match text.parse::<Device>() {
            Ok(device) => Value::Device(device),
            Err(_) => text.clone().into(),
        },
        (Type::Float, DefaultValue::Int(value)) => Value::Float(*value as f64),
        (_, DefaultValue::Int(value)) => of_number(*value, ty).unwrap_or(Value::Int(*value)),
        (Type::List(element), DefaultValue::List(list)) => of_list(list, element),
        (_, DefaultValue::List(list)) => of_list(list, &Type::Int),
    }
}

/// The value of a number for a type that is an enumeration in PyTorch.
fn of_number<'v>(number: i64, ty: &Type) -> Option<Value<'v>> {
    let small = u8::try_from(number).ok()?;
    match ty {
        Type::ScalarType => DType::from_number(small).map(Value::DType),
        Type::Layout => Layout::from_number(small).map(Value::Layout),
        Type::MemoryFormat => MemoryFormat::from_number(small).map(Value::MemoryFormat),
        _ => None,
    }
}

fn of_list<'v>(list: &[DefaultValue], element: &Type) -> Value<'v> {
    let mut values: Vec<_> = list.iter().map(|default| of_default(default, element)).collect();
    match element {
        Type::Float => collect::<f64>(&mut values).into(),
        Type::Bool => collect::<bool>(&mut values).into(),
        Type::Scalar => collect::<Scalar>(&mut values).into(),
        Type::Int | Type::SymInt => collect::<i64>(&mut values).into(),
        // No other list has a default with elements.
        other => empty_list(other),
    }
}

fn collect<'v, T: FromValue<'v>>(values: &'v mut [Value<'_>]) -> Vec<T> {
    values.iter_mut().filter_map(|value| T::from_value(value)).collect()
}
