//! Loads the given shared object, calls it, and unloads it, repeatedly and on several threads. Only the caller can know what a shared
//! object contains, so this program needs `unsafe`.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::thread;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(object: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlclose(object: *mut c_void) -> c_int;
}

const NOW: c_int = 2;

fn attack(path: &CStr) {
    // SAFETY: the shared object is this package's library, whose initialisers only add records to a list.
    let object = unsafe { dlopen(path.as_ptr(), NOW) };
    assert!(!object.is_null(), "{path:?} is not loaded");
    // SAFETY: the object is open, and the name is a C string.
    let symbol = unsafe { dlsym(object, c"attack".as_ptr()) };
    assert!(!symbol.is_null());
    // SAFETY: the library exports this name as a function of this type.
    let attack = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> c_int>(symbol) };
    assert_eq!(attack(), 0);
    // SAFETY: the object is open, and nothing of it is used after this.
    assert_eq!(unsafe { dlclose(object) }, 0);
}

fn main() {
    let path = CString::new(std::env::args().nth(1).expect("the path of the library")).expect("a path");
    (0..20).for_each(|_| attack(&path));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| attack(&path)));
        }
    });
    attack(&path);
}
