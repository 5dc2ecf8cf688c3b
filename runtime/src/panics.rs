//! Running pieces of user code in sequence, where a panic of one must neither skip the rest nor abort the process.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Runs a step for each item, even if some panic. Afterwards the first panic is resumed, unless the thread is unwinding
/// already: a second one would abort the process.
pub(crate) fn each<T>(items: impl IntoIterator<Item = T>, mut step: impl FnMut(T)) {
    let mut first: Option<Box<dyn Any + Send>> = None;
    for item in items {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| step(item))) {
            match first {
                None => first = Some(panic),
                // Dropping the payload of a panic may panic.
                Some(_) => std::mem::forget(panic),
            }
        }
    }
    match first {
        Some(panic) if std::thread::panicking() => std::mem::forget(panic),
        Some(panic) => resume_unwind(panic),
        None => {}
    }
}
