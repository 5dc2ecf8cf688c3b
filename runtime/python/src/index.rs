//! Indexing: `x[1]`, `x[..., 2:4]`, `x[mask]`, and assignments to these.

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PySlice, PyTuple};
use torch_library::{DType, Device, Result, Tensor, ensure};
use torch_library_kernels::aten;

use crate::argument::{int, items};
use crate::element::number;
use crate::error::exception;
use crate::made::tensor_of;
use crate::result;
use crate::tensor::{PyTensor, unlocked};

/// One part of an index expression.
enum Part {
    Number(i64),
    Slice {
        start: Option<i64>,
        stop: Option<i64>,
        step: i64,
    },
    NewDimension,
    Rest,
    /// A mask without dimensions: selects everything, in a new dimension, or nothing.
    Truth(Tensor),
    Tensor(Tensor),
}

impl Part {
    /// The number of the tensor's dimensions that this part consumes.
    fn takes(&self) -> usize {
        match self {
            Part::Number(_) | Part::Slice { .. } => 1,
            Part::NewDimension | Part::Rest | Part::Truth(_) => 0,
            Part::Tensor(mask) if mask.dtype() == DType::Bool => mask.dim(),
            Part::Tensor(_) => 1,
        }
    }
}

fn parts(key: &Bound<'_, PyAny>) -> PyResult<Vec<Part>> {
    match key.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().map(|part| part_of(&part)).collect(),
        Err(_) => Ok(vec![part_of(key)?]),
    }
}

fn part_of(part: &Bound<'_, PyAny>) -> PyResult<Part> {
    if let Ok(tensor) = part.cast_exact::<PyTensor>() {
        let tensor = &tensor.get().0;
        let is_one = tensor.dim() == 0 && tensor.dtype().is_integer() && !tensor.is_wrapper();
        if tensor.dim() == 0 && tensor.dtype() == DType::Bool {
            return Ok(Part::Truth(aten::unsqueeze(tensor, 0).map_err(exception)?));
        }
        return match is_one {
            true => Ok(Part::Number(tensor.item().map_err(exception)?.to().map_err(exception)?)),
            false => Ok(Part::Tensor(tensor.clone())),
        };
    }
    if part.is_none() {
        return Ok(Part::NewDimension);
    }
    if part.is_instance_of::<PyEllipsis>() {
        return Ok(Part::Rest);
    }
    if let Ok(slice) = part.cast::<PySlice>() {
        return slice_of(slice);
    }
    if let Ok(truth) = part.cast::<PyBool>() {
        return Ok(Part::Truth(Tensor::from([truth.is_true()])));
    }
    if let Some(number) = int(part) {
        return Ok(Part::Number(number));
    }
    let is_array = part.hasattr("__array_interface__")? || items(part).is_some();
    if is_array && !part.is_instance_of::<pyo3::types::PyString>() {
        let tensor = tensor_of(part, None)?;
        // An empty list has no elements that show that it holds indices.
        return match tensor.numel() {
            0 => {
                Ok(Part::Tensor(Tensor::empty(tensor.sizes(), DType::Int64, Device::CPU).map_err(exception)?))
            }
            _ => Ok(Part::Tensor(tensor)),
        };
    }
    Err(PyTypeError::new_err(format!(
        "an index is an integer, a slice, `...`, None, a tensor or a list of integers or booleans, not {}",
        part.get_type()
    )))
}

fn slice_of(slice: &Bound<'_, PySlice>) -> PyResult<Part> {
    let end = |name: &str| {
        let value = slice.getattr(name)?;
        let wrong =
            || PyTypeError::new_err(format!("the {name} of a slice is an integer or None, not {value}"));
        if value.is_none() { Ok(None) } else { int(&value).map(Some).ok_or_else(wrong) }
    };
    let step = end("step")?.unwrap_or(1);
    if step <= 0 {
        return Err(PyValueError::new_err(format!(
            "a slice of a tensor has a step greater than 0, not {step}"
        )));
    }
    Ok(Part::Slice { start: end("start")?, stop: end("stop")?, step })
}

