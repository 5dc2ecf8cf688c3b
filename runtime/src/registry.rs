//! The dispatcher's memory: operators by name, kernels by key, fallbacks, and the tables computed from them.
//!
//! Everything here is cold. Calls read published tables (see [`crate::operator`]) and come here once per operator.
//!
//! **Invariant:** a table is a pure function of the registrations that are alive, never of their order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use once_cell::sync::OnceCell;
use torch_library_schema::Schema;

use crate::error::{Error, ErrorKind, Result};
use crate::key::DispatchKey;
use crate::operator::{Operator, OperatorHandle, Resolved};
use crate::trace;

mod build;
mod conflict;
mod entry;
mod info;
mod library;
mod missing;
mod resolve;
mod runtime;
mod state;

pub use conflict::Conflict;
pub use info::{KernelInfo, OperatorInfo};
pub use library::{Library, LibraryKind, RuntimeKernel};

use entry::Entry;
use state::State;

/// The collection of all operators, kernels and fallbacks.
///
/// A program has one, [`Dispatcher::global`], filled by the linker. Further ones start empty, share nothing with it,
/// and are filled through [`Library`]: tests and tools use them.
///
/// PyTorch: `c10::Dispatcher`.
pub struct Dispatcher {
    state: Mutex<State>,
}

static GLOBAL: OnceCell<Dispatcher> = OnceCell::new();

impl Dispatcher {
    /// The process-wide dispatcher. The first use collects what is linked in; that runs no code of a user.
    pub fn global() -> &'static Dispatcher {
        let mut first = false;
        let dispatcher = GLOBAL.get_or_init(|| {
            first = true;
            Dispatcher { state: Mutex::new(build::from_records()) }
        });
        if first {
            trace::listen_if_environment_asks();
        }
        dispatcher
    }

    /// An empty dispatcher without any fallback. It lives as long as the process, as handles to its operators do.
    pub fn leak_empty() -> &'static Dispatcher {
        Box::leak(Box::new(Dispatcher { state: Mutex::new(State::default()) }))
    }

    /// The operator of a name: `aten::add.Tensor`.
    ///
    /// # Errors
    /// No operator of that name is defined; the message lists the nearest names.
    ///
    /// PyTorch: `Dispatcher::findSchemaOrThrow`.
    pub fn find(&self, name: &str) -> Result<OperatorHandle> {
        self.lock().find(name).map(Operator::handle)
    }

    /// All operators that are defined, by name.
    pub fn operators(&self) -> Vec<OperatorInfo> {
        self.lock().operators()
    }

    /// What is known of one operator.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn operator(&self, name: &str) -> Result<OperatorInfo> {
        let state = self.lock();
        let operator = state.find(name)?;
        state.entry(operator).and_then(Entry::info).ok_or_else(|| removed(operator))
    }

    /// The fallbacks that serve all operators, by key.
    pub fn fallbacks(&self) -> Vec<KernelInfo> {
        self.lock().fallbacks()
    }

    /// The contradictions between registrations; the operators concerned refuse every call.
    pub fn conflicts(&self) -> Vec<Conflict> {
        self.lock().conflicts().to_vec()
    }

    /// Picks up what was linked in since the first use, by a library that was loaded later.
    pub fn rescan(&self) {
        build::rescan(&mut self.lock());
    }

    pub(crate) fn schema(&self, operator: &'static Operator) -> Result<Arc<Schema>> {
        self.lock().schema(operator)
    }

    /// The kernel in a row, as the registrations stand.
    pub(crate) fn kernel_at(&self, operator: &'static Operator, row: usize) -> Option<KernelInfo> {
        self.lock().kernel_at(operator, row)
    }

    fn resolve(&self, operator: &'static Operator) -> Result<&'static Resolved> {
        self.lock().resolve(operator)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the state was locked is a bug of ours; the state is committed in whole steps, so go on.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Collects what is linked into the program and says what is wrong with it, if anything.
///
/// Calling it is optional: the first call of an operator collects as well, and operators in conflict return this
/// report. A program that wants to know at its start asks here.
///
/// # Errors
/// One report of all conflicts of the process, each with both places.
///
/// ```
/// torch_library::init()?;
/// # Ok::<(), torch_library::Error>(())
/// ```
pub fn init() -> Result<()> {
    match Dispatcher::global().lock().report() {
        Some(report) => Err(Error::new(ErrorKind::Conflict, report)),
        None => Ok(()),
    }
}

/// The dispatcher of an operator.
pub(crate) fn of(operator: &Operator) -> &'static Dispatcher {
    operator.spec().dispatcher.unwrap_or_else(Dispatcher::global)
}

/// The table of an operator that has none yet.
pub(crate) fn resolve(operator: &'static Operator) -> Result<&'static Resolved> {
    of(operator).resolve(operator)
}

/// Publishes detours or takes them back, after a listener came or went.
pub(crate) fn refresh_detours() {
    // Before the first use there is nothing to refresh, and the first use looks for itself.
    if let Some(dispatcher) = GLOBAL.get() {
        dispatcher.lock().republish_all();
    }
}

#[cold]
fn removed(operator: &Operator) -> Error {
    Error::new(
        ErrorKind::UnknownOperator,
        format!("operator {operator} was removed, with the library that defined it, or never linked in"),
    )
}

/// Whether a kernel for this key could ever be called.
fn can_run(key: DispatchKey) -> bool {
    key.is_alias() || key.is_runtime()
}
