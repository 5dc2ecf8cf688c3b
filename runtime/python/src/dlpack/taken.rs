//! Tensors from capsules, whose addresses are tested before they are used.
#![expect(unsafe_code, reason = "structures behind pointers, and functions that free them")]

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use torch_library::geometry::{Geometry, contiguous_strides};
use torch_library::{DType, Scalar, Tensor};
use torch_library_kernels::aten;
use torch_library_kernels::data::dlpack::{
    RawDevice, RawManagedTensor, RawManagedTensorVersioned, RawTensor,
};

use super::form::Form;
use crate::error::exception;
use crate::readable::is_readable;
use crate::shared::{Elements, over};

/// The tensor in a capsule, which is consumed.
pub(super) fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<Tensor> {
    if let Ok(managed) = capsule.pointer_checked(Some(RawManagedTensor::NAME)) {
        return take_form::<RawManagedTensor>(capsule, managed.cast());
    }
    if let Ok(managed) = capsule.pointer_checked(Some(RawManagedTensorVersioned::NAME)) {
        return take_form::<RawManagedTensorVersioned>(capsule, managed.cast());
    }
    Err(PyValueError::new_err("the capsule is no DLPack tensor, or one that somebody has taken already"))
}

fn take_form<F: Form>(capsule: &Bound<'_, PyCapsule>, managed: NonNull<F>) -> PyResult<Tensor> {
    check_readable(managed.as_ptr().addr(), size_of::<F>())?;
    if !managed.is_aligned() {
        return Err(PyValueError::new_err(format!(
            "DLPack's structure is at {managed:?}, which is no multiple of 8"
        )));
    }
    // SAFETY: the address of the structure is readable memory, and a capsule with this name contains one.
    let form = unsafe { managed.as_ref() };
    form.check()?;
    let (Said { data, sizes, strides, dtype }, read_only) = (read(form.tensor())?, form.is_read_only());
    let keeper = adopt(capsule, managed)?;
    let as_bytes = if dtype == DType::Bool { DType::UInt8 } else { dtype };
    let elements = Elements { start: data, sizes: &sizes, strides: &strides, dtype: as_bytes, block: None };
    // SAFETY: the capsule's producer promises that the elements exist until its deleter is called, which is when the
    // keeper is dropped; bytes of booleans are read as numbers, and copied. The guide tells users the rule for other
    // code that uses them.
    let shared = unsafe { over(&elements, keeper) }.map_err(exception)?;
    match (dtype, read_only) {
        (DType::Bool, _) => aten::ne_Scalar(&shared, Scalar::Int(0)).map_err(exception),
        (_, true) => aten::clone(&shared).map_err(exception),
        _ => Ok(shared),
    }
}

fn check_readable(start: usize, len: usize) -> PyResult<()> {
    if is_readable(start, len) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("DLPack says that {len} bytes are at {start:#x}, where no memory is")))
}

/// The description of a tensor in a capsule, once its addresses were tested.
struct Said {
    data: *mut c_void,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    dtype: DType,
}

fn read(raw: &RawTensor) -> PyResult<Said> {
    let RawDevice { device_type, .. } = raw.device;
    if device_type != RawDevice::CPU.device_type {
        return Err(PyBufferError::new_err(format!(
            "DLPack memory of device type {device_type}, only 1, the CPU, is taken"
        )));
    }
    let dtype = raw.dtype.dtype().map_err(|error| PyTypeError::new_err(error.to_string()))?;
    let ndim = usize::try_from(raw.ndim).ok().filter(|ndim| *ndim <= torch_library::limits::DIMENSIONS);
    let ndim = ndim.ok_or_else(|| says(format!("there are {} dimensions", raw.ndim)))?;
    let sizes = list(raw.shape, ndim)?;
    if let Some(size) = sizes.iter().find(|size| **size < 0) {
        return Err(says(format!("a dimension has the size {size}")));
    }
    let strides = match raw.strides.is_null() {
        true => contiguous_strides(&sizes).to_vec(),
        false => list(raw.strides, ndim)?,
    };
    if let Some(stride) = strides.iter().find(|stride| **stride < 0) {
        return Err(says(format!("a dimension has the stride {stride}, negative ones are not supported")));
    }
    let geometry = Geometry::new(&sizes, &strides, 0).map_err(exception)?;
    let data = raw.data.wrapping_byte_add(raw.byte_offset as usize);
    if geometry.numel() > 0 {
        let end = geometry.end().map_err(exception)?;
        let nbytes = usize::try_from(end).ok().and_then(|end| end.checked_mul(dtype.size()));
        match nbytes {
            Some(nbytes) if !raw.data.is_null() => check_readable(data.addr(), nbytes)?,
            _ => return Err(says(format!("sizes {sizes:?} of {dtype} are at {:?}", raw.data))),
        }
    }
    Ok(Said { data, sizes, strides, dtype })
}

fn says(what: String) -> PyErr {
    PyValueError::new_err(format!("DLPack says that {what}"))
}

fn list(numbers: *const i64, count: usize) -> PyResult<Vec<i64>> {
    check_readable(numbers.addr(), count * size_of::<i64>())?;
    // SAFETY: there is readable memory for `count` numbers, which DLPack stores there; no reference to them is kept.
    Ok((0..count).map(|index| unsafe { numbers.add(index).read_unaligned() }).collect())
}

/// Consumes a capsule's tensor, so that no other code does, and returns an object that frees it.
fn adopt<F: Form>(capsule: &Bound<'_, PyCapsule>, managed: NonNull<F>) -> PyResult<Py<PyAny>> {
    let py = capsule.py();
    // SAFETY: the name is a constant, and the object is a capsule.
    if unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), F::USED.as_ptr()) } != 0 {
        return Err(PyErr::fetch(py));
    }
    let managed = managed.as_ptr().cast();
    // SAFETY: the pointer is not null, the name is a constant, and the destructor is made for these capsules.
    let owned = unsafe { ffi::PyCapsule_New(managed, OWNED.as_ptr(), Some(free_owned::<F>)) };
    // SAFETY: a new reference, or null with an exception.
    unsafe { Bound::from_owned_ptr_or_err(py, owned) }.map(Bound::unbind)
}

/// The name of capsules that free the structure passed to them.
const OWNED: &CStr = c"torch_library.owned";

/// # Safety
/// - The capsule was made by `adopt` for this form, and is being freed.
unsafe extern "C" fn free_owned<F: Form>(capsule: *mut ffi::PyObject) {
    // SAFETY: the capsule has this name, so this is the pointer that `adopt` stored in it.
    let managed = unsafe { ffi::PyCapsule_GetPointer(capsule, OWNED.as_ptr()) }.cast::<F>();
    // SAFETY: `adopt` took the structure from its producer, so it exists and is ours to free.
    if let Some(deleter) = unsafe { managed.as_ref() }.and_then(Form::deleter) {
        // SAFETY: the structure belongs to its producer, whose function this is, and a capsule is freed only once.
        unsafe { deleter(managed) };
    }
}