/// The view for the numbers, slices and new dimensions, and the index tensors for each dimension.
fn view(tensor: &Tensor, parts: Vec<Part>) -> Result<(Tensor, Vec<Option<Tensor>>)> {
    let taken: usize = parts.iter().map(Part::takes).sum();
    let rests = parts.iter().filter(|part| matches!(part, Part::Rest)).count();
    ensure!(rests <= 1, Argument, "an index has one `...` at most");
    let dim = tensor.dim();
    ensure!(taken <= dim, Index, "{taken} indices are out of range for a tensor of {dim} dimensions");
    let rest = tensor.dim() - taken;
    let (mut view, mut dim, mut picks) = (tensor.clone(), 0usize, Vec::new());
    for part in parts {
        match part {
            Part::Number(number) => view = aten::select_int(&view, dim as i64, number)?,
            Part::Slice { start, stop, step } => {
                view = aten::slice_Tensor::call(&view, dim as i64, start, stop, step)?;
                dim += 1;
            }
            Part::NewDimension => {
                view = aten::unsqueeze(&view, dim as i64)?;
                dim += 1;
            }
            Part::Rest => dim += rest,
            Part::Truth(pick) => {
                view = aten::unsqueeze(&view, dim as i64)?;
                picks.resize(dim.max(picks.len()), None);
                picks.push(Some(pick));
                dim += 1;
            }
            Part::Tensor(pick) => {
                picks.resize(dim.max(picks.len()), None);
                dim += match pick.dtype() {
                    DType::Bool => pick.dim(),
                    _ => 1,
                };
                picks.push(Some(pick));
            }
        }
    }
    Ok((view, picks))
}

/// `picks` has one entry for each mask, although a mask consumes several dimensions, as `index` expects it.
fn read(tensor: &Tensor, parts: Vec<Part>) -> Result<Tensor> {
    let (view, picks) = view(tensor, parts)?;
    if picks.is_empty() {
        return if view.is_same(tensor) { aten::alias(&view) } else { Ok(view) };
    }
    aten::index_Tensor(&view, &picks)
}

/// A value without leading dimensions of size 1, which it may have more of than the place for it.
fn without_leading_ones(value: &Tensor) -> Result<Tensor> {
    let ones = value.sizes().iter().take_while(|size| **size == 1).count();
    (0..ones).try_fold(value.clone(), |value, _| aten::select_int(&value, 0, 0))
}

fn write(tensor: &Tensor, parts: Vec<Part>, value: &Tensor) -> Result<()> {
    let (mut view, picks) = view(tensor, parts)?;
    let value = &if value.dim() > view.dim() { without_leading_ones(value)? } else { value.clone() };
    if picks.is_empty() {
        return aten::copy_(&mut view, value).map(drop);
    }
    let value = match value.dtype() == view.dtype() {
        true => value.clone(),
        false => aten::_to_copy::with(value).dtype(Some(view.dtype())).call()?,
    };
    aten::index_put_(&mut view, &picks, &value).map(drop)
}

#[pymethods]
impl PyTensor {
    fn __getitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let parts = parts(key)?;
        let numel = if parts.iter().any(|part| matches!(part, Part::Tensor(_) | Part::Truth(_))) {
            self.0.numel()
        } else {
            0
        };
        result::tensor(py, unlocked(py, numel, || read(&self.0, parts)).map_err(exception)?)
    }

    fn __setitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = match (value.cast_exact::<PyTensor>(), number(value)) {
            (Ok(tensor), _) => tensor.get().0.clone(),
            (_, Some(number)) => Tensor::wrapped_number(number),
            _ => tensor_of(value, None)?,
        };
        let parts = parts(key)?;
        unlocked(py, self.0.numel(), || write(&self.0, parts, &value)).map_err(exception)
    }

    #[expect(clippy::unused_self, reason = "a slot of Python has one")]
    fn __delitem__(&self, _key: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyIndexError::new_err("parts of a tensor cannot be deleted"))
    }

    fn __contains__(&self, py: Python<'_>, element: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(number) = number(element) else { return Ok(false) };
        let found = || aten::any(&aten::eq_Scalar(&self.0, number)?)?.item()?.to::<bool>();
        unlocked(py, self.0.numel(), found).map_err(exception)
    }
}
