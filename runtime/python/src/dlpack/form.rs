//! The two structures that a DLPack capsule may contain: a versioned one, and the older one without a version.

use std::ffi::{CStr, c_void};
use std::ptr;

use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use torch_library_kernels::data::dlpack::{
    READ_ONLY, RawManagedTensor, RawManagedTensorVersioned, RawTensor,
};

/// The flag of memory that was copied for its consumer: `DLPACK_FLAG_BITMASK_IS_COPIED`.
pub(super) const IS_COPIED: u64 = 2;

/// The function that frees a structure.
pub(super) type Deleter<F> = unsafe extern "C" fn(*mut F);

/// A structure with a tensor and the function that frees it.
pub(super) trait Form: Sized + 'static {
    /// The name of a capsule that contains one.
    const NAME: &'static CStr;
    /// The name of a capsule whose structure was consumed.
    const USED: &'static CStr;

    /// The structure with these flags, if it has any.
    fn new(tensor: RawTensor, flags: u64, deleter: Deleter<Self>) -> Self;
    /// Refuses a structure with another memory layout.
    fn check(&self) -> PyResult<()>;
    fn tensor(&self) -> &RawTensor;
    fn is_read_only(&self) -> bool;
    fn deleter(&self) -> Option<Deleter<Self>>;
    /// The pointer that belongs to the structure's producer.
    fn context(&mut self) -> &mut *mut c_void;
}

impl Form for RawManagedTensor {
    const NAME: &'static CStr = c"dltensor";
    const USED: &'static CStr = c"used_dltensor";

    fn new(dl_tensor: RawTensor, _flags: u64, deleter: Deleter<Self>) -> Self {
        RawManagedTensor { dl_tensor, manager_ctx: ptr::null_mut(), deleter: Some(deleter) }
    }

    fn check(&self) -> PyResult<()> {
        Ok(())
    }

    fn tensor(&self) -> &RawTensor {
        &self.dl_tensor
    }

    fn is_read_only(&self) -> bool {
        false
    }

    fn deleter(&self) -> Option<Deleter<Self>> {
        self.deleter
    }

    fn context(&mut self) -> &mut *mut c_void {
        &mut self.manager_ctx
    }
}

impl Form for RawManagedTensorVersioned {
    const NAME: &'static CStr = c"dltensor_versioned";
    const USED: &'static CStr = c"used_dltensor_versioned";

    fn new(dl_tensor: RawTensor, flags: u64, deleter: Deleter<Self>) -> Self {
        let (manager_ctx, deleter) = (ptr::null_mut(), Some(deleter));
        RawManagedTensorVersioned { major: 1, minor: 0, manager_ctx, deleter, flags, dl_tensor }
    }

    fn check(&self) -> PyResult<()> {
        match self.major {
            1 => Ok(()),
            other => Err(PyBufferError::new_err(format!("DLPack of version {other}, 1 is known"))),
        }
    }

    fn tensor(&self) -> &RawTensor {
        &self.dl_tensor
    }

    fn is_read_only(&self) -> bool {
        self.flags & READ_ONLY != 0
    }

    fn deleter(&self) -> Option<Deleter<Self>> {
        self.deleter
    }

    fn context(&mut self) -> &mut *mut c_void {
        &mut self.manager_ctx
    }
}
