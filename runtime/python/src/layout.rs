//! The position of a buffer's elements, and copies of them.
#![expect(unsafe_code, reason = "reads memory that an object of Python's says it has")]

use std::ffi::c_void;
use std::iter;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use torch_library::geometry::contiguous_strides;
use torch_library::{DType, Result, Scalar, Tensor};
use torch_library_kernels::aten;

use crate::error::exception;
use crate::format::{dtype_of, names};
use crate::held::Held;
use crate::shared::{Elements, alone};

/// The position of a buffer's elements.
pub(crate) struct BufferLayout {
    start: *mut c_void,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    pub(crate) dtype: DType,
    pub(crate) readonly: bool,
}

impl BufferLayout {
    pub(crate) fn elements(&self, dtype: DType, block: Option<(usize, usize)>) -> Elements<'_> {
        Elements { start: self.start, sizes: &self.sizes, strides: &self.strides, dtype, block }
    }

    fn is_aligned(&self) -> bool {
        self.start.addr().is_multiple_of(self.dtype.align()) || self.sizes.contains(&0)
    }

    /// The same elements as bytes, along a last dimension.
    fn bytes(&self) -> BufferLayout {
        let size = self.dtype.size() as i64;
        BufferLayout {
            start: self.start,
            sizes: self.sizes.iter().copied().chain(iter::once(size)).collect(),
            // One that exceeds its type leads nowhere, as in `__getbuffer__`.
            strides: self
                .strides
                .iter()
                .map(|stride| stride.saturating_mul(size))
                .chain(iter::once(1))
                .collect(),
            dtype: DType::UInt8,
            readonly: self.readonly,
        }
    }
}

/// The position of the elements in an object's buffer.
pub(crate) fn layout(buffer: &Held<'_>) -> PyResult<BufferLayout> {
    let (format, size) = (buffer.format(), buffer.item_size());
    let Some(dtype) = dtype_of(format, size) else {
        return Err(PyTypeError::new_err(format!(
            "elements of the format {format:?} with {size} bytes are not supported; supported are {}",
            names()
        )));
    };
    if buffer.has_suboffsets() {
        return Err(PyValueError::new_err("a buffer of pointers to pointers has no strides"));
    }
    if buffer.sizes().len() != buffer.strides().len() {
        return Err(PyValueError::new_err("a buffer without strides"));
    }
    let strides = buffer.strides().iter().map(|bytes| {
        let bytes = *bytes as i64;
        match bytes % size as i64 {
            0 if bytes >= 0 => Ok(bytes / size as i64),
            _ => Err(PyValueError::new_err(format!(
                "strides of {:?} bytes are negative, or no multiples of an element's {size}; copy the array first",
                buffer.strides()
            ))),
        }
    });
    Ok(BufferLayout {
        start: buffer.start(),
        strides: strides.collect::<PyResult<_>>()?,
        sizes: buffer.sizes().iter().map(|size| *size as i64).collect(),
        dtype,
        readonly: buffer.is_readonly(),
    })
}

/// A separate tensor with a copy of a buffer's elements.
pub(crate) fn copied(buffer: &Held<'_>) -> PyResult<Tensor> {
    let layout = layout(buffer)?;
    // SAFETY: the buffer is held until this returns, and so is the GIL.
    unsafe { copy(&layout) }.map_err(exception)
}

/// # Safety
/// - The buffer that has this layout is held, and its elements are not written meanwhile.
unsafe fn copy(layout: &BufferLayout) -> Result<Tensor> {
    if !layout.is_aligned() {
        // SAFETY: these are the bytes of the same elements.
        let bytes = aten::contiguous(&unsafe { copy(&layout.bytes()) }?)?;
        let (sizes, keys) = (&layout.sizes, bytes.key_set());
        let strides = contiguous_strides(sizes);
        return Tensor::from_storage(bytes.storage().clone(), sizes, &strides, 0, layout.dtype, keys);
    }
    // One byte for each boolean, where any byte but 0 is true.
    let dtype = if layout.dtype == DType::Bool { DType::UInt8 } else { layout.dtype };
    // SAFETY: the caller promises that the elements exist and are not written until the copy is made, which is when the
    // tensor is dropped. Bytes of booleans are read as numbers.
    let shared = unsafe { alone(&layout.elements(dtype, None)) }?;
    match layout.dtype {
        DType::Bool => aten::ne_Scalar(&shared, Scalar::Int(0)),
        _ => aten::clone(&shared),
    }
}
