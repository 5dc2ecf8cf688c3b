//! Conversions from boxed values to Rust types: arguments are borrowed from the stack, returns are taken from it.

use std::borrow::Cow;

use num_complex::Complex64;

use super::Value;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::generator::Generator;
use crate::layout::{Layout, MemoryFormat};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// A Rust type that a kernel can take, read from a value on the stack.
///
/// PyTorch: `IValue::to`, where the value keeps what it owns.
pub trait FromValue<'v>: Sized {
    /// The schema language's name for this type, for messages.
    const TYPE: &'static str;

    /// The argument; `None` if the value has another type.
    fn from_value(value: &'v mut Value<'_>) -> Option<Self>;
}

macro_rules! from_value {
    ($($type:ty, $name:literal, { $($pattern:pat => $result:expr),* $(,)? })*) => {$(
        impl<'v> FromValue<'v> for $type {
            const TYPE: &'static str = $name;

            #[inline]
            fn from_value(value: &'v mut Value<'_>) -> Option<Self> {
                match value {
                    $($pattern => Some($result),)*
                    _ => None,
                }
            }
        }
    )*};
}

from_value! {
    &'v Tensor, "Tensor", {
        Value::Tensor(tensor) => tensor,
        Value::TensorRef(tensor) => tensor,
        Value::TensorMut(tensor) => tensor,
    }
    &'v [Tensor], "Tensor[]", {
        Value::Tensors(tensors) => tensors,
        Value::TensorsMut(tensors) => tensors,
    }
    &'v mut [Tensor], "Tensor(a!)[]", {
        Value::TensorsMut(tensors) => tensors,
        Value::Tensors(Cow::Owned(tensors)) => tensors,
        Value::Tensors(Cow::Borrowed([])) => &mut [],
    }
    &'v [Option<Tensor>], "Tensor?[]", { Value::OptionalTensors(tensors) => tensors }
    i64, "int", { Value::Int(value) => *value }
    // PyTorch's schemas accept integers where a float is expected.
    f64, "float", { Value::Float(value) => *value, Value::Int(value) => *value as f64 }
    bool, "bool", { Value::Bool(value) => *value }
    Complex64, "complex", {
        Value::Complex(value) => *value,
        Value::Float(value) => Complex64::new(*value, 0.0),
        Value::Int(value) => Complex64::new(*value as f64, 0.0),
    }
    Scalar, "Scalar", {
        Value::Int(value) => Scalar::Int(*value),
        Value::Float(value) => Scalar::Float(*value),
        Value::Bool(value) => Scalar::Bool(*value),
        Value::Complex(value) => Scalar::Complex(*value),
    }
    &'v str, "str", { Value::Str(text) => text }
    DType, "ScalarType", { Value::DType(dtype) => *dtype }
    Layout, "Layout", { Value::Layout(layout) => *layout }
    MemoryFormat, "MemoryFormat", { Value::MemoryFormat(format) => *format }
    Device, "Device", { Value::Device(device) => *device }
    &'v Generator, "Generator", { Value::Generator(generator) => generator }
    &'v [i64], "int[]", { Value::Ints(list) => list }
    &'v [f64], "float[]", { Value::Floats(list) => list }
    &'v [bool], "bool[]", { Value::Bools(list) => list }
    &'v [Scalar], "Scalar[]", { Value::Scalars(list) => list }
    &'v [String], "str[]", { Value::Strs(list) => list }
}

impl<'v> FromValue<'v> for &'v mut Tensor {
    const TYPE: &'static str = "Tensor(a!)";

    /// A borrowed tensor is converted to a handle of its own for the same tensor.
    #[inline]
    fn from_value(value: &'v mut Value<'_>) -> Option<Self> {
        if let Value::TensorRef(tensor) = value {
            *value = Value::Tensor(tensor.clone());
        }
        match value {
            Value::Tensor(tensor) => Some(tensor),
            Value::TensorMut(tensor) => Some(tensor),
            _ => None,
        }
    }
}

impl<'v, T: FromValue<'v>> FromValue<'v> for Option<T> {
    const TYPE: &'static str = T::TYPE;

    #[inline]
    fn from_value(value: &'v mut Value<'_>) -> Option<Self> {
        if value.is_none() { Some(None) } else { T::from_value(value).map(Some) }
    }
}

