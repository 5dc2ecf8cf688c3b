//! The registrations of a foreign library, while it is loaded and later: one object for each block of them.
//!
//! A library registers in its constructors, where exceptions are not caught: a failure there is stored, and makes the
//! load fail once the constructors have run.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use torch_library::{
    DispatchKey, Dispatcher, Error, ErrorKind, Library, LibraryKind, OperatorHandle, Place, Result,
    SourceModule, bail,
};

use crate::host::exported;
use crate::host::kernel::{Entry, Kernel};

/// A library in the registry; `None` after it was closed, or if it could not be opened.
type Block = Arc<Mutex<Option<Library>>>;

fn locked(block: &Block) -> MutexGuard<'_, Option<Library>> {
    block.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The registrations of a library that is being loaded.
pub(crate) struct Loading {
    path: Arc<str>,
    pub(crate) operators: Vec<OperatorHandle>,
    pub(crate) kernels: usize,
    pub(crate) errors: Vec<Error>,
    /// The blocks that its constructors opened, in order.
    opened: Vec<Block>,
    /// The registrations made here for operators of a Rust crate.
    pub(crate) completed: Vec<Library>,
}

thread_local! {
    static LOADING: RefCell<Vec<Loading>> = const { RefCell::new(Vec::new()) };
}

/// Whether the process is ending: then destructors of foreign libraries run, and nothing has to be unregistered any
/// more.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

extern "C" fn note_the_end() {
    IS_ENDING.store(true, Ordering::Relaxed);
}

/// Whether this thread is loading a library.
pub(crate) fn is_loading() -> bool {
    LOADING.try_with(|loading| !loading.borrow().is_empty()).unwrap_or(false)
}

/// Runs code that loads a library, whose constructors register operators. If anything fails, nothing stays registered.
///
/// # Errors
/// The error of `run`, or of the first failed registration.
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
    for block in loading.opened.iter().rev() {
        let library = locked(block).take();
        drop(library); // without the lock, because listeners run
    }
    Err(failure)
}

/// Sets the flag at the end of the process, before the destructors of loaded libraries run: handlers run in the reverse
/// order of their registration.
fn at_the_end() {
    extern_atexit(note_the_end);
}

#[expect(unsafe_code, reason = "C's `atexit`")]
fn extern_atexit(function: extern "C" fn()) {
    // SAFETY: the function stores a flag, and lives as long as the process.
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

/// A block of registrations of a foreign library, which its handle points to.
pub(crate) struct ForeignLibrary {
    library: Block,
    key: Option<DispatchKey>,
    path: Arc<str>,
}

/// The arguments for opening a block.
pub(crate) struct Opening<'o> {
    pub(crate) kind: LibraryKind,
    pub(crate) namespace: &'o str,
    pub(crate) key: Option<&'o str>,
    pub(crate) file: &'o str,
    pub(crate) line: u32,
}

impl ForeignLibrary {
    /// Opens a block. The object is returned even after a failure, because libraries do not check for one.
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
    /// The errors of [`Library::define_with_tags`].
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
    /// The errors of [`Library::implement`].
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

    /// Unregisters the block, unless the process is ending.
    pub(crate) fn close(self) {
        if IS_ENDING.load(Ordering::Relaxed) {
            std::mem::forget(self);
        } else {
            let library = locked(&self.library).take();
            drop(library); // without the lock, because listeners run
        }
    }
}

/// Stores the error of a registration that is part of a load; the foreign code gets a success.
///
/// # Errors
/// The same error, if no library is being loaded.
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

/// A place in a C++ source file.
fn place(file: &str, line: u32) -> Place {
    let file: &'static str = Box::leak(file.to_owned().into_boxed_str());
    Place { module: Box::leak(Box::new(SourceModule { file, path: "" })), line, column: 1 }
}
