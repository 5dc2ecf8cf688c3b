//! Conversions from Rust types to boxed values.

use std::borrow::Cow;

use num_complex::Complex64;

use super::Value;
use crate::device::Device;
use crate::dtype::DType;
use crate::generator::Generator;
use crate::layout::{Layout, MemoryFormat};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// A Rust type that an argument or a return of an operator can have.
///
/// ```
/// use torch_library::{IntoValue, Tensor, Value};
///
/// let x = Tensor::from([1.0]);
/// let values = [(&x).into_value(), 2.0.into_value(), "mean".into_value(), None::<i64>.into_value()];
/// assert_eq!(values.map(|value| value.type_name()), ["Tensor", "float", "str", "None"]);
/// ```
///
/// PyTorch: the constructors of `c10::IValue`.
pub trait IntoValue<'a> {
    /// The value, which borrows if `self` is a reference.
    fn into_value(self) -> Value<'a>;
}

macro_rules! into_value {
    ($($type:ty, $value:ident => $boxed:expr;)*) => {$(
        impl<'a> IntoValue<'a> for $type {
            #[inline]
            fn into_value(self) -> Value<'a> {
                let $value = self;
                $boxed
            }
        }
    )*};
}

into_value! {
    Tensor, tensor => if tensor.is_defined() { Value::Tensor(tensor) } else { Value::None };
    &'a Tensor, tensor => Value::TensorRef(tensor);
    &'a mut Tensor, tensor => Value::TensorMut(tensor);
    i64, value => Value::Int(value);
    f64, value => Value::Float(value);
    bool, value => Value::Bool(value);
    Complex64, value => Value::Complex(value);
    &'a str, text => Value::Str(Cow::Borrowed(text));
    String, text => Value::Str(Cow::Owned(text));
    DType, dtype => Value::DType(dtype);
    Layout, layout => Value::Layout(layout);
    MemoryFormat, format => Value::MemoryFormat(format);
    Device, device => Value::Device(device);
    Generator, generator => Value::Generator(Cow::Owned(generator));
    &'a Generator, generator => Value::Generator(Cow::Borrowed(generator));
    Vec<Tensor>, tensors => Value::Tensors(Cow::Owned(tensors));
    &'a [Tensor], tensors => Value::Tensors(Cow::Borrowed(tensors));
    &'a mut [Tensor], tensors => Value::TensorsMut(tensors);
    Vec<Option<Tensor>>, tensors => Value::OptionalTensors(Cow::Owned(tensors));
    &'a [Option<Tensor>], tensors => Value::OptionalTensors(Cow::Borrowed(tensors));
    Vec<i64>, list => Value::Ints(Cow::Owned(list));
    &'a [i64], list => Value::Ints(Cow::Borrowed(list));
    Vec<f64>, list => Value::Floats(Cow::Owned(list));
    &'a [f64], list => Value::Floats(Cow::Borrowed(list));
    Vec<bool>, list => Value::Bools(Cow::Owned(list));
    &'a [bool], list => Value::Bools(Cow::Borrowed(list));
    Vec<Scalar>, list => Value::Scalars(Cow::Owned(list));
    &'a [Scalar], list => Value::Scalars(Cow::Borrowed(list));
    Vec<String>, list => Value::Strs(Cow::Owned(list));
    &'a [String], list => Value::Strs(Cow::Borrowed(list));
}

impl<'a> IntoValue<'a> for Scalar {
    #[inline]
    fn into_value(self) -> Value<'a> {
        match self {
            Scalar::Int(value) => Value::Int(value),
            Scalar::Float(value) => Value::Float(value),
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Complex(value) => Value::Complex(value),
        }
    }
}

impl<'a, T: IntoValue<'a>> IntoValue<'a> for Option<T> {
    #[inline]
    fn into_value(self) -> Value<'a> {
        self.map_or(Value::None, IntoValue::into_value)
    }
}
