//! Conversions of elements and numbers between Rust and Python.

use num_complex::Complex64;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};
use torch_library::Scalar;

/// The number of a Python number, or of a NumPy scalar, which has a method for it. A tensor is not a number here.
pub(crate) fn number(value: &Bound<'_, PyAny>) -> Option<Scalar> {
    if let Ok(value) = value.cast_exact::<PyFloat>() {
        return Some(Scalar::Float(value.value()));
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Some(Scalar::Bool(value.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return value.extract().ok().map(Scalar::Int);
    }
    if let Ok(value) = value.cast::<PyFloat>() {
        return Some(Scalar::Float(value.value()));
    }
    if value.is_instance_of::<PyComplex>() {
        return value.extract::<Complex64>().ok().map(Scalar::Complex);
    }
    of_numpy(value)
}

/// The number of a NumPy scalar.
fn of_numpy(value: &Bound<'_, PyAny>) -> Option<Scalar> {
    let class = value.get_type();
    if class.module().ok()?.to_str().ok()? != "numpy" || value.hasattr("__len__").ok()? && value.len().is_ok()
    {
        return None;
    }
    match class.name().ok()?.to_str().ok()?.trim_end_matches('_') {
        "bool" => value.is_truthy().ok().map(Scalar::Bool),
        name if name.starts_with("int") || name.starts_with("uint") => value.extract().ok().map(Scalar::Int),
        name if name.starts_with("float") => value.extract().ok().map(Scalar::Float),
        name if name.starts_with("complex") => value.extract::<Complex64>().ok().map(Scalar::Complex),
        _ => None,
    }
}

/// The number of bits of an integer that is no [`number`] because it does not fit.
pub(crate) fn too_many_bits(object: &Bound<'_, PyAny>) -> Option<u64> {
    let integer = object.call_method0("__index__").ok()?;
    let is_beyond = integer.is_instance_of::<PyInt>() && integer.extract::<i64>().is_err();
    if is_beyond { integer.call_method0("bit_length").ok()?.extract().ok() } else { None }
}

/// A number as a Python object.
pub(crate) fn of_scalar(py: Python<'_>, number: Scalar) -> PyResult<Py<PyAny>> {
    match number {
        Scalar::Int(value) => value.into_py_any(py),
        Scalar::Float(value) => value.into_py_any(py),
        Scalar::Bool(value) => value.into_py_any(py),
        Scalar::Complex(value) => value.into_py_any(py),
    }
}

/// The maximum number of elements that are converted to or from nested lists.
const MAX_LIST: i64 = 1 << 27;

/// Checks how many members nested lists of these sizes have.
///
/// # Errors
/// More than a program could want, be they elements or empty lists.
pub(crate) fn check_length(sizes: &[i64]) -> PyResult<()> {
    let members =
        sizes.iter().take_while(|size| **size > 0).fold(1i64, |members, size| members.saturating_mul(*size));
    if members <= MAX_LIST {
        return Ok(());
    }
    let what = if sizes.contains(&0) { "lists" } else { "elements" };
    Err(PyTypeError::new_err(format!("{members} {what} are too many for a list")))
}
