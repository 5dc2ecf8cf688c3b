//! The host's side of the ABI: its functions, and a loader with which libraries find them.

mod exception;
mod numbers;

mod last;
mod leases;
mod words;

mod exported;
mod kernel;
mod libraries;

mod abi;

mod elf;
mod image;
mod open;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use torch_library::{Library, Result, ensure};

use crate::loaded::LoadedLibrary;
use open::Opened;

/// The libraries that were loaded, and the files that were opened for them.
#[derive(Default)]
struct State {
    opened: Opened,
    loaded: Vec<LoadedLibrary>,
    /// The registrations made here for operators of Rust crates.
    completed: Vec<Library>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// Loads a library by its canonical path, once.
///
/// # Errors
/// The errors of [`load`](crate::load).
///
/// # Safety
/// * The requirements of [`load`](crate::load).
#[expect(unsafe_code, reason = "runs a foreign library's constructors")]
pub(crate) unsafe fn load(path: &Path) -> Result<LoadedLibrary> {
    // The state is locked while constructors run, which this thread may be in the middle of.
    ensure!(
        !libraries::is_loading(),
        Busy,
        "this thread is loading a library: code that runs meanwhile, such as a listener, cannot load another one"
    );
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    let state = state.get_or_insert_default();
    if let Some(library) = state.loaded.iter().find(|loaded| loaded.path() == path) {
        return Ok(library.clone());
    }
    let before = state.opened.count();
    let run = || {
        // SAFETY: the caller promises that the library's constructors may run, and that it keeps to the ABI.
        unsafe { state.opened.open(path) }.map(drop)
    };
    let loading = libraries::load(&path.display().to_string(), run);
    let loading = loading.inspect_err(|_| state.opened.forget_since(before))?;
    let library = LoadedLibrary::new(path.to_owned(), loading.operators, loading.kernels);
    state.completed.extend(loading.completed);
    state.loaded.push(library.clone());
    Ok(library)
}
