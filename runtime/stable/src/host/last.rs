//! Error codes of the ABI's functions; the last error is stored for each thread, which may query it.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use torch_library::{Error, ErrorKind, Result};

/// PyTorch's `AOTI_TORCH_SUCCESS` and `AOTI_TORCH_FAILURE`.
pub(crate) const SUCCESS: i32 = 0;
pub(crate) const FAILURE: i32 = 1;

/// The last failure.
struct Last {
    kind: ErrorKind,
    text: CString,
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// Runs a function of the ABI. A panic of ours is a failure as well: nothing unwinds into foreign code.
pub(crate) fn answer(name: &str, run: impl FnOnce() -> Result<()>) -> i32 {
    let error = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => return SUCCESS,
        Ok(Err(error)) => error,
        Err(panic) => Error::new(ErrorKind::Internal, format!("{name} panicked: {}", panic_text(&*panic))),
    };
    keep(error.kind(), &error.to_string());
    FAILURE
}

/// Runs a function without an error code; if it panics, the result is `otherwise`.
pub(crate) fn or<T>(name: &str, otherwise: T, run: impl FnOnce() -> T) -> T {
    let mut answered = otherwise;
    answer(name, || {
        answered = run();
        Ok(())
    });
    answered
}

/// The message of a panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text")
}

fn keep(kind: ErrorKind, text: &str) {
    let text = CString::new(text.replace('\0', "\\0")).unwrap_or_default();
    // At its end a thread no longer has the storage, and no code that could query it.
    let _ = LAST.try_with(|last| *last.borrow_mut() = Some(Last { kind, text }));
}

/// The text of the last failure, for C: valid until the next one, or the end of the thread. Null if there was none.
pub(crate) fn text() -> *const c_char {
    let text = LAST.try_with(|last| last.borrow().as_ref().map_or(ptr::null(), |last| last.text.as_ptr()));
    text.unwrap_or(ptr::null())
}

/// The kind of an error that foreign code reports as text: that of the last failure if the text quotes it, otherwise
/// [`ErrorKind::Kernel`].
pub(crate) fn kind_of(text: &str) -> ErrorKind {
    let kind = LAST.try_with(|last| {
        let last = last.borrow();
        let quoted = last.as_ref().filter(|last| !last.text.is_empty());
        quoted.filter(|last| text.contains(&*last.text.to_string_lossy())).map(|last| last.kind)
    });
    kind.ok().flatten().unwrap_or(ErrorKind::Kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_a_code_and_a_text() {
        assert_eq!(answer("f", || Ok(())), SUCCESS);
        assert_eq!(answer("f", || Err(Error::new(ErrorKind::Shape, "sizes differ"))), FAILURE);
        assert_eq!(kind_of("f: sizes differ (originally from there)"), ErrorKind::Shape);
        assert_eq!(kind_of("another"), ErrorKind::Kernel);
        let panicked = || -> Result<()> { std::panic::resume_unwind(Box::new("short")) };
        assert_eq!(answer("f", panicked), FAILURE);
        LAST.with_borrow(|last| assert_eq!(last.as_ref().unwrap().text.as_c_str(), c"f panicked: short"));
        let other = std::thread::spawn(|| text().is_null()).join().unwrap();
        assert!(other, "each thread has its own");
    }

    #[test]
    fn what_has_no_code_answers_something() {
        assert_eq!(or("f", 3, || 4), 4);
        assert_eq!(or("f", 3, || std::panic::resume_unwind(Box::new("out"))), 3);
    }
}
