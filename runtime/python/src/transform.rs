//! Function transforms: `vmap` and `grad`, which `_functional.py` calls with flat lists of tensors.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use torch_library::Tensor;
use torch_library::autograd::{self, GradOptions};
use torch_library::guard::enable_grad;
use torch_library::vmap::Level;
use torch_library_kernels::aten;
use torch_library_kernels::vmap::{Randomness, Vmap};

use crate::error::{exception, of_exception};
use crate::tensor::PyTensor;

fn handles(tensors: &[Bound<'_, PyTensor>]) -> Vec<Tensor> {
    tensors.iter().map(|tensor| tensor.get().0.clone()).collect()
}

fn call<'py>(f: &Bound<'py, PyAny>, tensors: &[Tensor]) -> PyResult<Bound<'py, PyAny>> {
    f.call1((tensors.iter().map(|tensor| PyTensor(tensor.clone())).collect::<Vec<_>>(),))
}

/// Calls a function on lists of tensors with batched tensors, which stand for one example each.
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
        let outputs = call(f, examples).and_then(|list| {
            list.extract::<Vec<Bound<'_, PyTensor>>>().map_err(|_| {
                PyTypeError::new_err("the function of vmap returns a tensor, or a tuple or a list of tensors")
            })
        });
        outputs.map(|outputs| handles(&outputs)).map_err(of_exception)
    };
    let vmap = Vmap::new().in_dims(in_dims).out_dims(out_dims).randomness(randomness);
    let outputs = vmap.run(&handles(&inputs), run).map_err(exception)?;
    Ok(outputs.into_iter().map(PyTensor).collect())
}

/// The gradients of a function that returns one number, or a list that begins with it, and what the function returned.
#[pyfunction]
pub(crate) fn grads_and_value(
    f: &Bound<'_, PyAny>,
    inputs: Vec<Bound<'_, PyTensor>>,
) -> PyResult<(Vec<PyTensor>, Vec<PyTensor>)> {
    let inputs = handles(&inputs);
    let guard = Level::enter_grad().map_err(exception)?;
    let level = guard.level();
    // Leaves of a separate graph; their values keep the history that they have outside.
    let leaves = inputs.iter().map(|input| {
        let leaf = level.wrap_shared(input.clone())?;
        leaf.set_requires_grad(true)?;
        Ok(leaf)
    });
    let leaves = leaves.collect::<torch_library::Result<Vec<_>>>().map_err(exception)?;
    let returned = enable_grad(|| call(f, &leaves))?;
    let wrong = || PyTypeError::new_err("the function of grad returns a tensor of one element");
    let values = returned.extract::<Vec<Bound<'_, PyTensor>>>().map_err(|_| wrong())?;
    let values = handles(&values);
    let value = values.first().ok_or_else(wrong)?;
    let gradients = gradients(level, value, &leaves, &inputs);
    let values = values.iter().map(|value| aten::detach(value).map(|value| PyTensor(level.unwrap(&value).0)));
    let values = values.collect::<torch_library::Result<_>>().map_err(exception)?;
    Ok((gradients.map_err(exception)?.into_iter().map(PyTensor).collect(), values))
}

fn gradients(
    level: Level,
    value: &Tensor,
    leaves: &[Tensor],
    inputs: &[Tensor],
) -> torch_library::Result<Vec<Tensor>> {
    torch_library::ensure!(
        value.numel() == 1,
        Shape,
        "the gradient of a result of sizes {:?}, it has to be one number",
        value.sizes()
    );
    // An output that does not depend on the leaves may still require a gradient outside.
    if !(level.wraps(value) && value.requires_grad()) {
        return inputs.iter().map(aten::zeros_like).collect();
    }
    let options = GradOptions::new().allow_unused(true);
    let found = autograd::grad(&[value], &leaves.iter().collect::<Vec<_>>(), &[], options)?;
    let found = found.into_iter().zip(inputs);
    found
        .map(|(gradient, input)| match gradient {
            Some(gradient) => Ok(level.unwrap(&gradient).0),
            None => aten::zeros_like(input),
        })
        .collect()
}
