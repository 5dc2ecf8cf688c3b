//! Warnings: what works, and most likely is slower or other than meant. They go to stderr until a program listens.

use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};

type Listener = Arc<dyn Fn(&str) + Send + Sync>;

/// Those that listen, the last of them first to be told; each with a number of its own.
static LISTENERS: Mutex<Vec<(u64, Listener)>> = Mutex::new(Vec::new());

/// Calls `listener` for the warnings of every thread, in place of printing them, until the guard is dropped. Of several listeners
/// the last hears them.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use torch_library::warning;
///
/// let heard = Arc::new(Mutex::new(Vec::new()));
/// let listener = heard.clone();
/// let guard = warning::listen(move |message| listener.lock().unwrap().push(message.to_owned()));
/// warning::warn("a copy was made");
/// drop(guard);
/// assert_eq!(*heard.lock().unwrap(), ["a copy was made"]);
/// ```
///
/// For the rest of the program: `std::mem::forget(warning::listen(…))`; `|_| ()` silences it.
///
/// PyTorch: `c10::WarningUtils::set_warning_handler`.
pub fn listen(listener: impl Fn(&str) + Send + Sync + 'static) -> WarningGuard {
    let mut listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
    let number = listeners.last().map_or(0, |(number, _)| number + 1);
    listeners.push((number, Arc::new(listener)));
    WarningGuard { number }
}

/// Tells whoever listens, else prints to stderr. What would be said for each call is for the caller to say once.
///
/// PyTorch: `TORCH_WARN`.
pub fn warn(message: impl Display) {
    // A listener may listen or warn itself: it is called when the list is free again.
    let last = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner).last().map(|(_, told)| told.clone());
    match last {
        Some(listener) => listener(&message.to_string()),
        None => eprintln!("torch-library: {message}"),
    }
}

/// A listener to warnings; dropping it ends that.
#[derive(Debug)]
#[must_use = "nobody listens any more when this is dropped"]
pub struct WarningGuard {
    number: u64,
}

impl Drop for WarningGuard {
    fn drop(&mut self) {
        let mut listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_listener_hears_whatever_the_order_they_go_in() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let named = |name: &'static str| {
            let heard = heard.clone();
            listen(move |message| heard.lock().unwrap().push(format!("{name}: {message}")))
        };
        let (first, second) = (named("first"), named("second"));
        warn("one");
        drop(first);
        let third = named("third");
        warn("two");
        drop(third);
        warn("three");
        drop(second);
        assert_eq!(*heard.lock().unwrap(), ["second: one", "third: two", "second: three"]);
    }
}
