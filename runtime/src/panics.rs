//! Code of users that runs one after the other, where a panic of one is not to be the end of the process.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Runs a step for each item, in spite of panics. Afterwards the first panic goes on, unless the thread is unwinding
/// already: a second one would end the process.
pub(crate) fn each<T>(items: impl IntoIterator<Item = T>, mut step: impl FnMut(T)) {
    let mut first: Option<Box<dyn Any + Send>> = None;
    for item in items {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| step(item))) {
            match first {
                None => first = Some(panic),
                // What a panic carries may panic as it is dropped.
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
