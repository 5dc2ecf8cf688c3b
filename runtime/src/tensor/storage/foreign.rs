//! An object of another library, as the owner of memory: its address, and what frees it.
#![expect(unsafe_code, reason = "frees what another library made, by its function")]

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use triomphe::Arc;

use super::{Inner, LeaseWord, Owner, Storage};
use crate::device::Device;

/// One object of another library, which is freed when this drops.
///
/// PyTorch: the context and the deleter of a `c10::DataPtr`.
#[derive(Debug)]
pub struct Foreign {
    object: NonNull<c_void>,
    free: unsafe extern "C-unwind" fn(*mut c_void) -> i32,
}

// SAFETY: who makes one says that any thread may free the object; nothing else is done with it here.
unsafe impl Send for Foreign {}
// SAFETY: a shared one gives out its address alone.
unsafe impl Sync for Foreign {}

impl Foreign {
    /// Takes an object over, with the function that frees it. What the function returns is of no use to anybody.
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

    /// The object, which stays this one's.
    #[inline]
    pub const fn object(&self) -> NonNull<c_void> {
        self.object
    }
}

impl Drop for Foreign {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: `new` was promised that the object may be freed once, by any thread; this one owned it.
        unsafe { (self.free)(self.object.as_ptr()) };
    }
}

/// One storage after another over other libraries' memory, in one block of the allocator: a call of a host needs some
/// for as long as it lasts, and the next call again.
impl Storage {
    /// Lets go of the memory, if this is the only handle and an object of another library keeps it. How many bytes
    /// there were is kept for [`occupy`](Self::occupy).
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

    /// Becomes a storage as [`from_foreign`](Self::from_foreign) makes it, if it was vacated and nobody else has it;
    /// else gives the keeper back. Returns how many bytes it had before.
    ///
    /// # Safety
    /// - What [`from_foreign`](Self::from_foreign) asks for.
    #[inline]
    pub(crate) unsafe fn occupy(
        &mut self,
        data: NonNull<u8>,
        nbytes: usize,
        keeper: Foreign,
    ) -> Result<usize, Foreign> {
        let Some(block) = Arc::get_mut(&mut self.0) else { return Err(keeper) };
        let inner = &mut block.header;
        if !matches!(inner, Inner { data: None, owner: Owner::Nothing, device: Device::CPU, .. }) {
            return Err(keeper);
        }
        let before = std::mem::replace(&mut inner.nbytes, nbytes);
        (inner.data, inner.version, inner.lease) = (Some(data), AtomicU64::new(0), LeaseWord::new());
        // There is nothing to drop of what owned nothing.
        std::mem::forget(std::mem::replace(&mut inner.owner, Owner::Foreign { _keeper: keeper }));
        Ok(before)
    }
}
