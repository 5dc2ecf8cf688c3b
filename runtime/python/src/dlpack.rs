//! DLPack: `from_dlpack(x)` and `x.__dlpack__()`, both with and without versioned capsules.

mod form;
mod lent;
mod taken;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use torch_library::{DType, Result, Tensor};
use torch_library_kernels::aten;
use torch_library_kernels::data::dlpack::{
    READ_ONLY, RawDevice, RawManagedTensor, RawManagedTensorVersioned,
};

use crate::buffer::lend;
use crate::error::exception;
use crate::tensor::PyTensor;
use form::IS_COPIED;

/// The CPU, as DLPack's device type and index.
const CPU: (i32, i32) = (RawDevice::CPU.device_type, RawDevice::CPU.device_id);

/// A tensor over the memory of an object with `__dlpack__`, without a copy, except for read-only memory and booleans.
#[pyfunction]
pub(crate) fn from_dlpack(object: &Bound<'_, PyAny>) -> PyResult<PyTensor> {
    if let Ok(tensor) = object.cast_exact::<PyTensor>() {
        return aten::alias(&tensor.get().0).map(PyTensor).map_err(exception);
    }
    let capsule = if object.is_instance_of::<PyCapsule>() { object.clone() } else { ask(object)? };
    let Ok(capsule) = capsule.cast_into::<PyCapsule>() else {
        return Err(PyTypeError::new_err("`__dlpack__` returned something that is no capsule"));
    };
    taken::take(&capsule).map(PyTensor)
}

/// A copy for another library. One of booleans is a tensor of bytes here, so that the library may write any byte.
fn copied(tensor: &Tensor) -> Result<Tensor> {
    let copy = aten::clone(tensor)?;
    if copy.dtype() == DType::Bool { aten::view_dtype(&copy, DType::UInt8) } else { Ok(copy) }
}

fn ask<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let options = PyDict::new(object.py());
    options.set_item("max_version", (1, 1))?;
    match object.call_method("__dlpack__", (), Some(&options)) {
        // An older `__dlpack__` does not take the argument.
        Err(error) if error.is_instance_of::<PyTypeError>(object.py()) => object.call_method0("__dlpack__"),
        answer => answer,
    }
}

#[pymethods]
impl PyTensor {
    /// A capsule with this memory, for another library.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if stream.is_some() || dl_device.is_some_and(|device| device != CPU) {
            return Err(PyBufferError::new_err(
                "memory of the CPU is lent on the CPU, where there are no streams",
            ));
        }
        let dtype = self.0.dtype();
        let (tensor, flags) = match copy {
            Some(true) => (copied(&self.0).map_err(exception)?, IS_COPIED),
            _ => (self.0.clone(), if dtype == DType::Bool { READ_ONLY } else { 0 }),
        };
        let has_version = max_version.is_some_and(|(major, _)| major >= 1);
        if has_version {
            return lent::capsule::<RawManagedTensorVersioned>(py, &tensor, dtype, flags);
        }
        if flags & READ_ONLY != 0 {
            return Err(PyBufferError::new_err(
                "booleans are lent to be read, which DLPack can say from version 1.0 on: ask with `max_version`",
            ));
        }
        lent::capsule::<RawManagedTensor>(py, &tensor, dtype, flags)
    }

    /// The device of the memory: the CPU.
    fn __dlpack_device__(&self) -> PyResult<(i32, i32)> {
        lend(&self.0).map_err(exception)?;
        Ok(CPU)
    }
}
