//! Elements as Python objects: `item`, `tolist`, `float(x)`, `for row in x`.

use std::ops::Range;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use torch_library::{Scalar, Tensor, match_dtype};
use torch_library_kernels::aten;

use crate::element::{check_length, of_scalar};
use crate::error::exception;
use crate::result;
use crate::tensor::{PyTensor, unlocked};

impl PyTensor {
    fn number(&self) -> PyResult<Scalar> {
        self.0.item().map_err(exception)
    }
}

#[pymethods]
impl PyTensor {
    /// The element of a tensor with one element, as a Python number.
    fn item(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        of_scalar(py, self.number()?)
    }

    /// All elements, as nested lists of numbers.
    fn tolist(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let tensor = &self.0;
        check_length(tensor.sizes())?;
        let scalars = unlocked(py, tensor.numel(), || elements(tensor)).map_err(exception)?;
        let mut scalars = scalars.into_iter();
        nested(py, tensor.sizes(), &mut scalars)
    }

    fn __bool__(&self) -> PyResult<bool> {
        Ok(match self.number()? {
            Scalar::Bool(value) => value,
            Scalar::Int(value) => value != 0,
            Scalar::Float(value) => value != 0.0,
            Scalar::Complex(value) => value.re != 0.0 || value.im != 0.0,
        })
    }

    fn __float__(&self) -> PyResult<f64> {
        self.number()?.to().map_err(exception)
    }

    fn __int__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.item(py)?.bind(py).call_method0("__int__").map(Bound::unbind)
    }

    fn __complex__(&self) -> PyResult<num_complex::Complex64> {
        self.number()?.to().map_err(exception)
    }

    /// For tensors with one integer, which Python accepts as an integer.
    fn __index__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self.number()? {
            number @ Scalar::Int(_) => of_scalar(py, number),
            _ => Err(PyTypeError::new_err(format!("a tensor of {} is no whole number", self.0.dtype()))),
        }
    }

    fn __len__(&self) -> PyResult<usize> {
        match self.0.sizes().first() {
            Some(size) => Ok(*size as usize),
            None => Err(PyTypeError::new_err("a tensor without dimensions has no length")),
        }
    }

    fn __iter__(&self) -> PyResult<Rows> {
        match self.0.sizes().first() {
            Some(size) => Ok(Rows { tensor: self.0.clone(), left: 0..*size }),
            None => Err(PyTypeError::new_err("a tensor without dimensions has no parts to iterate over")),
        }
    }
}

/// The parts of a tensor along its first dimension, each made when it is asked for: an expanded tensor has more of them
/// than memory has room for.
#[pyclass(name = "Rows", module = "torch_library")]
struct Rows {
    tensor: Tensor,
    left: Range<i64>,
}

#[pymethods]
impl Rows {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Some(row) = self.left.next() else { return Ok(None) };
        result::tensor(py, aten::select_int(&self.tensor, 0, row).map_err(exception)?).map(Some)
    }

    fn __length_hint__(&self) -> usize {
        self.left.end.saturating_sub(self.left.start) as usize
    }
}

fn elements(tensor: &Tensor) -> torch_library::Result<Vec<Scalar>> {
    match_dtype!(tensor.dtype(), T => {
        tensor.elements::<T>()?.iter().map(Scalar::from_element).collect()
    })
}

fn nested(py: Python<'_>, sizes: &[i64], scalars: &mut impl Iterator<Item = Scalar>) -> PyResult<Py<PyAny>> {
    let Some((size, inner)) = sizes.split_first() else {
        return scalars.next().map_or_else(|| Ok(py.None()), |number| of_scalar(py, number));
    };
    let members = (0..*size).map(|_| nested(py, inner, scalars));
    Ok(PyList::new(py, members.collect::<PyResult<Vec<_>>>()?)?.into_any().unbind())
}
