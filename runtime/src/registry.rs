//! The registry: operators by name, kernels by key, fallbacks, and the tables computed from them.
//!
//! Everything here is off the hot path. Calls read published tables (see [`crate::operator`]) and come here once per
//! operator.
//!
//! **Invariant:** a table is a pure function of the registrations that are alive, never of their order.

use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use once_cell::sync::OnceCell;

use crate::collect::{Record, linking};
use crate::error::{Error, ErrorKind, Result};
use crate::key::DispatchKey;
use crate::operator::kernel::Kernel;
use crate::operator::{Operator, OperatorHandle, Registered, Registry, Resolved};
use crate::program::Program;

mod audit;
mod build;
mod by_name;
mod change;
mod check;
mod compute;
mod conflict;
mod entry;
mod explain;
mod info;
mod inspect;
mod interned;
mod layer;
mod library;
mod listener;
mod missing;
mod misspelt;
mod names;
mod resolve;
mod runtime;
mod runtime_kernel;
mod seats;
mod state;
mod unknown;
mod variant;

pub(crate) use by_name::{call_for, find_for};
pub(crate) use layer::{Differentiating, LayerKernel, Layers, Starting};
pub(crate) use variant::Variant;

pub use audit::{RegistrationInfo, Violation};
pub use change::ListenerHandle;
pub use conflict::Conflict;
pub use explain::{CallInfo, Fate, Layer};
pub use info::{KernelInfo, OperatorInfo};
pub use inspect::{RowInfo, TableInfo};
pub use library::{Library, LibraryKind};
pub use listener::RegistrationEvent;
pub(crate) use runtime::difference;
pub use runtime_kernel::RuntimeKernel;

use entry::Entry;
use names::Names;
use state::State;

/// A registry of operators, kernels and fallbacks.
///
/// A program has one, [`Dispatcher::global`], filled by the linker. Further ones start empty, share nothing with it,
/// and are filled through [`Library`]: tests and tools use them.
///
/// PyTorch: `c10::Dispatcher`.
pub struct Dispatcher {
    /// Read without the lock.
    names: &'static Names,
    state: Mutex<State>,
    /// Notified when a waiting thread should look again.
    changed: Condvar,
}

static GLOBAL: OnceCell<Dispatcher> = OnceCell::new();
/// The dispatchers besides the global one.
static OTHERS: Mutex<Vec<&'static Dispatcher>> = Mutex::new(Vec::new());

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher").finish_non_exhaustive()
    }
}

