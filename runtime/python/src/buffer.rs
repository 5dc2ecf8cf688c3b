//! Memory that is shared with NumPy and others: in through `from_numpy`, out through the buffer protocol.
#![expect(unsafe_code, reason = "the buffer protocol, which hands out addresses")]

use std::ffi::{c_int, c_void};
use std::ptr;

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use torch_library::{DType, Device, Lease, Tensor};

use crate::error::exception;
use crate::format::format_of;
use crate::held::Held;
use crate::layout::{copied, layout};
use crate::owner::lock;
use crate::shared::{self, over};
use crate::tensor::PyTensor;

/// A tensor over the memory of an array, without a copy: writes to one are visible in the other. Booleans are copied,
/// since an array may have bytes other than 0 and 1.
#[pyfunction]
pub(crate) fn from_numpy(array: &Bound<'_, PyAny>) -> PyResult<PyTensor> {
    let buffer = buffer_of(array)?;
    let layout = layout(&buffer)?;
    if layout.dtype == DType::Bool {
        return copied(&buffer).map(PyTensor);
    }
    if layout.readonly {
        return Err(PyValueError::new_err(
            "the array is read-only, and a tensor over it could be written to; `torch_library.tensor(array)` copies it",
        ));
    }
    let (keeper, block) = lock(array)?;
    // SAFETY:
    // * the array's elements stay at these addresses while the keeper has its buffer, which also prevents a resize, see
    //   `lock`; so does the owner's block. Arrays that were never written have whatever the allocator left: for Rust,
    //   bytes that come from foreign code are some value.
    // * the guide tells users the rule.
    unsafe { over(&layout.elements(layout.dtype, block), keeper) }.map(PyTensor).map_err(exception)
}

fn buffer_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Held<'py>> {
    Held::of(object).map_err(|error| {
        let text = format!("{} has no buffer to share: {error}", object.get_type());
        PyTypeError::new_err(text)
    })
}

/// Memory that is lent.
pub(crate) struct Loan {
    /// The address of the first element.
    pub(crate) start: *mut c_void,
    /// A tensor of our own over the elements, which other handles cannot resize.
    pub(crate) tensor: Tensor,
    /// The tensor by which the block is known, see [`shared::lend`].
    _known: Tensor,
}

/// The data of an exported buffer, with its lists.
struct Lent {
    _loan: Loan,
    sizes: Vec<ffi::Py_ssize_t>,
    strides: Vec<ffi::Py_ssize_t>,
}

/// Lends the memory of a tensor for as long as the result lives.
pub(crate) fn lend(tensor: &Tensor) -> torch_library::Result<Loan> {
    torch_library::ensure!(
        tensor.device() == Device::CPU,
        Device,
        "a tensor on {} has no memory that Python could share, `x.to(\"cpu\")` has",
        tensor.device()
    );
    torch_library::ensure!(
        !tensor.requires_grad(),
        Autograd,
        "what is written to shared memory has no gradient; `x.detach()` can be shared"
    );
    let lease = Lease::new([], [tensor])?;
    let geometry = tensor.geometry();
    let own = tensor.strided_view(geometry.sizes(), geometry.strides(), geometry.offset())?;
    let known = shared::lend(&own);
    Ok(Loan { start: tensor.address(&lease)?.cast_mut().cast(), tensor: own, _known: known })
}

/// Whether the elements lie as a consumer's flags ask for. One that asks for elements side by side reads them without
/// strides.
fn is_as_asked(tensor: &Tensor, flags: c_int) -> bool {
    let asks = |bits: c_int| flags & bits == bits;
    let rows = || tensor.is_contiguous(torch_library::MemoryFormat::Contiguous);
    let columns = || {
        let mut next = 1i64;
        let mut dimensions = tensor.sizes().iter().zip(tensor.strides()).filter(|(size, _)| **size != 1);
        let is_next = |(size, stride): (&i64, &i64)| {
            let expected = next;
            next = next.saturating_mul(*size);
            *stride == expected
        };
        tensor.numel() == 0 || dimensions.all(is_next)
    };
    (asks(ffi::PyBUF_STRIDES) || rows())
        && (!asks(ffi::PyBUF_C_CONTIGUOUS) || rows())
        && (!asks(ffi::PyBUF_F_CONTIGUOUS) || columns())
        && (!asks(ffi::PyBUF_ANY_CONTIGUOUS) || rows() || columns())
}

