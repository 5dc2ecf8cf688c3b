//! From the values that an operator returns to objects of Python.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use torch_library::{Stack, Tensor, Value};

use crate::element::of_scalar;
use crate::kinds::{PyDevice, PyGenerator, PyLayout, PyMemoryFormat, dtype_object};
use crate::tensor::PyTensor;

/// The object of a tensor; `None` of one that is undefined.
pub(crate) fn tensor(py: Python<'_>, tensor: Tensor) -> PyResult<Py<PyAny>> {
    if tensor.is_defined() { Ok(Py::new(py, PyTensor(tensor))?.into_any()) } else { Ok(py.None()) }
}

/// What a call returns: nothing, one object, or a tuple. `given` is the argument that a return is, if it is one.
pub(crate) fn returns<'v>(
    py: Python<'_>,
    mut stack: Stack<'v>,
    count: usize,
    given: impl Fn(usize) -> Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let one = |index: usize, value: Option<Value<'v>>| match (given(index), value) {
        (Some(argument), Some(_)) => Ok(argument),
        (_, value) => object(py, value.unwrap_or(Value::None)),
    };
    match count {
        0 => Ok(py.None()),
        1 => one(0, stack.pop()),
        _ => {
            let values = stack.into_iter().enumerate();
            let objects = values.map(|(index, value)| one(index, Some(value)));
            Ok(PyTuple::new(py, objects.collect::<PyResult<Vec<_>>>()?)?.into_any().unbind())
        }
    }
}

/// The object of a value.
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
