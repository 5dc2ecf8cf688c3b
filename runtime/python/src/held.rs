//! A buffer of a Python object, which is held as long as this lives.
#![expect(unsafe_code, reason = "the buffer protocol of C")]

use std::ffi::{CStr, c_void};

use pyo3::ffi;
use pyo3::prelude::*;

/// The description of an object's memory. pyo3's own type refuses buffers without dimensions, such as those of NumPy
/// scalars.
pub(crate) struct Held<'py> {
    view: Box<ffi::Py_buffer>,
    _py: Python<'py>,
}

impl<'py> Held<'py> {
    /// Gets an object's buffer, with strides, for reading.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: `object` is a valid object, and `view` a structure to fill, which does not move until it is released.
        match unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut *view, ffi::PyBUF_FULL_RO) } {
            0 => Ok(Held { view, _py: object.py() }),
            _ => Err(PyErr::fetch(object.py())),
        }
    }

    pub(crate) fn start(&self) -> *mut c_void {
        self.view.buf
    }

    pub(crate) fn is_readonly(&self) -> bool {
        self.view.readonly != 0
    }

    pub(crate) fn item_size(&self) -> usize {
        usize::try_from(self.view.itemsize).unwrap_or(0)
    }

    pub(crate) fn has_suboffsets(&self) -> bool {
        !self.view.suboffsets.is_null()
    }

    pub(crate) fn format(&self) -> &CStr {
        // SAFETY: the format of a filled buffer ends in zero and lives as long as the buffer, or is null, which means
        // bytes.
        if self.view.format.is_null() { c"B" } else { unsafe { CStr::from_ptr(self.view.format) } }
    }

    pub(crate) fn sizes(&self) -> &[ffi::Py_ssize_t] {
        self.list(self.view.shape)
    }

    /// The strides, in bytes.
    pub(crate) fn strides(&self) -> &[ffi::Py_ssize_t] {
        self.list(self.view.strides)
    }

    /// The address range from the lowest byte of an element to the end of the highest; `None` if there are no elements.
    pub(crate) fn extent(&self) -> Option<(usize, usize)> {
        let (mut low, mut high) = (0isize, self.view.itemsize);
        for (size, stride) in self.sizes().iter().zip(self.strides()) {
            let reach = size.checked_sub(1).filter(|last| *last >= 0)?.checked_mul(*stride)?;
            if reach < 0 { low = low.checked_add(reach)? } else { high = high.checked_add(reach)? }
        }
        let start = self.view.buf.addr();
        Some((start.checked_add_signed(low)?, start.checked_add_signed(high)?))
    }

    fn list(&self, start: *const ffi::Py_ssize_t) -> &[ffi::Py_ssize_t] {
        let ndim = usize::try_from(self.view.ndim).unwrap_or(0);
        if ndim == 0 || start.is_null() {
            return &[];
        }
        // SAFETY: a buffer that was filled as requested has `ndim` sizes and strides, which live as long as the buffer.
        unsafe { std::slice::from_raw_parts(start, ndim) }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // SAFETY: the object filled this buffer, at this address, and it is released only once; Python is attached, see
        // `_py`.
        unsafe { ffi::PyBuffer_Release(&raw mut *self.view) };
    }
}
