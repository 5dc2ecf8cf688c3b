//! The class `Tensor`, with its basic properties.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use torch_library::{MemoryFormat, Tensor};

use crate::error::exception;
use crate::kinds::{PyDType, PyDevice, PyLayout, PyMemoryFormat, dtype_object};

/// A multi-dimensional array of numbers. Operators with an argument `self` are its methods: `x.sum(dim=0)`.
///
/// It shares memory with NumPy and others: `from_numpy(a)`, `x.numpy()`, `numpy.asarray(x)`, `from_dlpack(a)`.
#[pyclass(frozen, weakref, name = "Tensor", module = "torch_library")]
#[derive(Debug)]
pub(crate) struct PyTensor(pub(crate) Tensor);

/// The maximum number of elements for which the GIL is kept: releasing it would take longer than the work.
pub(crate) const FEW: i64 = 2048;

/// Runs work that does not need Python, and releases the GIL if the work takes long enough to be worth it.
pub(crate) fn unlocked<R: Send>(py: Python<'_>, numel: i64, work: impl FnOnce() -> R + Send) -> R {
    if numel > FEW { py.detach(work) } else { work() }
}

#[pymethods]
impl PyTensor {
    /// The size of each dimension.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.sizes())
    }

    /// The type of the elements.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyDType>> {
        dtype_object(py, self.0.dtype())
    }

    /// The device of the elements.
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.0.device())
    }

    /// The data structure of the elements.
    #[getter]
    fn layout(&self) -> PyLayout {
        PyLayout(torch_library::Layout::Strided)
    }

    /// The stride of each dimension, in elements.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.strides())
    }

    /// The number of dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.0.dim()
    }

    /// The size of an element in bytes.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.dtype().size()
    }

    /// The size of all elements in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        (self.0.numel() as usize).saturating_mul(self.0.dtype().size())
    }

    /// The number of dimensions.
    fn dim(&self) -> usize {
        self.0.dim()
    }

    /// The number of elements.
    fn numel(&self) -> i64 {
        self.0.numel()
    }

    /// The sizes, or the size of one dimension.
    #[pyo3(signature = (dim=None))]
    fn size(&self, py: Python<'_>, dim: Option<i64>) -> PyResult<Py<PyAny>> {
        match dim {
            Some(dim) => self.0.size(dim).map_err(exception)?.into_py_any(py),
            None => self.shape(py)?.into_py_any(py),
        }
    }

    /// The strides, or the stride of one dimension.
    #[pyo3(signature = (dim=None))]
    fn stride(&self, py: Python<'_>, dim: Option<i64>) -> PyResult<Py<PyAny>> {
        let Some(dim) = dim else { return self.strides(py)?.into_py_any(py) };
        self.0.size(dim).map_err(exception)?; // a tensor without dimensions has no stride either
        let dim = torch_library::geometry::wrap_dim(dim, self.0.dim()).map_err(exception)?;
        self.0.strides()[dim].into_py_any(py)
    }

    /// The index of the first element in the storage, in elements.
    fn storage_offset(&self) -> i64 {
        self.0.storage_offset()
    }

    /// Whether the elements are contiguous in a memory format.
    #[pyo3(signature = (memory_format=None))]
    fn is_contiguous(&self, memory_format: Option<&Bound<'_, PyMemoryFormat>>) -> bool {
        let format = memory_format.map_or(MemoryFormat::Contiguous, |format| format.get().0);
        self.0.is_contiguous(format)
    }

    /// Whether both tensors share one block of memory.
    fn shares_memory_with(&self, other: &Bound<'_, PyTensor>) -> bool {
        self.0.shares_storage_with(&other.get().0)
    }

    /// The version counter: how often the memory was written in place.
    #[getter]
    fn _version(&self) -> u64 {
        self.0.version()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.to_string()).replace("torch.", "torch_library.")
    }

    fn __hash__(&self) -> isize {
        self.0.id() as isize
    }
}
