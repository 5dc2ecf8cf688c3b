//! Warnings: what works, and most likely is slower or other than meant. They go to stderr until a program listens.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use crate::dropping::{self, Queue};

type Listener = Arc<dyn Fn(&str) + Send + Sync>;

/// Those that listen, the last of them first to be told; each with a number of its own.
static LISTENERS: Mutex<Vec<(u64, Listener)>> = Mutex::new(Vec::new());

/// Calls `listener` for the warnings of every thread, in place of printing them, until the guard is dropped. Of several
/// listeners the last hears them.
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
        // `eprintln!` would panic when stderr is closed.
        None => drop(writeln!(io::stderr(), "torch-library: {message}")),
    }
}

/// A listener to warnings; dropping it ends that.
#[derive(Debug)]
#[must_use = "nobody listens any more when this is dropped"]
pub struct WarningGuard {
    number: u64,
}

thread_local! {
    static GONE: Queue<Listener> = const { Queue::new() };
}

/// What a listener holds may warn as it goes, or be the guard of another listener: it is dropped when the list is free
/// again.
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

    /// There is one list of listeners, and who listens in one test would hear the other.
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