/// A Rust type that a kernel can return, taken from a value on the stack.
///
/// ```
/// use torch_library::{FromReturn, Value};
///
/// assert_eq!(<Vec<i64>>::from_return(Value::from(vec![1i64, 2]))?, [1, 2]);
/// assert!(i64::from_return(Value::Float(1.5)).is_err());
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// PyTorch: `IValue::to` of an rvalue.
pub trait FromReturn: Sized {
    /// The schema language's name for this type, for messages.
    const TYPE: &'static str;

    /// The return, which is replaced by `None`; no result if the value has another type.
    fn take(value: &mut Value<'_>) -> Option<Self>;

    /// The return.
    ///
    /// # Errors
    /// The value has another type.
    fn from_return(mut value: Value<'_>) -> Result<Self> {
        Self::take(&mut value).ok_or_else(|| mismatch(Self::TYPE, &value))
    }
}

/// Plain values are copied; values that own something are moved out.
macro_rules! from_return {
    ($($type:ty, $name:literal, copied { $($pattern:pat => $result:expr),* $(,)? })*) => {$(
        impl FromReturn for $type {
            const TYPE: &'static str = $name;

            #[inline]
            fn take(value: &mut Value<'_>) -> Option<Self> {
                match *value {
                    $($pattern => Some($result),)*
                    _ => None,
                }
            }
        }
    )*};
    ($($type:ty, $name:literal, moved { $($pattern:pat => $result:expr),* $(,)? })*) => {$(
        impl FromReturn for $type {
            const TYPE: &'static str = $name;

            #[inline]
            fn take(value: &mut Value<'_>) -> Option<Self> {
                match std::mem::replace(value, Value::None) {
                    $($pattern => Some($result),)*
                    other => {
                        // Put back, for the error message.
                        *value = other;
                        None
                    }
                }
            }
        }
    )*};
}

#[cold]
pub(super) fn mismatch(want: &str, got: &Value<'_>) -> Error {
    Error::new(ErrorKind::Type, format!("expected a value of type {want}, found {}", got.type_name()))
}

from_return! {
    Tensor, "Tensor", moved {
        Value::Tensor(tensor) => tensor,
        Value::TensorRef(tensor) => tensor.clone(),
        Value::TensorMut(tensor) => tensor.clone(),
        Value::None => Tensor::undefined(),
    }
    Vec<Tensor>, "Tensor[]", moved {
        Value::Tensors(tensors) => tensors.into_owned(),
        Value::TensorsMut(tensors) => tensors.to_vec(),
    }
    Vec<Option<Tensor>>, "Tensor?[]", moved { Value::OptionalTensors(tensors) => tensors.into_owned() }
    String, "str", moved { Value::Str(text) => text.into_owned() }
    Generator, "Generator", moved { Value::Generator(generator) => generator.into_owned() }
    Vec<i64>, "int[]", moved { Value::Ints(list) => list.into_owned() }
    Vec<f64>, "float[]", moved { Value::Floats(list) => list.into_owned() }
    Vec<bool>, "bool[]", moved { Value::Bools(list) => list.into_owned() }
    Vec<Scalar>, "Scalar[]", moved { Value::Scalars(list) => list.into_owned() }
    Vec<String>, "str[]", moved { Value::Strs(list) => list.into_owned() }
}

from_return! {
    i64, "int", copied { Value::Int(value) => value }
    f64, "float", copied { Value::Float(value) => value, Value::Int(value) => value as f64 }
    bool, "bool", copied { Value::Bool(value) => value }
    Complex64, "complex", copied { Value::Complex(value) => value }
    Scalar, "Scalar", copied {
        Value::Int(value) => Scalar::Int(value),
        Value::Float(value) => Scalar::Float(value),
        Value::Bool(value) => Scalar::Bool(value),
        Value::Complex(value) => Scalar::Complex(value),
    }
    DType, "ScalarType", copied { Value::DType(dtype) => dtype }
    Layout, "Layout", copied { Value::Layout(layout) => layout }
    MemoryFormat, "MemoryFormat", copied { Value::MemoryFormat(format) => format }
    Device, "Device", copied { Value::Device(device) => device }
}

impl<T: FromReturn> FromReturn for Option<T> {
    const TYPE: &'static str = T::TYPE;

    #[inline]
    fn take(value: &mut Value<'_>) -> Option<Self> {
        if value.is_none() { Some(None) } else { T::take(value).map(Some) }
    }
}
