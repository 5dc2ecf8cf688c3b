//! Gradients: `requires_grad`, `backward`, `grad`, hooks.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use torch_library::Tensor;
use torch_library::autograd::{self, GradOptions};

use crate::error::{ending, exception, of_exception};
use crate::result;
use crate::tensor::PyTensor;

type Tensors<'py> = Vec<Bound<'py, PyTensor>>;
type Gradients<'py> = Option<Vec<Option<Bound<'py, PyTensor>>>>;

fn handles(tensors: &Tensors<'_>) -> Vec<Tensor> {
    tensors.iter().map(|tensor| tensor.get().0.clone()).collect()
}

fn gradients(gradients: Gradients<'_>) -> Vec<Option<Tensor>> {
    let handle = |gradient: Option<Bound<'_, PyTensor>>| gradient.map(|gradient| gradient.get().0.clone());
    gradients.unwrap_or_default().into_iter().map(handle).collect()
}

fn options(retain_graph: Option<bool>, create_graph: bool) -> GradOptions {
    GradOptions::new().create_graph(create_graph).retain_graph(retain_graph.unwrap_or(create_graph))
}

/// Computes gradients with respect to all leaves, and adds them to their `grad`.
#[pyfunction]
#[pyo3(signature = (tensors, grad_tensors=None, retain_graph=None, create_graph=false))]
pub(crate) fn backward(
    py: Python<'_>,
    tensors: Tensors<'_>,
    grad_tensors: Gradients<'_>,
    retain_graph: Option<bool>,
    create_graph: bool,
) -> PyResult<()> {
    let (outputs, grads) = (handles(&tensors), gradients(grad_tensors));
    let options = options(retain_graph, create_graph);
    py.detach(|| autograd::backward(&outputs.iter().collect::<Vec<_>>(), &grads, options)).map_err(exception)
}

/// The gradients of outputs with respect to inputs; no tensor's `grad` changes.
#[pyfunction]
#[pyo3(signature = (outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=false, allow_unused=false))]
pub(crate) fn grad(
    py: Python<'_>,
    outputs: Tensors<'_>,
    inputs: Tensors<'_>,
    grad_outputs: Gradients<'_>,
    retain_graph: Option<bool>,
    create_graph: bool,
    allow_unused: bool,
) -> PyResult<Vec<Option<Py<PyAny>>>> {
    let (outputs, inputs, grads) = (handles(&outputs), handles(&inputs), gradients(grad_outputs));
    let options = options(retain_graph, create_graph).allow_unused(allow_unused);
    let (outputs, inputs): (Vec<_>, Vec<_>) = (outputs.iter().collect(), inputs.iter().collect());
    let found = py.detach(|| autograd::grad(&outputs, &inputs, &grads, options)).map_err(exception)?;
    found.into_iter().map(|one| one.map(|one| result::tensor(py, one)).transpose()).collect()
}

/// The handle of a function on gradients, with which it can be removed.
#[pyclass(frozen, name = "Hook", module = "torch_library")]
#[derive(Debug)]
pub(crate) struct Hook(autograd::HookHandle);

#[pymethods]
impl Hook {
    /// Removes the function: it is no longer called.
    fn remove(&self) {
        self.0.remove();
    }
}

#[pymethods]
impl PyTensor {
    /// Whether a gradient is wanted.
    #[getter]
    fn requires_grad(&self) -> bool {
        self.0.requires_grad()
    }

    #[setter]
    fn set_requires_grad(&self, requires_grad: bool) -> PyResult<()> {
        self.0.set_requires_grad(requires_grad).map_err(exception)
    }

    /// Sets whether a gradient is wanted, and returns the tensor.
    #[pyo3(signature = (requires_grad=true))]
    fn requires_grad_<'py>(slf: &Bound<'py, Self>, requires_grad: bool) -> PyResult<Bound<'py, Self>> {
        slf.get().0.set_requires_grad(requires_grad).map_err(exception)?;
        Ok(slf.clone())
    }

    /// The gradient that backward passes have accumulated, or None.
    #[getter]
    fn grad(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.0.grad().map(|grad| result::tensor(py, grad)).transpose()
    }

    #[setter]
    fn set_grad(&self, grad: Option<Bound<'_, PyTensor>>) -> PyResult<()> {
        self.0.set_grad(grad.map(|grad| grad.get().0.clone())).map_err(exception)
    }

    /// The name of the graph node that computed this tensor, or None.
    #[getter]
    fn grad_fn(&self) -> PyResult<Option<String>> {
        Ok(self.0.grad_fn().map_err(exception)?.map(|node| node.name().to_owned()))
    }

    /// Whether this tensor was not computed from one that requires a gradient.
    #[getter]
    fn is_leaf(&self) -> PyResult<bool> {
        self.0.is_leaf().map_err(exception)
    }

    /// Stores the gradient in `grad` also for a tensor that is not a leaf.
    fn retain_grad(&self) -> PyResult<()> {
        self.0.retain_grad().map_err(exception)
    }

    /// Computes the gradients of this tensor with respect to all leaves, and adds them to their `grad`.
    #[pyo3(signature = (gradient=None, retain_graph=None, create_graph=false))]
    fn backward(
        slf: &Bound<'_, Self>,
        gradient: Option<Bound<'_, PyTensor>>,
        retain_graph: Option<bool>,
        create_graph: bool,
    ) -> PyResult<()> {
        backward(slf.py(), vec![slf.clone()], gradient.map(|one| vec![Some(one)]), retain_graph, create_graph)
    }

    /// Calls a function with the gradient of this tensor whenever it is computed; a tensor that the function returns
    /// replaces the gradient.
    fn register_hook(&self, hook: &Bound<'_, PyAny>) -> PyResult<Hook> {
        if !hook.is_callable() {
            return Err(PyTypeError::new_err("a hook is a function"));
        }
        let hook = hook.clone().unbind();
        let call = move |grad: &Tensor| {
            let called = Python::try_attach(|py| {
                let returned = hook.bind(py).call1((PyTensor(grad.clone()),))?;
                if returned.is_none() {
                    return Ok(None);
                }
                let wrong = || PyTypeError::new_err("a hook returns a tensor or None");
                let tensor = returned.cast_exact::<PyTensor>().map_err(|_| wrong())?;
                Ok(Some(tensor.get().0.clone()))
            });
            called.unwrap_or_else(|| Err(ending())).map_err(of_exception)
        };
        self.0.register_hook(call).map(Hook).map_err(exception)
    }
}
