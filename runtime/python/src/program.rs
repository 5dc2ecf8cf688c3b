//! Models that `torch.export` wrote: `load("model.pt2")(x)`.

use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use torch_library::Value;
use torch_library_export::{Program as Exported, Tree};

use crate::element::number;
use crate::error::exception;
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
        let mut inputs = Vec::new();
        let mut members = 0;
        flatten(args.as_any(), &mut inputs, 0, &mut members)?;
        if let Some(kwargs) = kwargs {
            flatten(kwargs.as_any(), &mut inputs, 0, &mut members)?;
        }
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

/// The maximum nesting depth of arguments, and the maximum number of their members at all depths: a list may contain
/// itself, or others many times.
const DEPTH: usize = 100;
const MEMBERS: usize = 1 << 20;

/// Tensors and numbers in the order in which PyTorch flattens arguments.
fn flatten(
    object: &Bound<'_, PyAny>,
    values: &mut Vec<Value<'static>>,
    depth: usize,
    members: &mut usize,
) -> PyResult<()> {
    *members += 1;
    if depth > DEPTH || *members > MEMBERS {
        return Err(PyValueError::new_err(format!(
            "the arguments of a program are nested deeper than {DEPTH} levels, or have more than {MEMBERS} members"
        )));
    }
    let mut inner = |member: &Bound<'_, PyAny>| flatten(member, values, depth + 1, members);
    if let Ok(tensor) = object.cast_exact::<PyTensor>() {
        values.push(Value::Tensor(tensor.get().0.clone()));
    } else if let Some(number) = number(object) {
        values.push(number.into());
    } else if object.is_none() {
        values.push(Value::None);
    } else if let Ok(tuple) = object.cast::<PyTuple>() {
        tuple.iter().try_for_each(|member| inner(&member))?;
    } else if let Ok(list) = object.cast::<PyList>() {
        list.iter().try_for_each(|member| inner(&member))?;
    } else if let Ok(dict) = object.cast::<PyDict>() {
        dict.iter().try_for_each(|(_, member)| inner(&member))?;
    } else {
        let text = format!(
            "a program takes tensors, numbers, and tuples, lists and dicts of them, not {}",
            object.get_type()
        );
        return Err(PyTypeError::new_err(text));
    }
    Ok(())
}

fn unflatten(
    py: Python<'_>,
    tree: &Tree,
    leaves: &mut impl Iterator<Item = Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    Ok(match tree {
        Tree::Leaf => leaves.next().unwrap_or_else(|| py.None()),
        Tree::List(children) => {
            let members =
                children.iter().map(|child| unflatten(py, child, leaves)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, members)?.into_any().unbind()
        }
        Tree::Tuple(children) => {
            let members =
                children.iter().map(|child| unflatten(py, child, leaves)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, members)?.into_any().unbind()
        }
        Tree::Dict(children) | Tree::Other(_, children) => {
            let dict = PyDict::new(py);
            for (key, child) in children {
                dict.set_item(key.trim_matches('\''), unflatten(py, child, leaves)?)?;
            }
            dict.into_any().unbind()
        }
        _ => return Err(PyTypeError::new_err("the program returns a tree of a kind that is not known here")),
    })
}
