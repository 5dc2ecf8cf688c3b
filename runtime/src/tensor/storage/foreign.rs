//! An object of another library, as the owner of memory: its address, and what frees it.
#![expect(unsafe_code, reason = "frees what another library made, by its function")]

use std::ffi::c_void;
use std::ptr::NonNull;

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
