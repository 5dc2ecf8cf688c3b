//! C++ strings, for the few functions of PyTorch that take one and have no counterpart among the stable C functions.
#![expect(unsafe_code, reason = "makes and ends objects of libstdc++ by its own functions")]

use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::shim::Library;

/// Memory for a `std::string` of libstdc++: a pointer, a length, and sixteen bytes for short strings.
pub(crate) type CppString = MaybeUninit<[u64; 4]>;

type NewString = unsafe extern "C-unwind" fn(*mut CppString, *const c_char, usize, *const u8);
type EndString = unsafe extern "C-unwind" fn(*mut CppString);

/// The constructor and the destructor of `std::string`.
#[derive(Clone, Copy)]
pub(crate) struct Strings {
    new: NewString,
    end: EndString,
}

/// Stands for a `std::allocator`, which is an empty class: it is passed by address, and nothing is read there.
static NO_STATE: u8 = 0;

impl Strings {
    /// Looks both up by their mangled names in the Itanium C++ ABI.
    pub(crate) fn find(library: &Library) -> Option<Strings> {
        const STRING: &str = "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE";
        let new = library.symbol(&format!("{STRING}C1EPKcmRKS3_\0"))?;
        let end = library.symbol(&format!("{STRING}D1Ev\0"))?;
        // SAFETY: the mangled names contain the types of the arguments, which follow the object.
        unsafe {
            Some(Strings {
                new: std::mem::transmute::<NonNull<c_void>, NewString>(new),
                end: std::mem::transmute::<NonNull<c_void>, EndString>(end),
            })
        }
    }

    /// Makes a string, lends it to the closure, and destroys it. If the closure unwinds, the string is leaked.
    pub(crate) fn lend<R>(self, text: &CStr, f: impl FnOnce(*mut CppString) -> R) -> R {
        let mut string = CppString::uninit();
        let length = text.to_bytes().len();
        // SAFETY: the text has `length` bytes, `string` has the size of a string, and the allocator has no state.
        unsafe { (self.new)(&raw mut string, text.as_ptr(), length, &raw const NO_STATE) };
        let result = f(&raw mut string);
        // SAFETY: it was constructed above, and a function that moved out of it has left a valid string to destroy.
        unsafe { (self.end)(&raw mut string) };
        result
    }
}
