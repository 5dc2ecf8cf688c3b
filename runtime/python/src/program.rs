//! Models that `torch.export` wrote: `load("model.pt2")(x)`.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use torch_library_export::Program as Exported;

use crate::error::exception;
use crate::nested::{flatten, unflatten};
use crate::result;
use crate::tensor::PyTensor;

/// A program that `torch.export` wrote, which is called like the model.
#[pyclass(frozen, name = "Program", module = "torch_library")]
#[derive(Debug)]
pub(crate) struct Program(Exported);

/// Reads a `.pt2` archive.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<Program> {
    py.detach(|| Exported::load(path)).map(Program).map_err(exception)
}

#[pymethods]
impl Program {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let inputs = flatten(&self.0, args, kwargs)?;
        let outputs = py.detach(|| self.0.run_values(inputs)).map_err(exception)?;
        let outputs =
            outputs.into_iter().map(|value| result::object(py, value)).collect::<PyResult<Vec<_>>>()?;
        match self.0.output_tree().filter(|tree| tree.leaves() == outputs.len()) {
            Some(tree) => unflatten(py, tree, &mut outputs.into_iter()),
            None => Ok(PyTuple::new(py, outputs)?.into_any().unbind()),
        }
    }

    /// The inputs, with types and sizes.
    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.0.inputs().iter().map(ToString::to_string).collect()
    }

    /// The outputs, with types and sizes.
    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.0.outputs().iter().map(ToString::to_string).collect()
    }

    /// Parameters, buffers and constants by their names in the model.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let weights = PyDict::new(py);
        for weight in self.0.weights() {
            weights.set_item(&weight.name, PyTensor(weight.tensor.clone()))?;
        }
        Ok(weights)
    }

    /// The reasons why the program cannot run; empty if it can.
    #[getter]
    fn problems(&self) -> Vec<String> {
        self.0.problems().iter().map(ToString::to_string).collect()
    }

    fn __repr__(&self) -> String {
        format!("<program of {}>", self.inputs().join(", "))
    }
}
