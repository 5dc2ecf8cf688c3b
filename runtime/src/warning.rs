//! Warnings about code that works, but probably more slowly or differently than intended. They go to stderr unless a
//! program listens.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use crate::dropping::{self, Queue};

type Listener = Arc<dyn Fn(&str) + Send + Sync>;

/// The listeners, each with a unique number; only the last one is called.
static LISTENERS: Mutex<Vec<(u64, Listener)>> = Mutex::new(Vec::new());

/// Calls `listener` for the warnings of all threads, instead of printing them, until the guard is dropped. Of several
/// listeners only the last one is called.
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
/// To listen for the rest of the program: `std::mem::forget(warning::listen(…))`; `|_| ()` silences warnings.
///
/// PyTorch: `c10::WarningUtils::set_warning_handler`.
pub fn listen(listener: impl Fn(&str) + Send + Sync + 'static) -> WarningGuard {
    let mut listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
    let number = listeners.last().map_or(0, |(number, _)| number + 1);
    listeners.push((number, Arc::new(listener)));
    WarningGuard { number }
}

/// Calls the listener, or prints to stderr if there is none. What a program may do often is to be said once only:
/// [`warn_once!`](crate::warn_once).
///
/// PyTorch: `TORCH_WARN`.
pub fn warn(message: impl Display) {
    // A listener may add listeners or warn itself, so it is called after the lock is released.
    let last = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner).last().map(|(_, told)| told.clone());
    match last {
        Some(listener) => listener(&message.to_string()),
        // `eprintln!` would panic if stderr is closed.
        None => drop(writeln!(io::stderr(), "torch-library: {message}")),
    }
}

/// [Warns](warn()) the first time that the program gets to this place: `warn_once!("{operator} copies its argument")`.
///
/// The message is made only then. A listener may get to the same place, which does not warn again.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use torch_library::{warn_once, warning};
///
/// static HEARD: AtomicUsize = AtomicUsize::new(0);
/// let _guard = warning::listen(|message| {
///     assert_eq!(message, "copy 0 was made");
///     HEARD.fetch_add(1, Ordering::Relaxed);
/// });
/// for copy in 0..3 {
///     warn_once!("copy {copy} was made");
/// }
/// assert_eq!(HEARD.load(Ordering::Relaxed), 1);
/// ```
///
/// PyTorch: `TORCH_WARN_ONCE`.
#[macro_export]
macro_rules! warn_once {
    ($($message:tt)+) => {
        // No `Once`: a listener that gets here again would wait for itself, and one that panics would poison it.
        if {
            static IS_SAID: ::core::sync::atomic::AtomicBool = ::core::sync::atomic::AtomicBool::new(false);
            !IS_SAID.swap(true, ::core::sync::atomic::Ordering::Relaxed)
        } {
            $crate::warning::warn(::core::format_args!($($message)+));
        }
    };
}

/// A listener to warnings; dropping it removes the listener.
#[derive(Debug)]
#[must_use = "the listener is unregistered when this is dropped"]
pub struct WarningGuard {
    number: u64,
}

thread_local! {
    static GONE: Queue<Listener> = const { Queue::new() };
}

/// A listener's closure may warn when it is dropped, or own the guard of another listener, so it is dropped after the
/// lock is released.
impl Drop for WarningGuard {
    fn drop(&mut self) {
        let mut listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
        let place = listeners.iter().rposition(|(number, _)| *number == self.number);
        let gone = place.map(|place| listeners.remove(place).1);
        drop(listeners);
        if let Some(listener) = gone {
            dropping::in_turn(&GONE, listener);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list of listeners is global, so a listener in one test would hear the warnings of another.
    static ONE_BY_ONE: Mutex<()> = Mutex::new(());

    #[test]
    fn the_last_listener_hears_whatever_the_order_they_go_in() {
        let _alone = ONE_BY_ONE.lock();
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

    #[test]
    fn a_listener_may_hold_what_warns_and_who_listens() {
        let _alone = ONE_BY_ONE.lock();
        struct Parting(Arc<Mutex<Vec<String>>>);
        impl Drop for Parting {
            fn drop(&mut self) {
                let heard = self.0.clone();
                let _guard = listen(move |message| heard.lock().unwrap().push(message.to_owned()));
                warn("gone");
            }
        }
        let heard = Arc::new(Mutex::new(Vec::new()));
        let parting = Parting(heard.clone());
        let first = listen(move |_| assert!(parting.0.lock().is_ok()));
        let last =
            (0..50_000).fold(first, |held, _| listen(move |_| assert!(format!("{held:?}").is_empty())));
        drop(last);
        assert_eq!(*heard.lock().unwrap(), ["gone"]);
    }
}