#[pymethods]
impl PyTensor {
    /// A NumPy array over the same memory. An array of booleans is read-only.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let tensor = &slf.get().0;
        if format_of(tensor.dtype()).is_none() {
            let text = format!("NumPy has no {}, `x.to(torch_library.float32)` has", tensor.dtype());
            return Err(PyTypeError::new_err(text));
        }
        lend(tensor).map_err(exception)?;
        let view = pyo3::types::PyMemoryView::from(slf.as_any())?;
        slf.py().import("numpy")?.call_method1("asarray", (view,))
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, array) = (slf.py(), PyTensor::numpy(slf)?);
        let options = PyDict::new(py);
        options.set_item("dtype", dtype)?;
        options.set_item("copy", copy)?;
        py.import("numpy")?.call_method("array", (array,), Some(&options))
    }

    /// # Safety
    /// - Called by Python: `view` is a structure to fill.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let tensor = &slf.get().0;
        let dtype = tensor.dtype();
        let refuse = |text: String| Err(PyBufferError::new_err(text));
        let Some(format) = format_of(dtype) else {
            return refuse(format!(
                "NumPy and the buffer protocol have no {dtype}, `x.to(torch_library.float32)` has"
            ));
        };
        let readonly = dtype == DType::Bool;
        if readonly && flags & ffi::PyBUF_WRITABLE != 0 {
            return refuse(
                "memory of booleans is lent to be read, since a byte that is no boolean may not be written"
                    .into(),
            );
        }
        let loan = lend(tensor).map_err(|error| PyBufferError::new_err(error.to_string()))?;
        let (start, own) = (loan.start, &loan.tensor);
        let size = dtype.size() as ffi::Py_ssize_t;
        if !is_as_asked(own, flags) {
            return refuse("the elements have strides, and who asks for them wants them side by side".into());
        }
        let mut lent = Box::new(Lent {
            sizes: own.sizes().iter().map(|size| *size as ffi::Py_ssize_t).collect(),
            // One that exceeds its type leads nowhere: a tensor in memory has at most one element along it.
            strides: own
                .strides()
                .iter()
                .map(|stride| (*stride as ffi::Py_ssize_t).saturating_mul(size))
                .collect(),
            _loan: loan,
        });
        let numel = lent.sizes.iter().try_fold(1, |numel: ffi::Py_ssize_t, size| numel.checked_mul(*size));
        // Who copies the elements trusts the length.
        let Some(len) =
            (if lent.sizes.contains(&0) { Some(0) } else { numel.and_then(|n| n.checked_mul(size)) })
        else {
            return refuse(format!("{} elements have more bytes than a buffer can have", tensor.numel()));
        };
        // SAFETY: Python passes a structure to fill. Its pointers lead into `lent`, which `internal` keeps alive until
        // `__releasebuffer__`, and to elements, which live as long as the tensor in it.
        unsafe {
            (*view).buf = start;
            (*view).len = len;
            (*view).itemsize = size;
            (*view).readonly = c_int::from(readonly);
            (*view).ndim = lent.sizes.len() as c_int;
            (*view).format =
                if flags & ffi::PyBUF_FORMAT != 0 { format.as_ptr().cast_mut() } else { ptr::null_mut() };
            (*view).shape =
                if flags & ffi::PyBUF_ND != 0 { lent.sizes.as_mut_ptr() } else { ptr::null_mut() };
            let wants_strides = flags & ffi::PyBUF_STRIDES == ffi::PyBUF_STRIDES;
            (*view).strides = if wants_strides { lent.strides.as_mut_ptr() } else { ptr::null_mut() };
            (*view).suboffsets = ptr::null_mut();
            (*view).internal = Box::into_raw(lent).cast();
            (*view).obj = slf.into_any().into_ptr();
        }
        Ok(())
    }

    /// # Safety
    /// - Called by Python: once for each view that `__getbuffer__` filled.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: `internal` is the box that `__getbuffer__` stored there, and Python releases a view only once.
        drop(unsafe { Box::from_raw((*view).internal.cast::<Lent>()) });
    }
}
