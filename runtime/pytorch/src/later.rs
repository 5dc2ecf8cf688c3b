//! Auxiliary operators are defined by the glue in Python when a call first needs one, so that imports need not wait.
#![expect(unsafe_code, reason = "hands a function of Python's a text")]

use std::ffi::{CStr, CString, c_char};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use torch_library::schema::Schema;

/// A function of the glue. Given the name of an operator, it defines the operators that record calls of that operator;
/// given null, the operator that makes calls through Python. It prints its exceptions.
pub(crate) type Define = unsafe extern "C" fn(*const c_char);

static DEFINE: Mutex<Option<Define>> = Mutex::new(None);

/// Sets the function that defines auxiliary operators.
///
/// # Safety
/// * The function takes a null-terminated string, or null, from any thread, for as long as the process lives.
pub(crate) unsafe fn set_define(define: Define) {
    *DEFINE.lock().unwrap_or_else(PoisonError::into_inner) = Some(define);
}

/// Calls the glue to define something, and returns whether there is glue. No lock is held during the call, because
/// Python may have to wait for other threads.
fn define(name: Option<&CStr>) -> bool {
    let define = *DEFINE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(define) = define {
        // SAFETY: the caller of `set_define` guaranteed that it takes a string or null, and stays callable.
        unsafe { define(name.map_or(std::ptr::null(), CStr::as_ptr)) };
    }
    define.is_some()
}

/// Auxiliary operators that are defined when first needed. Several threads may ask at once; the glue defines them once.
#[derive(Debug)]
pub(crate) struct Later {
    /// The operator whose calls are recorded; none for calls through Python.
    of: Option<CString>,
    is_defined: AtomicBool,
}

impl Later {
    /// The operators that record the calls of an operator.
    pub(crate) fn of(schema: &Schema) -> Later {
        let name = CString::new(schema.name.to_string()).unwrap_or_default(); // as the glue writes it
        Later { of: Some(name), is_defined: AtomicBool::new(false) }
    }

    /// The operator that makes calls through Python.
    pub(crate) const fn of_calls() -> Later {
        Later { of: None, is_defined: AtomicBool::new(false) }
    }

    /// Defines the operators if necessary. They exist when this returns, unless there is no glue.
    #[inline]
    pub(crate) fn ensure(&self) {
        // `Relaxed` is enough: PyTorch's own locks make the definitions visible to a thread that reads `true` here.
        if !self.is_defined.load(Ordering::Relaxed) && define(self.of.as_deref()) {
            self.is_defined.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use torch_library::schema::Mode;

    use super::*;

    static NAMED: AtomicUsize = AtomicUsize::new(0);
    static UNNAMED: AtomicUsize = AtomicUsize::new(0);

    /// # Safety
    /// * The name is null or a null-terminated string.
    unsafe extern "C" fn count(name: *const c_char) {
        if name.is_null() {
            UNNAMED.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // SAFETY: the caller guarantees that it is a null-terminated string.
        let name = unsafe { CStr::from_ptr(name) };
        NAMED.fetch_add(usize::from(name == c"ns::f.o"), Ordering::Relaxed);
    }

    #[test]
    fn what_is_needed_is_defined_once() {
        let schema = Schema::parse("ns::f.o(Tensor self) -> Tensor", Mode::Strict).unwrap();
        let (later, calls) = (Later::of(&schema), Later::of_calls());
        // SAFETY: the function takes a string or null.
        unsafe { set_define(count) };
        for _ in 0..2 {
            later.ensure();
            calls.ensure();
        }
        assert_eq!([&NAMED, &UNNAMED].map(|count| count.load(Ordering::Relaxed)), [1, 1]);
    }
}
