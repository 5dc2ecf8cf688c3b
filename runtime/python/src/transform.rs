//! Functions of functions: `vmap` and `grad`, which `_functional.py` calls with flat lists of tensors.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use torch_library::Tensor;
use torch_library_kernels::vmap::{Randomness, Vmap, grads as gradients};

use crate::error::{exception, of_exception};
use crate::tensor::PyTensor;

fn handles(tensors: &[Bound<'_, PyTensor>]) -> Vec<Tensor> {
    tensors.iter().map(|tensor| tensor.get().0.clone()).collect()
}

fn call<'py>(f: &Bound<'py, PyAny>, tensors: &[Tensor]) -> PyResult<Bound<'py, PyAny>> {
    f.call1((tensors.iter().map(|tensor| PyTensor(tensor.clone())).collect::<Vec<_>>(),))
}

/// Calls a function, of a list of tensors that returns one, with tensors that stand for one of each example.
#[pyfunction]
pub(crate) fn vmap(
    f: &Bound<'_, PyAny>,
    inputs: Vec<Bound<'_, PyTensor>>,
    in_dims: Vec<Option<i64>>,
    out_dims: Vec<Option<i64>>,
    randomness: &str,
) -> PyResult<Vec<PyTensor>> {
    let randomness = match randomness {
        "error" => Randomness::Error,
        "same" => Randomness::Same,
        "different" => Randomness::Different,
        other => {
            let text = format!("randomness is \"error\", \"same\" or \"different\", not {other:?}");
            return Err(PyValueError::new_err(text));
        }
    };
    let run = |examples: &[Tensor]| {
        let outputs = call(f, examples).and_then(|list| list.extract::<Vec<Bound<'_, PyTensor>>>().map_err(|_| {
            PyTypeError::new_err("the function of vmap returns a tensor, or a tuple or a list of tensors")
        }));
        outputs.map(|outputs| handles(&outputs)).map_err(of_exception)
    };
    let vmap = Vmap::new().in_dims(in_dims).out_dims(out_dims).randomness(randomness);
    let outputs = vmap.run(&handles(&inputs), run).map_err(exception)?;
    Ok(outputs.into_iter().map(PyTensor).collect())
}

/// A tensor without its history, also of a level of gradients that is about to end: what is not one is returned as it is.
#[pyfunction]
pub(crate) fn detached(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    match value.cast_exact::<PyTensor>() {
        Ok(tensor) => {
            let tensor = torch_library_kernels::aten::detach(&tensor.get().0).map_err(exception)?;
            crate::result::tensor(py, tensor)
        }
        Err(_) => Ok(value.clone().unbind()),
    }
}

/// The gradients of the one number that a function of a list of tensors returns.
#[pyfunction]
pub(crate) fn grads(f: &Bound<'_, PyAny>, inputs: Vec<Bound<'_, PyTensor>>) -> PyResult<Vec<PyTensor>> {
    let run = |leaves: &[Tensor]| {
        let value = call(f, leaves).and_then(|value| match value.cast_exact::<PyTensor>() {
            Ok(value) => Ok(value.get().0.clone()),
            Err(_) => Err(PyTypeError::new_err("the function of grad returns a tensor of one element")),
        });
        value.map_err(of_exception)
    };
    let gradients = gradients(&handles(&inputs), run).map_err(exception)?;
    Ok(gradients.into_iter().map(PyTensor).collect())
}