impl Dispatcher {
    /// The process-wide dispatcher. The first use collects what is linked in, without running user code.
    #[inline]
    pub fn global() -> &'static Dispatcher {
        GLOBAL.get().unwrap_or_else(Dispatcher::collect)
    }

    #[cold]
    fn collect() -> &'static Dispatcher {
        let mut first = false;
        let dispatcher = GLOBAL.get_or_init(|| {
            first = true;
            Dispatcher::new(build::from_records)
        });
        if first {
            Program::started();
            misspelt::warn_of_namespaces();
        }
        dispatcher
    }

    /// An empty dispatcher without any fallback. It is never freed, because handles to its operators are not.
    pub fn leak_empty() -> &'static Dispatcher {
        let dispatcher = Box::leak(Box::new(Dispatcher::new(State::new)));
        others().push(dispatcher);
        dispatcher
    }

    fn new(state: impl FnOnce(&'static Names) -> State) -> Self {
        let names = Names::leak();
        Dispatcher { names, state: Mutex::new(state(names)), changed: Condvar::new() }
    }

    /// The operator with this name: `aten::add.Tensor`. Takes no lock.
    ///
    /// # Errors
    /// No operator with that name is defined; the message lists the nearest names. They are searched for when it is
    /// shown, so that asking for what may not exist is cheap.
    ///
    /// PyTorch: `Dispatcher::findSchemaOrThrow`.
    #[inline]
    pub fn find(&self, name: &str) -> Result<OperatorHandle> {
        match self.names.get(name).and_then(|name| name.operator()) {
            Some(operator) => Ok(operator.handle()),
            None => self.find_linked(name),
        }
    }

    #[cold]
    fn find_linked(&self, name: &str) -> Result<OperatorHandle> {
        let operator = linking::called_by_name(name).filter(|operator| std::ptr::eq(of(operator), self));
        let operator = operator.ok_or_else(|| self.lock().unknown(name))?;
        self.link(operator);
        Ok(operator.handle())
    }

    /// All defined operators, by name.
    ///
    /// PyTorch: `Dispatcher::getAllOpNames`.
    pub fn operators(&self) -> Vec<OperatorInfo> {
        self.lock().operators()
    }

    /// Information about one operator.
    ///
    /// # Errors
    /// The errors of [`find`](Self::find).
    pub fn operator(&self, name: &str) -> Result<OperatorInfo> {
        let state = self.lock();
        state.entry_named(name).and_then(Entry::info).ok_or_else(|| state.unknown(name))
    }

    /// The present dispatch table for a name. A name with kernels has a table even if the operator is not defined.
    ///
    /// # Errors
    /// Nothing is registered under that name.
    pub fn table(&self, name: &str) -> Result<TableInfo> {
        let state = self.lock();
        let entry = state.entry_named(name).filter(|entry| entry.is_in_use());
        entry.map(|entry| state.table_info(entry)).ok_or_else(|| state.unknown(name))
    }

    /// The fallbacks that serve all operators, by key.
    pub fn fallbacks(&self) -> Vec<KernelInfo> {
        self.lock().fallbacks()
    }

    /// The conflicts between registrations; the affected operators refuse every call. Two backends for one device type
    /// affect no operator: the first is used, and a device of the other is an error.
    pub fn conflicts(&self) -> Vec<Conflict> {
        let mut conflicts = self.lock().conflicts.clone();
        if std::ptr::eq(self, Dispatcher::global()) {
            conflicts.extend(check::build_conflicts());
            conflicts.extend(check::backend_conflicts()); // the backends are asked while nothing is locked
            conflicts.sort();
        }
        conflicts
    }

    /// Registers what libraries contain that were loaded after the first use, and returns how many records are new: the
    /// declarations, the kernels and the fallbacks of a macro call are one. None are if a library has a runtime of its
    /// own. [`plug_in::load`](crate::plug_in::load) does this, and says what went wrong.
    pub fn rescan(&self) -> usize {
        build::rescan(&mut self.change())
    }

    /// Registers an operator with selective linking, when it is first called or named.
    fn link(&self, operator: &'static Operator) {
        if let (Some(links), None) = (operator.spec().links, operator.entry()) {
            // A kernel of the operator that this is a variant of may serve both.
            let base = operator.spec().base.and_then(|base| base().spec().links);
            let of_base = base.map_or(&[][..], |links| links());
            build::link(&mut self.change(), operator, links().iter().chain(of_base));
        }
    }

    fn resolve(&self, operator: &'static Operator) -> Result<Resolved> {
        self.lock().resolve(operator)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the state is locked is a bug of this library; the state changes only in complete steps, so go
        // on.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Collects what is linked into the program, and reports conflicts, if any.
///
/// Calling it is optional: the first call of an operator collects as well, and operators in conflict return this
/// report. Call it to check all registrations when the program starts.
///
/// # Errors
/// One report of all conflicts in the process, with all source locations.
///
/// ```
/// torch_library::init()?;
/// # Ok::<(), torch_library::Error>(())
/// ```
pub fn init() -> Result<()> {
    match conflict::report(&Dispatcher::global().conflicts()) {
        Some(report) => Err(Error::new(ErrorKind::Conflict, report)),
        None => Ok(()),
    }
}

/// Registers records that the linker did not collect, see [`register!`](crate::register).
pub fn register(records: &[&'static Record]) {
    build::absorb(&mut Dispatcher::global().change(), records);
}

/// Registers operators that no code calls by their functions, see [`link!`](crate::link).
pub fn link(operators: &[&'static Operator]) {
    for operator in operators {
        of(operator).link(operator);
    }
}

/// The dispatcher that an operator belongs to.
pub(crate) fn of(operator: &Operator) -> &'static Dispatcher {
    operator.spec().dispatcher.unwrap_or_else(Dispatcher::global)
}

impl Registered for Program {
    type Dispatcher = Dispatcher;
    type Links = linking::Links;
}

impl Registry for Program {
    fn resolve(operator: &'static Operator) -> Result<Resolved> {
        Self::check_alive(operator)?; // a stale handle takes no lock
        of(operator).resolve(operator)
    }

    fn check_alive(operator: &'static Operator) -> Result<()> {
        of(operator).link(operator); // the first use registers the operator
        if operator.entry().is_some() { Ok(()) } else { Err(removed(operator)) }
    }

    fn kernel_for_key(operator: &'static Operator, key: DispatchKey) -> Result<&'static Kernel> {
        kernel_for_key(operator, key)
    }

    fn has_kernel_for(operator: &'static Operator, key: DispatchKey) -> bool {
        of(operator).lock().has_kernel_for(operator, key)
    }
}

/// The kernel registered for exactly this key, otherwise the key's fallback.
pub(crate) fn kernel_for_key(operator: &'static Operator, key: DispatchKey) -> Result<&'static Kernel> {
    of(operator).lock().kernel_for_key(operator, key)
}

/// Keeps a kernel that is not in the operator's table as long as the process runs.
pub(crate) fn keep_kernel(operator: &'static Operator, kernel: Kernel) -> Result<&'static Kernel> {
    of(operator).lock().keep_kernel(operator, kernel)
}

/// A row of an operator's present table.
pub(crate) fn row_of(operator: OperatorHandle, key: DispatchKey) -> Option<RowInfo> {
    let operator = operator.operator();
    of(operator).lock().row_of(operator, key)
}

/// Publishes detours or removes them, after an observer was added or removed.
pub(crate) fn refresh_detours() {
    // Before its first use a dispatcher has nothing to refresh, and the first use checks for observers.
    let dispatchers: Vec<_> = GLOBAL.get().into_iter().chain(others().iter().copied()).collect();
    dispatchers.into_iter().for_each(|dispatcher| dispatcher.lock().refresh_all());
}

fn others() -> MutexGuard<'static, Vec<&'static Dispatcher>> {
    OTHERS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cold]
fn removed(operator: &Operator) -> Error {
    Error::new(
        ErrorKind::UnknownOperator,
        format!("operator {operator} was removed, with the library that defined it, or never linked in"),
    )
}

#[cfg(test)]
mod tests;
