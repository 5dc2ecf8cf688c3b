//! Operators that serve others are defined when a call first needs one: no import waits for them. The glue in Python does it.
#![expect(unsafe_code, reason = "hands a function of Python's a text")]

use std::ffi::{CStr, CString, c_char};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use torch_library::schema::Schema;

/// A function of the glue: it gets the name of an operator, and defines what records its calls; without a name, what
/// passes calls on by Python. What it raises it prints.
pub(crate) type Define = unsafe extern "C" fn(*const c_char);

static DEFINE: Mutex<Option<Define>> = Mutex::new(None);

/// Says who defines.
///
/// # Safety
/// * The function takes a text that ends in a zero, or null, from any thread, for as long as the process lives.
pub(crate) unsafe fn set_define(define: Define) {
    *DEFINE.lock().unwrap_or_else(PoisonError::into_inner) = Some(define);
}

/// Has something defined, and tells whether there is glue. Nothing is locked meanwhile: Python may have to wait for other
/// threads.
fn define(name: Option<&CStr>) -> bool {
    let define = *DEFINE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(define) = define {
        // SAFETY: whoever set it has said that it takes a text or null, and that it stays.
        unsafe { define(name.map_or(std::ptr::null(), CStr::as_ptr)) };
    }
    define.is_some()
}

/// Something that is defined later, if it was not yet. Several threads may have it defined at once; the glue does it once.
#[derive(Debug)]
pub(crate) struct Later {
    /// The operator that it serves, or nothing.
    of: Option<CString>,
    is_defined: AtomicBool,
}

impl Later {
    /// What records the calls of an operator.
    pub(crate) fn of(schema: &Schema) -> Later {
        let name = CString::new(schema.name.to_string()).unwrap_or_default(); // as the glue writes it
        Later { of: Some(name), is_defined: AtomicBool::new(false) }
    }

    /// What passes calls on by Python.
    pub(crate) const fn of_calls() -> Later {
        Later { of: None, is_defined: AtomicBool::new(false) }
    }

    /// It is there when this returns, unless there is no glue.
    #[inline]
    pub(crate) fn ensure(&self) {
        // Whoever reads it true finds what was defined before: PyTorch's own locks see to it.
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
    /// * The name is null or a text.
    unsafe extern "C" fn count(name: *const c_char) {
        if name.is_null() {
            UNNAMED.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // SAFETY: the caller says that it is a text.
        let name = unsafe { CStr::from_ptr(name) };
        NAMED.fetch_add(usize::from(name == c"ns::f.o"), Ordering::Relaxed);
    }

    #[test]
    fn what_is_needed_is_defined_once() {
        let schema = Schema::parse("ns::f.o(Tensor self) -> Tensor", Mode::Strict).unwrap();
        let (later, calls) = (Later::of(&schema), Later::of_calls());
        // SAFETY: the function takes a text or null.
        unsafe { set_define(count) };
        for _ in 0..2 {
            later.ensure();
            calls.ensure();
        }
        assert_eq!([&NAMED, &UNNAMED].map(|count| count.load(Ordering::Relaxed)), [1, 1]);
    }
}
