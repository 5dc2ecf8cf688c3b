//! DLPack: `from_dlpack(x)`, `x.__dlpack__()`, of the versions with and without a number.
#![expect(unsafe_code, reason = "a C interface: structures behind pointers, and functions that free them")]

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use torch_library::geometry::{Geometry, contiguous_strides};
use torch_library::{DType, Scalar, Tensor};
use torch_library_kernels::aten;
use torch_library_kernels::data::dlpack::{Managed, RawDevice, RawManagedTensor, RawTensor, RawType};

use crate::buffer::lend;
use crate::error::exception;
use crate::readable::is_readable;
use crate::shared::{Elements, over};
use crate::tensor::PyTensor;

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    manager_ctx: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: RawTensor,
}

const READ_ONLY: u64 = 1;
const PLAIN: (&CStr, &CStr) = (c"dltensor", c"used_dltensor");
const VERSIONED: (&CStr, &CStr) = (c"dltensor_versioned", c"used_dltensor_versioned");

/// The types that both sides have: code, bits.
const TYPES: [(DType, u8, u8); 15] = [
    (DType::Bool, 6, 8),
    (DType::UInt8, 1, 8),
    (DType::UInt16, 1, 16),
    (DType::UInt32, 1, 32),
    (DType::UInt64, 1, 64),
    (DType::Int8, 0, 8),
    (DType::Int16, 0, 16),
    (DType::Int32, 0, 32),
    (DType::Int64, 0, 64),
    (DType::Float16, 2, 16),
    (DType::BFloat16, 4, 16),
    (DType::Float32, 2, 32),
    (DType::Float64, 2, 64),
    (DType::Complex64, 5, 64),
    (DType::Complex128, 5, 128),
];

/// A tensor over the memory of an object with `__dlpack__`, which is not copied; read-only memory and booleans are.
#[pyfunction]
pub(crate) fn from_dlpack(object: &Bound<'_, PyAny>) -> PyResult<PyTensor> {
    if let Ok(tensor) = object.cast_exact::<PyTensor>() {
        return aten::alias(&tensor.get().0).map(PyTensor).map_err(exception);
    }
    let capsule = if object.is_instance_of::<PyCapsule>() { object.clone() } else { ask(object)? };
    let Ok(capsule) = capsule.cast_into::<PyCapsule>() else {
        return Err(PyTypeError::new_err("`__dlpack__` returned something that is no capsule"));
    };
    take(&capsule).map(PyTensor)
}

fn ask<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let options = PyDict::new(object.py());
    options.set_item("max_version", (1, 1))?;
    match object.call_method("__dlpack__", (), Some(&options)) {
        // An older one does not know the question.
        Err(error) if error.is_instance_of::<PyTypeError>(object.py()) => object.call_method0("__dlpack__"),
        answer => answer,
    }
}

/// What a capsule says, after its addresses were tried.
struct Said {
    data: *mut c_void,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    dtype: DType,
}

fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<Tensor> {
    let plain = capsule.pointer_checked(Some(PLAIN.0)).ok();
    let versioned = capsule.pointer_checked(Some(VERSIONED.0)).ok();
    let (said, read_only, used) = match (plain, versioned) {
        (Some(managed), _) => {
            let managed = managed.cast::<RawManagedTensor>();
            check_readable(managed.as_ptr().addr(), size_of::<RawManagedTensor>())?;
            // SAFETY: there is memory for the structure, and a capsule of this name has one.
            (read(unsafe { &managed.as_ref().dl_tensor })?, false, PLAIN.1)
        }
        (_, Some(managed)) => {
            let managed = managed.cast::<Versioned>();
            check_readable(managed.as_ptr().addr(), size_of::<Versioned>())?;
            // SAFETY: there is memory for the structure, and a capsule of this name has one.
            let managed = unsafe { managed.as_ref() };
            if managed.major != 1 {
                return Err(PyBufferError::new_err(format!(
                    "DLPack of version {}, 1 is known",
                    managed.major
                )));
            }
            (read(&managed.tensor)?, managed.flags & READ_ONLY != 0, VERSIONED.1)
        }
        _ => {
            let text = "the capsule is no DLPack tensor, or one that somebody has taken already";
            return Err(PyValueError::new_err(text));
        }
    };
    let keeper = adopt(capsule, used)?;
    let dtype = if said.dtype == DType::Bool { DType::UInt8 } else { said.dtype };
    // SAFETY: the capsule's owner says that the elements are there until its deleter is called, which is when the
    // keeper is
    // dropped; bytes of booleans are looked at as numbers, and copied. The guide tells users the rule for others who
    // use them.
    let elements =
        Elements { start: said.data, sizes: &said.sizes, strides: &said.strides, dtype, block: None };
    // SAFETY: the capsule's owner says that the elements are there until its deleter is called, which is when the
    // keeper is
    // dropped; bytes of booleans are looked at as numbers, and copied. The guide tells users the rule for others who
    // use them.
    let shared = unsafe { over(&elements, keeper) }.map_err(exception)?;
    match (said.dtype, read_only) {
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

fn read(raw: &RawTensor) -> PyResult<Said> {
    let wrong = |text: String| Err(PyValueError::new_err(text));
    let RawDevice { device_type, .. } = raw.device;
    if device_type != 1 {
        return Err(PyBufferError::new_err(format!(
            "DLPack memory of device type {device_type}, only 1, the CPU, is taken"
        )));
    }
    let RawType { code, bits, lanes } = raw.dtype;
    let Some((dtype, ..)) = TYPES.iter().find(|known| (known.1, known.2, 1) == (code, bits, lanes)) else {
        return Err(PyTypeError::new_err(format!("DLPack elements of {:?} are not supported", raw.dtype)));
    };
    let ndim = match usize::try_from(raw.ndim) {
        Ok(ndim) if ndim <= torch_library::limits::DIMENSIONS => ndim,
        _ => return wrong(format!("DLPack says that there are {} dimensions", raw.ndim)),
    };
    let list = |numbers: *const i64| {
        check_readable(numbers.addr(), ndim * size_of::<i64>())?;
        // SAFETY: there is memory for so many numbers, which DLPack puts there; no reference to them is kept.
        Ok::<_, PyErr>(
            (0..ndim).map(|index| unsafe { numbers.add(index).read_unaligned() }).collect::<Vec<_>>(),
        )
    };
    let sizes = list(raw.shape)?;
    if let Some(size) = sizes.iter().find(|size| **size < 0) {
        return wrong(format!("DLPack says that a dimension has the size {size}"));
    }
    let strides = match raw.strides.is_null() {
        true => contiguous_strides(&sizes).to_vec(),
        false => list(raw.strides)?,
    };
    if let Some(stride) = strides.iter().find(|stride| **stride < 0) {
        return wrong(format!(
            "DLPack says that a dimension has the stride {stride}, negative ones are not supported"
        ));
    }
    let geometry = Geometry::new(&sizes, &strides, 0).map_err(exception)?;
    let data = raw.data.wrapping_byte_add(raw.byte_offset as usize);
    if geometry.numel() > 0 {
        let end = geometry.end().map_err(exception)?;
        let nbytes = usize::try_from(end).ok().and_then(|end| end.checked_mul(dtype.size()));
        match nbytes {
            Some(nbytes) if !raw.data.is_null() => check_readable(data.addr(), nbytes)?,
            _ => return wrong(format!("DLPack says that sizes {sizes:?} of {dtype} are at {:?}", raw.data)),
        }
    }
    Ok(Said { data, sizes, strides, dtype: *dtype })
}

/// Takes a capsule's tensor over, so that nobody else does, and returns an object that frees it.
fn adopt(capsule: &Bound<'_, PyCapsule>, used: &'static CStr) -> PyResult<Py<PyAny>> {
    let py = capsule.py();
    let is_plain = used == PLAIN.1;
    let name = if is_plain { PLAIN.0 } else { VERSIONED.0 };
    let pointer = capsule.pointer_checked(Some(name))?;
    // SAFETY: the name is a constant, and the object a capsule.
    if unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) } != 0 {
        return Err(PyErr::fetch(py));
    }
    let free = if is_plain { free_plain } else { free_versioned };
    // SAFETY: the pointer is not null, the name is a constant, and the destructor takes capsules that are made here.
    let owned = unsafe { ffi::PyCapsule_New(pointer.as_ptr(), OWNED.as_ptr(), Some(free)) };
    // SAFETY: a new reference, or null with an exception.
    unsafe { Bound::from_owned_ptr_or_err(py, owned) }.map(Bound::unbind)
}

/// The name of capsules that free what they were handed.
const OWNED: &CStr = c"torch_library.owned";

/// # Safety
/// - The capsule was made by `adopt`, of a `DLManagedTensor`, and is freed.
unsafe extern "C" fn free_plain(capsule: *mut ffi::PyObject) {
    // SAFETY: the capsule has this name, so this is what `adopt` put into it.
    let managed = unsafe { ffi::PyCapsule_GetPointer(capsule, OWNED.as_ptr()) }.cast::<RawManagedTensor>();
    if let Some(managed) = NonNull::new(managed) {
        // SAFETY: `adopt` took the structure from who made it, so it is ours to free, and a capsule is freed once.
        drop(unsafe { Managed::from_raw(managed) });
    }
}

/// # Safety
/// - The capsule was made by `adopt`, of a `DLManagedTensorVersioned`, and is freed.
unsafe extern "C" fn free_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: the capsule has this name, so this is what `adopt` put into it.
    let managed = unsafe { ffi::PyCapsule_GetPointer(capsule, OWNED.as_ptr()) }.cast::<Versioned>();
    // SAFETY: `adopt` took the structure from who made it, so it is there and ours to free.
    if let Some(deleter) = unsafe { managed.as_ref() }.and_then(|managed| managed.deleter) {
        // SAFETY: as above; a capsule is freed once.
        unsafe { deleter(managed) };
    }
}

/// The structure of a tensor that we lend, with what its pointers lead to.
struct Context<M> {
    managed: M,
    _sizes: Vec<i64>,
    _strides: Vec<i64>,
    _tensor: Tensor,
}

