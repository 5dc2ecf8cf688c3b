//! An object of another library that owns memory: its address, and the function that frees it.
#![expect(unsafe_code, reason = "frees what another library made, by its function")]

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use triomphe::Arc;

use super::{Inner, LeaseWord, Owner, Storage};
use crate::device::Device;
use crate::error::Result;

/// An object of another library, which is freed when this is dropped.
///
/// PyTorch: the context and the deleter of a `c10::DataPtr`.
#[derive(Debug)]
pub struct Foreign {
    object: NonNull<c_void>,
    free: unsafe extern "C-unwind" fn(*mut c_void) -> i32,
}

// SAFETY: the caller of `new` promises that any thread may free the object; nothing else is done with it here.
unsafe impl Send for Foreign {}
// SAFETY: a shared reference gives only the object's address.
unsafe impl Sync for Foreign {}

impl Foreign {
    /// Takes ownership of an object, with the function that frees it. The result of the function is ignored.
    ///
    /// # Safety
    /// - The function may be called with the object, once, from any thread, and does not unwind.
    #[inline]
    pub const unsafe fn new(
        object: NonNull<c_void>,
        free: unsafe extern "C-unwind" fn(*mut c_void) -> i32,
    ) -> Foreign {
        Foreign { object, free }
    }

    /// The object, which this still owns.
    #[inline]
    pub const fn object(&self) -> NonNull<c_void> {
        self.object
    }
}

impl Drop for Foreign {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the caller of `new` promised that the object may be freed once, on any thread; this owned it.
        unsafe { (self.free)(self.object.as_ptr()) };
    }
}

/// Reuses one allocation for successive storages over other libraries' memory: a call from a host needs some while it
/// lasts, and so does the next call.
impl Storage {
    /// Whether an object of another library keeps the memory alive.
    pub fn is_foreign(&self) -> bool {
        matches!(self.inner().owner, Owner::Foreign { .. })
    }

    /// Refuses every [lease](crate::Lease) on the memory from now on, so that no safe code accesses it by any handle: a
    /// call to which another library lent it has ended, and that library may move or free it.
    ///
    /// # Errors
    /// There is a lease now.
    pub fn retire(&self) -> Result<()> {
        self.lease_word().retire()
    }

    /// Whether [`retire`](Self::retire) has succeeded.
    pub fn is_retired(&self) -> bool {
        self.lease_word().is_retired()
    }

    /// Releases the memory, if this is the only handle and an object of another library keeps the memory alive. The
    /// number of bytes is kept for [`occupy`](Self::occupy).
    #[inline]
    pub(crate) fn vacate(&mut self) -> bool {
        let Some(block) = Arc::get_mut(&mut self.0) else { return false };
        let inner = &mut block.header;
        match std::mem::replace(&mut inner.owner, Owner::Nothing) {
            Owner::Foreign { _keeper } => {
                inner.data = None;
                true
            }
            other => {
                inner.owner = other;
                false
            }
        }
    }

    /// Makes this a storage like one of [`from_foreign`](Self::from_foreign), if it was vacated and there is no other
    /// handle; otherwise returns the keeper. Returns the number of bytes that it had before.
    ///
    /// # Safety
    /// - The requirements of [`from_foreign`](Self::from_foreign).
    #[inline]
    pub(crate) unsafe fn occupy(
        &mut self,
        data: NonNull<u8>,
        nbytes: usize,
        keeper: Foreign,
    ) -> std::result::Result<usize, Foreign> {
        let Some(block) = Arc::get_mut(&mut self.0) else { return Err(keeper) };
        let inner = &mut block.header;
        if !matches!(inner, Inner { data: None, owner: Owner::Nothing, device: Device::CPU, .. }) {
            return Err(keeper);
        }
        let before = std::mem::replace(&mut inner.nbytes, nbytes);
        (inner.data, inner.version, inner.lease) = (Some(data), AtomicU64::new(0), LeaseWord::new());
        // The old owner owned nothing, so there is nothing to drop.
        std::mem::forget(std::mem::replace(&mut inner.owner, Owner::Foreign { _keeper: keeper }));
        Ok(before)
    }
}
