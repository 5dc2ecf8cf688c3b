//! What a foreign library registers, while it is loaded and later: an object for each block of registrations.
//!
//! A library registers in its constructors, where nobody catches an exception: what fails there is kept, and ends the
//! load when the constructors have run.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use torch_library::{
    DispatchKey, Dispatcher, Error, ErrorKind, Library, LibraryKind, OperatorHandle, Place, Result,
    SourceModule, bail,
};

use crate::host::exported;
use crate::host::kernel::{Entry, Kernel};

/// A library of the registry here; nothing once it was taken back, or where it could not be opened.
type Block = Arc<Mutex<Option<Library>>>;

fn locked(block: &Block) -> MutexGuard<'_, Option<Library>> {
    block.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a library does while it is loaded.
pub(crate) struct Loading {
    path: Arc<str>,
    pub(crate) operators: Vec<OperatorHandle>,
    pub(crate) kernels: usize,
    pub(crate) errors: Vec<Error>,
    /// Opened by its constructors, in their order.
    opened: Vec<Block>,
    /// What was registered here for operators of a crate of Rust.
    pub(crate) completed: Vec<Library>,
}

thread_local! {
    static LOADING: RefCell<Vec<Loading>> = const { RefCell::new(Vec::new()) };
}

/// Whether the process ends: destructors of foreign libraries run then, and there is nothing to take back any more.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

extern "C" fn note_the_end() {
    IS_ENDING.store(true, Ordering::Relaxed);
}

/// Whether a library is being loaded by this thread.
pub(crate) fn is_loading() -> bool {
    LOADING.try_with(|loading| !loading.borrow().is_empty()).unwrap_or(false)
}

/// Runs what loads a library, whose constructors register. Where anything failed, nothing stays registered.
///
/// # Errors
/// That of what runs, or the first of the registrations.
pub(crate) fn load(path: &str, run: impl FnOnce() -> Result<()>) -> Result<Loading> {
    let loading = Loading {
        path: path.into(),
        operators: Vec::new(),
        kernels: 0,
        errors: Vec::new(),
        opened: Vec::new(),
        completed: Vec::new(),
    };
    LOADING.with_borrow_mut(|all| all.push(loading));
    let result = run();
    let loading = LOADING.with_borrow_mut(Vec::pop);
    let Some(mut loading) = loading else { bail!(Internal, "a library that was being loaded is forgotten") };
    at_the_end();
    let result = result.and_then(|()| match loading.errors.is_empty() {
        true => exported::complete(&loading.operators),
        false => Err(loading.failure()),
    });
    let failure = match result {
        Ok(completed) => {
            loading.completed = completed;
            return Ok(loading);
        }
        Err(error) => error,
    };
    loading.opened.iter().rev().for_each(|library| drop(locked(library).take()));
    Err(failure)
}

/// Has the end of the process noted before the destructors of what was loaded run: the last that is registered is the
/// first that runs.
fn at_the_end() {
    extern_atexit(note_the_end);
}

#[expect(unsafe_code, reason = "C's `atexit`")]
fn extern_atexit(function: extern "C" fn()) {
    // SAFETY: the function stores a flag, and stays as long as the process.
    unsafe { libc::atexit(function) };
}

impl Loading {
    fn failure(&mut self) -> Error {
        let more = self.errors.len() - 1;
        let first = self.errors.swap_remove(0);
        match more {
            0 => first,
            more => {
                Error::new(first.kind(), format!("{first}\n  and {more} more of its registrations failed"))
            }
        }
    }
}

/// A block of registrations of a foreign library: what its handle points to.
pub(crate) struct ForeignLibrary {
    library: Block,
    key: Option<DispatchKey>,
    path: Arc<str>,
}

/// How a block is opened.
pub(crate) struct Opening<'o> {
    pub(crate) kind: LibraryKind,
    pub(crate) namespace: &'o str,
    pub(crate) key: Option<&'o str>,
    pub(crate) file: &'o str,
    pub(crate) line: u32,
}

impl ForeignLibrary {
    /// Opens a block. There is an object in any case: whoever asks for one does not look whether it failed.
    pub(crate) fn open(opening: &Opening<'_>) -> (ForeignLibrary, Result<()>) {
        let path = LOADING.with_borrow(|all| all.last().map(|loading| loading.path.clone()));
        let path = path.unwrap_or_else(|| opening.file.into());
        let (library, key, result) = match Self::try_open(opening) {
            Ok((library, key)) => (Some(library), key, Ok(())),
            Err(error) => (None, None, Err(error)),
        };
        let library = Arc::new(Mutex::new(library));
        LOADING.with_borrow_mut(|all| {
            if let Some(loading) = all.last_mut() {
                loading.opened.push(library.clone());
            }
        });
        (ForeignLibrary { library, key, path }, result)
    }

    fn try_open(opening: &Opening<'_>) -> Result<(Library, Option<DispatchKey>)> {
        let key = opening.key.map(str::parse::<DispatchKey>).transpose()?;
        let place = place(opening.file, opening.line);
        let library = Library::open_at(Dispatcher::global(), opening.kind, opening.namespace, key, place)?;
        Ok((library, key))
    }

    fn change<T>(&self, change: impl FnOnce(&mut Library) -> Result<T>) -> Result<T> {
        match locked(&self.library).as_mut() {
            Some(library) => change(library),
            None => {
                Err(Error::new(ErrorKind::Argument, format!("{}: the library was not opened", self.path)))
            }
        }
    }

    /// Defines an operator.
    ///
    /// # Errors
    /// As [`Library::define_with_tags`].
    pub(crate) fn define(&self, schema: &str, tags: &[&str]) -> Result<()> {
        let operator = self.change(|library| library.define_with_tags(schema, tags))?;
        LOADING.with_borrow_mut(|all| {
            if let Some(loading) = all.last_mut() {
                loading.operators.push(operator);
            }
        });
        Ok(())
    }

    /// Registers a kernel for the block's key.
    ///
    /// # Errors
    /// As [`Library::implement`].
    pub(crate) fn implement(&self, name: &str, function: Entry) -> Result<()> {
        let kernel = Kernel { function, library: self.path.clone(), key: self.key }.into_runtime_kernel();
        self.change(|library| library.implement(name, DispatchKey::Undefined, kernel))?;
        LOADING.with_borrow_mut(|all| {
            if let Some(loading) = all.last_mut() {
                loading.kernels += 1;
            }
        });
        Ok(())
    }

    /// Takes back what was registered with it, unless the process ends.
    pub(crate) fn close(self) {
        if IS_ENDING.load(Ordering::Relaxed) {
            std::mem::forget(self);
        } else {
            drop(locked(&self.library).take());
        }
    }
}

/// Keeps what a registration that is part of a load failed for; the foreign code is told that all is well.
///
/// # Errors
/// The same error, where no library is being loaded.
pub(crate) fn deferred(result: Result<()>) -> Result<()> {
    let Err(error) = result else { return Ok(()) };
    LOADING.with_borrow_mut(|all| match all.last_mut() {
        Some(loading) => {
            loading.errors.push(error);
            Ok(())
        }
        None => Err(error),
    })
}

/// A place in a source file of C++.
fn place(file: &str, line: u32) -> Place {
    let file: &'static str = Box::leak(file.to_owned().into_boxed_str());
    Place { module: Box::leak(Box::new(SourceModule { file, path: "" })), line, column: 1 }
}
