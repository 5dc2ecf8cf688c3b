//! Capsules that lend the memory of a tensor to another library.
#![expect(unsafe_code, reason = "structures behind pointers, and functions that free them")]

use std::ptr::NonNull;

use pyo3::ffi;
use pyo3::prelude::*;
use torch_library::{DType, Tensor};
use torch_library_kernels::data::dlpack::{RawDevice, RawTensor, RawType};

use super::form::Form;
use crate::buffer::{Loan, lend};
use crate::error::exception;

/// The structure for a lent tensor, with the data that its pointers lead to.
struct Context<F> {
    form: F,
    _sizes: Vec<i64>,
    _strides: Vec<i64>,
    _loan: Loan,
}

/// A capsule that lends a tensor, whose elements are of this type for the other library.
pub(super) fn capsule<'py, F: Form>(
    py: Python<'py>,
    tensor: &Tensor,
    dtype: DType,
    flags: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let managed = lent::<F>(tensor, dtype, flags).map_err(exception)?.as_ptr().cast();
    // SAFETY: the pointer is not null, the name is a constant, and the destructor is made for these capsules.
    let capsule = unsafe { ffi::PyCapsule_New(managed, F::NAME.as_ptr(), Some(free_untaken::<F>)) };
    // SAFETY: a new reference, or null with an exception.
    unsafe { Bound::from_owned_ptr_or_err(py, capsule) }
}

fn lent<F: Form>(tensor: &Tensor, dtype: DType, flags: u64) -> torch_library::Result<NonNull<F>> {
    let dtype = RawType::of(dtype)?;
    let loan = lend(tensor)?;
    let (mut sizes, mut strides) = (loan.tensor.sizes().to_vec(), loan.tensor.strides().to_vec());
    let raw = RawTensor {
        data: loan.start,
        device: RawDevice::CPU,
        ndim: sizes.len() as i32,
        dtype,
        shape: sizes.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let form = F::new(raw, flags, free::<F>);
    let context = Box::into_raw(Box::new(Context { form, _sizes: sizes, _strides: strides, _loan: loan }));
    // SAFETY: the box was just made, so it is valid and aligned, and no other code has it yet.
    let form = unsafe { &mut (*context).form };
    *form.context() = context.cast();
    Ok(NonNull::from(form))
}

/// # Safety
/// - The structure was made by `lent`, and is freed only once.
unsafe extern "C" fn free<F: Form>(managed: *mut F) {
    // SAFETY: the caller promises a structure from `lent`, which stored the box there.
    drop(unsafe { Box::from_raw((*managed).context().cast::<Context<F>>()) });
}

/// Frees the structure in a capsule that was not consumed.
///
/// # Safety
/// - The capsule was made by `capsule` for this form, and is being freed.
unsafe extern "C" fn free_untaken<F: Form>(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule that still has this name has its original content, which was not consumed.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, F::NAME.as_ptr()) != 0 {
            free(ffi::PyCapsule_GetPointer(capsule, F::NAME.as_ptr()).cast::<F>());
        }
    }
}
