//! The registry of groups, by which operators find them.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use torch_library::prelude::*;

use crate::group::ProcessGroup;

/// The groups by scope and name.
static GROUPS: LazyLock<Mutex<HashMap<(u64, String), ProcessGroup>>> = LazyLock::new(Mutex::default);

thread_local! {
    /// The scope of the thread: 0 for a process that is one rank; threads that are ranks have scopes of their own.
    static SCOPE: Cell<u64> = const { Cell::new(0) };
}

/// The scope of a thread that is a rank; dropping it unregisters all its groups.
pub(crate) struct Scope(u64);

impl Scope {
    pub(crate) fn new() -> Scope {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let own = NEXT.fetch_add(1, Ordering::Relaxed);
        SCOPE.set(own);
        Scope(own)
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        let ended: Vec<_> = groups().extract_if(|(scope, _), _| *scope == self.0).collect();
        drop(ended); // outside of the lock, since each waits for its work
        SCOPE.set(0);
    }
}

fn groups() -> MutexGuard<'static, HashMap<(u64, String), ProcessGroup>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn add(group: ProcessGroup) -> Result<()> {
    let key = (SCOPE.get(), group.name().to_owned());
    let mut groups = groups();
    ensure!(!groups.contains_key(&key), Conflict, "there is a group {:?} already", group.name());
    groups.insert(key, group);
    Ok(())
}

pub(crate) fn remove(name: &str) {
    let ended = groups().remove(&(SCOPE.get(), name.to_owned()));
    drop(ended); // outside of the lock
}

/// The group that is registered under a name.
///
/// ```
/// use torch_library_distributed::{process_group, threads};
///
/// let ranks = threads::run(2, |_| Ok(process_group("world")?.rank()));
/// assert_eq!(ranks.into_iter().collect::<Result<Vec<_>, _>>()?, [0, 1]);
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// # Errors
/// No group is registered under this name.
///
/// PyTorch: `c10d::resolve_process_group`.
pub fn process_group(name: &str) -> Result<ProcessGroup> {
    let groups = groups();
    match groups.get(&(SCOPE.get(), name.to_owned())) {
        Some(group) => Ok(group.clone()),
        None => {
            let mut names: Vec<_> =
                groups.keys().filter(|(scope, _)| *scope == SCOPE.get()).map(|(_, name)| name).collect();
            names.sort();
            bail!(Argument, "no group is called {name:?}; registered are {names:?}")
        }
    }
}
