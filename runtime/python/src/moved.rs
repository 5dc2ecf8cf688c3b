//! `x.to(…)`: to a type, to a device, or to those of another tensor.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use torch_library_kernels::aten;

use crate::error::exception;
use crate::kinds::{PyMemoryFormat, device as device_of, dtype as dtype_of};
use crate::result;
use crate::tensor::{PyTensor, unlocked};

#[pymethods]
impl PyTensor {
    /// The tensor with another element type or device, or with those of another tensor; `self` if nothing changes.
    #[pyo3(signature = (target=None, dtype=None, *, device=None, non_blocking=false, copy=false, memory_format=None))]
    fn to(
        slf: &Bound<'_, Self>,
        target: Option<&Bound<'_, PyAny>>,
        dtype: Option<&Bound<'_, PyAny>>,
        device: Option<&Bound<'_, PyAny>>,
        non_blocking: bool,
        copy: bool,
        memory_format: Option<&Bound<'_, PyMemoryFormat>>,
    ) -> PyResult<Py<PyAny>> {
        let wrong =
            |what: &str, object: &Bound<'_, PyAny>| PyTypeError::new_err(format!("{object} names no {what}"));
        let mut to_dtype =
            dtype.map(|object| dtype_of(object).ok_or_else(|| wrong("dtype", object))).transpose()?;
        let mut to_device =
            device.map(|object| device_of(object).ok_or_else(|| wrong("device", object))).transpose()?;
        if let Some(target) = target {
            if let Ok(other) = target.cast_exact::<PyTensor>() {
                (to_dtype, to_device) = (Some(other.get().0.dtype()), Some(other.get().0.device()));
            } else if let Some(device) = device_of(target) {
                to_device = Some(device);
            } else {
                to_dtype = Some(dtype_of(target).ok_or_else(|| wrong("dtype or device", target))?);
            }
        }
        let this = &slf.get().0;
        let format = memory_format.map(|format| format.get().0);
        let moved = unlocked(slf.py(), this.numel(), || {
            let call = aten::to_dtype_layout::with(this).dtype(to_dtype).device(to_device);
            call.non_blocking(non_blocking).copy(copy).memory_format(format).call()
        });
        let moved = moved.map_err(exception)?;
        if moved.is_same(this) {
            Ok(slf.clone().into_any().unbind())
        } else {
            result::tensor(slf.py(), moved)
        }
    }
}