/// # Safety
/// - The structure is one of `capsuled`, without a version, and freed only once.
unsafe extern "C" fn free_plain_context(managed: *mut RawManagedTensor) {
    // SAFETY: the caller promises a structure of `capsuled`, which put the box there.
    drop(unsafe { Box::from_raw((*managed).manager_ctx.cast::<Context<RawManagedTensor>>()) });
}

/// # Safety
/// - The structure is one of `capsuled`, with a version, and freed only once.
unsafe extern "C" fn free_context(managed: *mut Versioned) {
    // SAFETY: the caller promises a structure of `capsuled`, which put the box there.
    drop(unsafe { Box::from_raw((*managed).manager_ctx.cast::<Context<Versioned>>()) });
}

/// A structure that lends a tensor, with a version or without.
fn capsuled(tensor: &Tensor, has_version: bool) -> torch_library::Result<NonNull<c_void>> {
    let (data, own) = lend(tensor)?;
    let dtype = tensor.dtype();
    let Some((_, code, bits)) = TYPES.iter().find(|(known, ..)| *known == dtype) else {
        torch_library::bail!(DType, "DLPack has no {dtype}")
    };
    let (mut sizes, mut strides) = (own.sizes().to_vec(), own.strides().to_vec());
    let raw = RawTensor {
        data,
        device: RawDevice { device_type: 1, device_id: 0 },
        ndim: sizes.len() as i32,
        dtype: RawType { code: *code, bits: *bits, lanes: 1 },
        shape: sizes.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let manager_ctx = ptr::null_mut();
    if has_version {
        let flags = if dtype == DType::Bool { READ_ONLY } else { 0 };
        let deleter = Some(free_context as _);
        let managed = Versioned { major: 1, minor: 0, manager_ctx, deleter, flags, tensor: raw };
        let context = Context { managed, _sizes: sizes, _strides: strides, _tensor: own };
        let context = Box::into_raw(Box::new(context));
        // SAFETY: the box was just made, so it is valid and aligned, and nobody else has it yet.
        unsafe { (*context).managed.manager_ctx = context.cast() };
        // SAFETY: the box was just made; a field of what is there is not null.
        return Ok(unsafe { NonNull::new_unchecked(&raw mut (*context).managed) }.cast());
    }
    let managed = RawManagedTensor { dl_tensor: raw, manager_ctx, deleter: Some(free_plain_context) };
    let context =
        Box::into_raw(Box::new(Context { managed, _sizes: sizes, _strides: strides, _tensor: own }));
    // SAFETY: the box was just made, so it is valid and aligned, and nobody else has it yet.
    unsafe { (*context).managed.manager_ctx = context.cast() };
    // SAFETY: the box was just made; a field of what is there is not null.
    Ok(unsafe { NonNull::new_unchecked(&raw mut (*context).managed) }.cast())
}

/// Frees what nobody took out of a capsule.
///
/// # Safety
/// - The capsule was made by `__dlpack__`, and is freed.
unsafe extern "C" fn free_untaken(capsule: *mut ffi::PyObject) {
    // SAFETY: asked with each name whether the capsule still has it, so the structure is of that kind, and not taken.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, PLAIN.0.as_ptr()) != 0 {
            let managed = ffi::PyCapsule_GetPointer(capsule, PLAIN.0.as_ptr()).cast::<RawManagedTensor>();
            drop(NonNull::new(managed).map(|managed| Managed::from_raw(managed)));
        } else if ffi::PyCapsule_IsValid(capsule, VERSIONED.0.as_ptr()) != 0 {
            free_context(ffi::PyCapsule_GetPointer(capsule, VERSIONED.0.as_ptr()).cast());
        }
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
        if stream.is_some() || dl_device.is_some_and(|device| device != (1, 0)) {
            return Err(PyBufferError::new_err(
                "memory of the CPU is lent on the CPU, where there are no streams",
            ));
        }
        let tensor = match copy {
            Some(true) => aten::clone(&self.0).map_err(exception)?,
            _ => self.0.clone(),
        };
        let has_version = max_version.is_some_and(|(major, _)| major >= 1);
        if tensor.dtype() == DType::Bool && !has_version {
            return Err(PyBufferError::new_err(
                "booleans are lent to be read, which DLPack can say from version 1.0 on: ask with `max_version`",
            ));
        }
        let pointer = capsuled(&tensor, has_version).map_err(exception)?;
        let name = if has_version { VERSIONED.0 } else { PLAIN.0 };
        // SAFETY: the pointer is not null, the name is a constant, and the destructor is that of these capsules.
        let capsule = unsafe { ffi::PyCapsule_New(pointer.as_ptr(), name.as_ptr(), Some(free_untaken)) };
        // SAFETY: a new reference, or null with an exception.
        unsafe { Bound::from_owned_ptr_or_err(py, capsule) }
    }

    /// Where the memory is: the CPU.
    fn __dlpack_device__(&self) -> PyResult<(i32, i32)> {
        lend(&self.0).map_err(exception)?;
        Ok((1, 0))
    }
}
