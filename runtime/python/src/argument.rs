//! Converts Python objects to the values that a schema needs.

use std::borrow::Cow;

use num_complex::Complex64;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use torch_library::schema::Type;
use torch_library::{Scalar, Tensor, Value};

use crate::element::number;
use crate::kinds::{PyGenerator, PyLayout, PyMemoryFormat, device, dtype};
use crate::tensor::PyTensor;

/// The maximum number of times that a number is repeated to make a list.
const MAX_REPEAT: i64 = 1 << 16;

/// The type that a value is converted to.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'s> {
    /// The type in the schema, including `T?`.
    pub(crate) ty: &'s Type,
    /// The `N` of `T[N]`.
    pub(crate) size: Option<i64>,
    /// Whether a number is accepted as a tensor.
    pub(crate) numbers_are_tensors: bool,
}

/// Converts an object to the value of an argument; `None` if it has another type, or is a tensor, which the caller
/// handles first.
pub(crate) fn value<'a>(object: &'a Bound<'_, PyAny>, wanted: Wanted<'_>) -> Option<Value<'a>> {
    if object.is_none() {
        // `None` for a tensor that is not optional is PyTorch's undefined tensor, which kernels refuse.
        let is_allowed = matches!(wanted.ty, Type::Optional(_) | Type::Tensor);
        return is_allowed.then_some(Value::None);
    }
    match wanted.ty.without_optional() {
        Type::Tensor if wanted.numbers_are_tensors => {
            number(object).map(|number| Value::Tensor(Tensor::wrapped_number(number)))
        }
        Type::Scalar => number(object).map(of_number),
        Type::Int | Type::SymInt => int(object).map(Value::Int),
        Type::Float => float(object).map(Value::Float),
        Type::Bool | Type::SymBool => boolean(object).map(Value::Bool),
        Type::Complex => number(object).map(|number| Value::Complex(number.cast::<Complex64>())),
        Type::Str => text(object).map(|text| Value::Str(Cow::Borrowed(text))),
        Type::ScalarType => dtype(object).map(Value::DType),
        Type::Layout => object.cast_exact::<PyLayout>().ok().map(|layout| Value::Layout(layout.get().0)),
        Type::MemoryFormat => {
            let format = object.cast_exact::<PyMemoryFormat>().ok();
            format.map(|format| Value::MemoryFormat(format.get().0))
        }
        Type::Device => device(object).map(Value::Device),
        Type::Generator => {
            let generator = object.cast_exact::<PyGenerator>().ok();
            generator.map(|generator| Value::Generator(Cow::Borrowed(&generator.get().0)))
        }
        Type::List(element) => list(object, element, wanted.size),
        _ => None,
    }
}

fn of_number(number: Scalar) -> Value<'static> {
    match number {
        Scalar::Int(value) => Value::Int(value),
        Scalar::Float(value) => Value::Float(value),
        Scalar::Bool(value) => Value::Bool(value),
        Scalar::Complex(value) => Value::Complex(value),
    }
}

/// An integer, also from a `bool`, a NumPy scalar, or a tensor with one element, but not from a float.
pub(crate) fn int(object: &Bound<'_, PyAny>) -> Option<i64> {
    if object.is_instance_of::<PyFloat>() { None } else { object.extract().ok() }
}

fn float(object: &Bound<'_, PyAny>) -> Option<f64> {
    if let Ok(value) = object.cast_exact::<PyFloat>() {
        return Some(value.value());
    }
    if object.is_instance_of::<PyString>() { None } else { object.extract().ok() }
}

/// A bool, from one of Python's or NumPy's, or from an integer, as in PyTorch.
fn boolean(object: &Bound<'_, PyAny>) -> Option<bool> {
    if let Ok(value) = object.cast::<PyBool>() {
        return Some(value.is_true());
    }
    if object.is_instance_of::<PyInt>() {
        return object.is_truthy().ok();
    }
    match number(object)? {
        Scalar::Bool(value) => Some(value),
        _ => None,
    }
}

fn text<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a str> {
    object.cast::<PyString>().ok()?.to_str().ok()
}

fn list<'a>(object: &'a Bound<'_, PyAny>, element: &Type, size: Option<i64>) -> Option<Value<'a>> {
    let repeats = size.filter(|size| (0..=MAX_REPEAT).contains(size));
    if let Some(count) = repeats {
        match element {
            Type::Int | Type::SymInt if object.is_instance_of::<PyInt>() => {
                return Some(Value::from(vec![int(object)?; count as usize]));
            }
            Type::Float if number(object).is_some() => {
                return Some(vec![float(object)?; count as usize].into());
            }
            _ => {}
        }
    }
    let items = items(object)?;
    fn all<'py, T>(
        items: Vec<Bound<'py, PyAny>>,
        one: impl Fn(&Bound<'py, PyAny>) -> Option<T>,
    ) -> Option<Vec<T>> {
        items.iter().map(one).collect()
    }
    Some(match element {
        Type::Tensor => Value::Tensors(Cow::Owned(all(items, tensor)?)),
        Type::Optional(inner) if **inner == Type::Tensor => {
            let maybe =
                |item: &Bound<'_, PyAny>| if item.is_none() { Some(None) } else { tensor(item).map(Some) };
            Value::OptionalTensors(Cow::Owned(all(items, maybe)?))
        }
        Type::Int | Type::SymInt => Value::Ints(Cow::Owned(all(items, int)?)),
        Type::Float => Value::Floats(Cow::Owned(all(items, float)?)),
        Type::Bool => Value::Bools(Cow::Owned(all(items, boolean)?)),
        Type::Scalar => Value::Scalars(Cow::Owned(all(items, number)?)),
        Type::Str => Value::Strs(Cow::Owned(all(items, |item| text(item).map(str::to_owned))?)),
        _ => return None,
    })
}

fn tensor(object: &Bound<'_, PyAny>) -> Option<Tensor> {
    object.cast_exact::<PyTensor>().ok().map(|tensor| tensor.get().0.clone())
}

/// The items of a list, a tuple, or another sequence that is neither text nor a tensor.
pub(crate) fn items<'py>(object: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    if let Ok(list) = object.cast::<PyList>() {
        return Some(list.iter().collect());
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return Some(tuple.iter().collect());
    }
    let is_text = object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>();
    let is_dict = object.is_instance_of::<PyDict>(); // a dict has items by key, not by index
    if is_text || is_dict || object.is_instance_of::<PyTensor>() || !object.hasattr("__getitem__").ok()? {
        return None;
    }
    // A sequence may claim any length: it is read as long as there are items, but no further than that.
    let count = object.len().ok().filter(|count| *count <= 1 << 20)?;
    object.try_iter().ok()?.take(count).collect::<PyResult<Vec<_>>>().ok()
}
