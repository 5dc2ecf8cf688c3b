//! Creating tensors from numbers, nested lists, or a copy of an array.

use num_complex::Complex;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use torch_library::{DType, Element, Scalar, Tensor};
use torch_library_kernels::aten;

use crate::argument::items;
use crate::element::{check_length, number, too_many_bits};
use crate::error::exception;
use crate::held::Held;
use crate::kinds::dtype as dtype_named;
use crate::layout::copied;
use crate::tensor::{PyTensor, unlocked};

/// A new tensor from numbers, nested lists, or a copy of an array.
#[pyfunction]
#[pyo3(signature = (data, *, dtype=None, requires_grad=false))]
pub(crate) fn tensor(
    data: &Bound<'_, PyAny>,
    dtype: Option<&Bound<'_, PyAny>>,
    requires_grad: bool,
) -> PyResult<PyTensor> {
    let wanted = match dtype {
        Some(object) => {
            let wrong = || PyTypeError::new_err(format!("{object} names no dtype"));
            Some(dtype_named(object).ok_or_else(wrong)?)
        }
        None => None,
    };
    let tensor = tensor_of(data, wanted)?;
    tensor.set_requires_grad(requires_grad).map_err(exception)?;
    Ok(PyTensor(tensor))
}

/// A new tensor, with a given type or the type of its elements.
pub(crate) fn tensor_of(data: &Bound<'_, PyAny>, wanted: Option<DType>) -> PyResult<Tensor> {
    let py = data.py();
    let tensor = if let Ok(tensor) = data.cast_exact::<PyTensor>() {
        let tensor = tensor.get().0.clone();
        unlocked(py, tensor.numel(), || aten::detach(&aten::clone(&tensor)?)).map_err(exception)?
    } else if let Ok(buffer) = Held::of(data) {
        copied(&buffer)?
    } else {
        let (mut numbers, mut sizes) = (Vec::new(), Vec::new());
        collect(data, 0, &mut sizes, &mut numbers)?;
        of_numbers(&numbers, &sizes, wanted.is_some()).map_err(exception)?
    };
    match wanted {
        Some(dtype) if dtype != tensor.dtype() => {
            aten::_to_copy::with(&tensor).dtype(Some(dtype)).call().map_err(exception)
        }
        _ => Ok(tensor),
    }
}

/// The numbers in nested lists, where all lists of one depth must have the same length.
fn collect(
    object: &Bound<'_, PyAny>,
    depth: usize,
    sizes: &mut Vec<i64>,
    numbers: &mut Vec<Scalar>,
) -> PyResult<()> {
    let one = number(object).or_else(|| object.cast_exact::<PyTensor>().ok()?.get().0.item().ok());
    if let Some(number) = one {
        let ends = depth == sizes.len();
        numbers.push(number);
        return if ends { Ok(()) } else { Err(ragged(depth)) };
    }
    check_fits(object)?;
    let Some(members) = items(object).filter(|_| !object.is_instance_of::<PyString>() && depth < 64) else {
        return Err(PyTypeError::new_err(format!(
            "a tensor is made of numbers, nested lists of them, or an array, not of {}",
            object.get_type()
        )));
    };
    let count = members.len() as i64;
    match sizes.get(depth) {
        None if numbers.is_empty() => {
            sizes.push(count);
            check_length(sizes)?; // a list may be its own member's member many times
        }
        Some(size) if *size == count => {}
        _ => return Err(ragged(depth)),
    }
    members.iter().try_for_each(|member| collect(member, depth + 1, sizes, numbers))
}

/// Checks that an object that is no number here is no integer either.
///
/// # Errors
/// An integer beyond the largest type.
fn check_fits(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let Some(bits) = too_many_bits(object) else { return Ok(()) };
    Err(PyValueError::new_err(format!(
        "an integer of {bits} bits does not fit int64, which has 63 and a sign; an array of uint64 can be copied"
    )))
}

fn ragged(depth: usize) -> PyErr {
    PyValueError::new_err(format!("nested lists at depth {depth} have different lengths"))
}

/// A tensor of the type that such numbers have in PyTorch; in double precision, which is Python's, if it is to be
/// converted to a given type.
fn of_numbers(numbers: &[Scalar], sizes: &[i64], is_converted: bool) -> torch_library::Result<Tensor> {
    let is = |kind: fn(&Scalar) -> bool| numbers.iter().any(kind);
    if is(|number| matches!(number, Scalar::Complex(_))) {
        match is_converted {
            true => made::<Complex<f64>>(numbers, sizes),
            false => made::<Complex<f32>>(numbers, sizes),
        }
    } else if numbers.is_empty() || is(|number| matches!(number, Scalar::Float(_))) {
        if is_converted { made::<f64>(numbers, sizes) } else { made::<f32>(numbers, sizes) }
    } else if is(|number| matches!(number, Scalar::Int(_))) {
        made::<i64>(numbers, sizes)
    } else {
        made::<bool>(numbers, sizes)
    }
}

fn made<T: Element>(numbers: &[Scalar], sizes: &[i64]) -> torch_library::Result<Tensor> {
    Tensor::from_vec(numbers.iter().map(|number| number.cast::<T>()).collect(), sizes)
}
