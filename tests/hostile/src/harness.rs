//! Shared by the programs: how long they run, running several threads at once, and what counts as success.
#![forbid(unsafe_code)]

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use torch_library::Result;

fn setting(name: &str, otherwise: f64) -> f64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// A time in seconds natively, multiplied by `HOSTILE_PATIENCE` where a sanitizer makes everything slow.
pub(crate) fn patience(seconds: f64) -> f64 {
    seconds * setting("HOSTILE_PATIENCE", 1.0)
}

/// Numbers until the time is over: `HOSTILE_SECONDS`, or a tenth of a second; under Miri, which is slow, only a few.
pub(crate) fn rounds() -> impl Iterator<Item = usize> {
    let seconds = setting("HOSTILE_SECONDS", 0.1);
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    (0..).take_while(move |round| if cfg!(miri) { *round < 4 } else { *round < 2 || Instant::now() < end })
}

/// The first number, or the second one under Miri.
pub(crate) const fn count(natively: usize, interpreted: usize) -> usize {
    if cfg!(miri) { interpreted } else { natively }
}

/// Repeats each piece of work on a thread of its own, all at once.
pub(crate) fn together(works: &[&(dyn Fn(usize) + Sync)]) {
    let start = &Barrier::new(works.len());
    thread::scope(|scope| {
        for work in works {
            scope.spawn(move || {
                start.wait();
                rounds().for_each(work);
            });
        }
    });
}

/// The value, or `None` if the call failed with an error that contains one of these texts.
///
/// # Panics
/// The error contains none of them.
#[track_caller]
pub(crate) fn right_or_refused<T>(result: Result<T>, names: &[&str]) -> Option<T> {
    sites::tell(result.as_ref().err());
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            let text = error.to_string();
            assert!(names.iter().any(|name| text.contains(name)), "none of {names:?} is named by: {text}");
            assert!(text.len() < 4096, "an error of {} bytes", text.len());
            None
        }
    }
}

/// The value, or `None` if the call failed.
#[track_caller]
pub(crate) fn allowed<T>(result: Result<T>) -> Option<T> {
    right_or_refused(result, &[""])
}

/// Ignores whether the call failed.
#[track_caller]
pub(crate) fn attempt<T>(result: Result<T>) {
    allowed(result);
}

/// Asserts that all elements are equal, and are one of these values.
pub(crate) fn assert_one_of<T: PartialEq + std::fmt::Debug>(found: &[T], values: &[T]) {
    let Some(first) = found.first() else { return };
    assert!(values.contains(first), "{first:?} is none of {values:?}");
    let odd = found.iter().position(|element| element != first);
    assert_eq!(odd.map(|place| &found[place]), None, "beside {first:?}, of {} elements", found.len());
}

/// Counts which calls never succeed: `HOSTILE_SITES=1` prints them, so that the author of a program sees that it does what it
/// should. Otherwise nothing is counted, because a shared counter would synchronise threads and so hide races.
mod sites {
    use std::collections::BTreeMap;
    use std::panic::Location;
    use std::sync::{LazyLock, Mutex};

    use torch_library::Error;

    type Sites = Mutex<BTreeMap<(&'static str, u32), Option<String>>>;

    static SITES: LazyLock<Option<Sites>> =
        LazyLock::new(|| std::env::var_os("HOSTILE_SITES").map(|_| Mutex::default()));

    #[track_caller]
    pub(super) fn tell(error: Option<&Error>) {
        let Some(sites) = &*SITES else { return };
        let place = Location::caller();
        let mut sites = sites.lock().expect("nobody panics with it");
        let site = sites.entry((place.file(), place.line())).or_insert_with(|| Some(String::new()));
        if site.is_some() {
            *site = error.map(Error::to_string);
        }
    }

    pub(crate) fn report() {
        let Some(sites) = &*SITES else { return };
        for ((file, line), error) in &*sites.lock().expect("nobody panics with it") {
            if let Some(error) = error {
                eprintln!("never succeeds: {file}:{line}: {error}");
            }
        }
    }
}
pub(crate) use sites::report;
