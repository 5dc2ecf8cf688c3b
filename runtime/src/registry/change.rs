//! Who wants to know which operators come and go, and who waits for one.
//!
//! # How it works
//!
//! Whoever changes the registry holds its lock as a [`Change`]. What happened is written into a queue of each listener
//! while the lock is held, so that all of them hear the same in the same order. Listeners run after the lock is
//! released, each of them one call at a time; what comes meanwhile, by the listener's own doing included, is told by
//! the thread that is telling already. So a listener may call and register whatever it likes.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::entry::Entry;
use super::listener::{Listener, Queue, RegistrationEvent};
use super::seats::{self, Leaving};
use super::state::State;
use super::{Dispatcher, KernelInfo};
use crate::error::{Error, ErrorKind, Result};
use crate::key::DispatchKey;
use crate::operator::OperatorHandle;
use crate::panics;

/// A listener that is registered. Dropping it ends that; a call that is under way on another thread may still run.
///
/// PyTorch: `RegistrationHandleRAII` of `Dispatcher::addRegistrationListener`.
#[must_use = "the listener goes when this is dropped"]
pub struct ListenerHandle {
    dispatcher: &'static Dispatcher,
    listener: Arc<Listener>,
}

impl Drop for ListenerHandle {
    fn drop(&mut self) {
        self.listener.queue().is_removed = true;
        // The last of it goes with this handle, after the lock: what it holds may run code of its own as it goes.
        self.dispatcher.lock().listeners.retain(|other| !Arc::ptr_eq(other, &self.listener));
    }
}

/// The registry's lock, held to change what is registered. Letting go of it tells those who listen and wait.
pub(super) struct Change<'d> {
    dispatcher: &'d Dispatcher,
    /// There until the drop.
    state: Option<MutexGuard<'d, State>>,
}

impl Deref for Change<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        self.state.as_deref().expect("held until the drop")
    }
}

impl DerefMut for Change<'_> {
    fn deref_mut(&mut self) -> &mut State {
        self.state.as_deref_mut().expect("held until the drop")
    }
}

/// What there is to do once the lock is released.
enum After {
    Tell(Vec<Arc<Listener>>),
    Drop(Vec<Leaving>),
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        let due = if self.has_news { self.listeners.clone() } else { Vec::new() };
        self.has_news = false;
        let leaving = std::mem::take(&mut self.leaving);
        let somebody_waits = self.waiting > 0;
        self.state = None;
        if somebody_waits {
            self.dispatcher.changed.notify_all();
        }
        // What runs here is code of users: no panic of one keeps the others from their turn.
        let steps = [After::Tell(due), After::Drop(leaving)];
        panics::each(steps, |step| match step {
            After::Tell(due) => panics::each(due, |listener| listener.tell()),
            After::Drop(leaving) => seats::drop_all(leaving),
        });
    }
}

impl State {
    /// Writes down what those who listen are to be told once the lock is released.
    pub(super) fn note(&mut self, event: RegistrationEvent) {
        self.listeners.iter().for_each(|listener| listener.queue().events.push_back(event));
        self.has_news = !self.listeners.is_empty();
    }
}

impl Dispatcher {
    /// The lock, to change what is registered.
    pub(super) fn change(&self) -> Change<'_> {
        Change { dispatcher: self, state: Some(self.lock()) }
    }

    /// Tells a listener which operators there are, and from then on which come and go, until the handle is dropped. It
    /// is told in the order in which things happen, one after the other, by the thread that registers or by one that is
    /// telling it already; no lock is held, so it may call and register anything.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use torch_library::{Dispatcher, Library, LibraryKind, RegistrationEvent};
    ///
    /// let dispatcher = Dispatcher::leak_empty();
    /// let mut library = Library::open(dispatcher, LibraryKind::Definition, "ns", None)?;
    /// library.define("early(Tensor x) -> Tensor")?;
    ///
    /// let heard = Arc::new(Mutex::new(Vec::new()));
    /// let log = heard.clone();
    /// let handle = dispatcher.listen(move |event| {
    ///     log.lock().unwrap().push(match event {
    ///         RegistrationEvent::Registered(operator) => format!("+ {operator}"),
    ///         RegistrationEvent::Deregistered(operator) => format!("- {operator}"),
    ///     });
    /// });
    /// library.define("late(Tensor x) -> Tensor")?;
    /// drop(library);
    /// drop(handle);
    /// assert_eq!(*heard.lock().unwrap(), ["+ ns::early", "+ ns::late", "- ns::late", "- ns::early"]);
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// PyTorch: `Dispatcher::addRegistrationListener`, which holds its lock meanwhile.
    pub fn listen(
        &'static self,
        listener: impl Fn(RegistrationEvent) + Send + Sync + 'static,
    ) -> ListenerHandle {
        let mut state = self.lock();
        let operators = state.operators().into_iter();
        let events = operators.map(|info| RegistrationEvent::Registered(info.operator)).collect();
        let queue = Mutex::new(Queue { events, ..Queue::default() });
        let listener = Arc::new(Listener { listen: Box::new(listener), queue });
        state.listeners.push(listener.clone());
        drop(state);
        listener.tell();
        ListenerHandle { dispatcher: self, listener }
    }

    /// The operator of a name, as soon as somebody defines it: for threads and plug-ins that start in any order.
    ///
    /// ```
    /// use std::time::Duration;
    /// use torch_library::{Dispatcher, Library, LibraryKind};
    ///
    /// let dispatcher = Dispatcher::leak_empty();
    /// std::thread::scope(|scope| {
    ///     let waiting = scope.spawn(|| dispatcher.wait_for_operator("ns::op", Duration::from_secs(60)));
    ///     let mut library = Library::open(dispatcher, LibraryKind::Definition, "ns", None).unwrap();
    ///     library.define("op(Tensor x) -> Tensor").unwrap();
    ///     assert_eq!(waiting.join().unwrap().unwrap().to_string(), "ns::op");
    /// });
    /// ```
    ///
    /// # Errors
    /// Nobody did in time.
    ///
    /// PyTorch: `Dispatcher::waitForDef`, for two seconds.
    pub fn wait_for_operator(&self, name: &str, timeout: Duration) -> Result<OperatorHandle> {
        let found = |state: &State| state.named(name).and_then(Entry::operator).map(|found| found.handle());
        self.wait(timeout, found, |state| state.unknown(name))
    }

    /// The kernel of an operator for exactly this key, which may be an alias, as soon as somebody registers one.
    ///
    /// # Errors
    /// Nobody did in time.
    ///
    /// PyTorch: `Dispatcher::waitForImpl`, for two seconds.
    pub fn wait_for_kernel(&self, name: &str, key: DispatchKey, timeout: Duration) -> Result<KernelInfo> {
        let found = |state: &State| {
            let kernels = state.named(name)?.kernels().into_iter();
            kernels.into_iter().find(|kernel| kernel.key == key.registration_key())
        };
        let missing = |_: &State| {
            let message = format!("nobody registered a kernel of {name} for {key}");
            Error::new(ErrorKind::MissingKernel, message)
        };
        self.wait(timeout, found, missing)
    }

    fn wait<T>(
        &self,
        timeout: Duration,
        found: impl Fn(&State) -> Option<T>,
        missing: impl FnOnce(&State) -> Error,
    ) -> Result<T> {
        let mut state = self.lock();
        state.waiting += 1;
        let waited = self.changed.wait_timeout_while(state, timeout, |state| found(state).is_none());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        found(&state).ok_or_else(|| missing(&state).context(format_args!("waited for {timeout:?}")))
    }
}
