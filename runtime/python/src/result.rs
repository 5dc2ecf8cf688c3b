//! Converts the values that an operator returns to Python objects.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyTuple};
use torch_library::{Stack, Tensor, Value};

use crate::element::of_scalar;
use crate::kinds::{PyDevice, PyGenerator, PyLayout, PyMemoryFormat, dtype_object};
use crate::tensor::PyTensor;

/// The object for a tensor; `None` for an undefined one.
pub(crate) fn tensor(py: Python<'_>, tensor: Tensor) -> PyResult<Py<PyAny>> {
    if tensor.is_defined() { Ok(Py::new(py, PyTensor(tensor))?.into_any()) } else { Ok(py.None()) }
}

/// An object, or a boxed exception: two words, which are returned in registers. An exception by value has many words,
/// which would be copied by each of the functions that a call passes through.
pub(crate) type Returned = Result<Py<PyAny>, Box<PyErr>>;

/// The result of a call: `None`, one object, or a tuple. `given` returns the argument that a return is, if it is one.
pub(crate) fn returns(
    py: Python<'_>,
    stack: &mut Stack<'_>,
    count: usize,
    given: impl Fn(usize) -> Option<Py<PyAny>>,
) -> Returned {
    match count {
        0 => Ok(py.None()),
        1 => match given(0) {
            Some(argument) => Ok(argument),
            None => top(py, stack),
        },
        _ => {
            let values = std::mem::take(stack).into_iter().enumerate();
            let one = |(index, value)| given(index).map_or_else(|| object(py, value), Ok);
            Ok(PyTuple::new(py, values.map(one).collect::<PyResult<Vec<_>>>()?)?.into_any().unbind())
        }
    }
}

/// The object for the value on top of the stack. The most frequent types are converted in place, since moving them
/// takes longer.
#[inline]
fn top(py: Python<'_>, stack: &mut Stack<'_>) -> Returned {
    match stack.last(1) {
        [Value::Bool(value)] => return Ok(PyBool::new(py, *value).to_owned().into_any().unbind()),
        [] | [Value::None] => return Ok(py.None()),
        _ => {}
    }
    match stack.pop() {
        Some(Value::Tensor(value)) => Ok(tensor(py, value)?),
        value => Ok(object(py, value.unwrap_or(Value::None))?),
    }
}

/// The object for a value.
pub(crate) fn object(py: Python<'_>, value: Value<'_>) -> PyResult<Py<PyAny>> {
    let list = |objects: PyResult<Vec<Py<PyAny>>>| Ok(PyList::new(py, objects?)?.into_any().unbind());
    match value {
        Value::None => Ok(py.None()),
        Value::Tensor(value) => tensor(py, value),
        Value::TensorRef(value) => tensor(py, value.clone()),
        Value::TensorMut(value) => tensor(py, value.clone()),
        Value::Int(value) => value.into_py_any(py),
        Value::Float(value) => value.into_py_any(py),
        Value::Bool(value) => value.into_py_any(py),
        Value::Complex(value) => value.into_py_any(py),
        Value::Str(text) => text.into_py_any(py),
        Value::DType(dtype) => Ok(dtype_object(py, dtype)?.into_any()),
        Value::Layout(layout) => PyLayout(layout).into_py_any(py),
        Value::MemoryFormat(format) => PyMemoryFormat(format).into_py_any(py),
        Value::Device(device) => PyDevice(device).into_py_any(py),
        Value::Generator(generator) => PyGenerator(generator.into_owned()).into_py_any(py),
        Value::Tensors(tensors) => list(tensors.iter().map(|value| tensor(py, value.clone())).collect()),
        Value::TensorsMut(tensors) => list(tensors.iter().map(|value| tensor(py, value.clone())).collect()),
        Value::OptionalTensors(tensors) => {
            let one = |value: &Option<Tensor>| value.clone().map_or(Ok(py.None()), |value| tensor(py, value));
            list(tensors.iter().map(one).collect())
        }
        Value::Ints(values) => values.to_vec().into_py_any(py),
        Value::Floats(values) => values.to_vec().into_py_any(py),
        Value::Bools(values) => values.to_vec().into_py_any(py),
        Value::Scalars(values) => list(values.iter().map(|value| of_scalar(py, *value)).collect()),
        Value::Strs(values) => values.to_vec().into_py_any(py),
        other => Err(pyo3::exceptions::PyNotImplementedError::new_err(format!(
            "a value of type {} has no counterpart in Python",
            other.type_name()
        ))),
    }
}
