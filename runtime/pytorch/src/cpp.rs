//! Strings of C++, for the few functions of PyTorch that take one and have no counterpart among the stable C functions.
#![expect(unsafe_code, reason = "makes and ends objects of libstdc++ by its own functions")]

use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::shim::Library;

/// Memory for a `std::string` of libstdc++: a pointer, a length, sixteen bytes.
pub(crate) type CppString = MaybeUninit<[u64; 4]>;

type NewString = unsafe extern "C-unwind" fn(*mut CppString, *const c_char, usize, *const u8);
type EndString = unsafe extern "C-unwind" fn(*mut CppString);

/// The constructor and the destructor of strings.
#[derive(Clone, Copy)]
pub(crate) struct Strings {
    new: NewString,
    end: EndString,
}

/// An allocator of C++ without a state has an address and nothing at it.
static NO_STATE: u8 = 0;

impl Strings {
    /// Looks for both by the names that the Itanium C++ ABI gives them.
    pub(crate) fn find(library: &Library) -> Option<Strings> {
        const STRING: &str = "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE";
        let new = library.symbol(&format!("{STRING}C1EPKcmRKS3_\0"))?;
        let end = library.symbol(&format!("{STRING}D1Ev\0"))?;
        // SAFETY: the names have the types of the arguments in them, after the object.
        unsafe {
            Some(Strings {
                new: std::mem::transmute::<NonNull<c_void>, NewString>(new),
                end: std::mem::transmute::<NonNull<c_void>, EndString>(end),
            })
        }
    }

    /// Makes a string, lends it, and ends it. What unwinds from the closure leaves the string allocated.
    pub(crate) fn lend<R>(self, text: &CStr, f: impl FnOnce(*mut CppString) -> R) -> R {
        let mut string = CppString::uninit();
        let length = text.to_bytes().len();
        // SAFETY: it is made from so many bytes, in memory of its size, by an allocator that has no state.
        unsafe { (self.new)(&raw mut string, text.as_ptr(), length, &raw const NO_STATE) };
        let result = f(&raw mut string);
        // SAFETY: it was made above, and whoever took its bytes has left a string that can be ended.
        unsafe { (self.end)(&raw mut string) };
        result
    }
}
