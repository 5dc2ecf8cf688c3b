//! Notifying registration listeners and threads that wait for a registration.
//!
//! # How it works
//!
//! Code that changes the registry holds its lock as a [`Change`]. Events are added to a queue of each listener while
//! the lock is held, so that all listeners get the same events in the same order. Listeners are called after the lock
//! is released, each with one event at a time; events that arrive meanwhile, also those that the listener itself
//! causes, are delivered by the thread that is calling it already. So a listener may call and register anything.

use std::fmt;
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

/// A registered listener. Dropping it unregisters the listener; a call that is under way on another thread may still
/// run.
///
/// PyTorch: `RegistrationHandleRAII` of `Dispatcher::addRegistrationListener`.
#[must_use = "the listener is unregistered when this is dropped"]
pub struct ListenerHandle {
    dispatcher: &'static Dispatcher,
    listener: Arc<Listener>,
}

impl fmt::Debug for ListenerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListenerHandle").finish_non_exhaustive()
    }
}

impl Drop for ListenerHandle {
    fn drop(&mut self) {
        self.listener.queue().is_removed = true;
        // This handle owns the listener until after the lock is released, since dropping its closure may run arbitrary
        // code.
        self.dispatcher.lock().listeners.retain(|other| !Arc::ptr_eq(other, &self.listener));
    }
}

/// The registry's lock, held to change registrations. Releasing it notifies listeners and waiting threads.
pub(super) struct Change<'d> {
    dispatcher: &'d Dispatcher,
    /// `Some` until the drop.
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

/// A step after the lock is released, which runs user code.
enum Step {
    Notify(Vec<Arc<Listener>>),
    DropClosures(Vec<Leaving>),
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        let listeners = if self.has_events { self.listeners.clone() } else { Vec::new() };
        self.has_events = false;
        let leaving = std::mem::take(&mut self.leaving);
        let has_waiting_threads = self.waiting > 0;
        self.state = None; // releases the lock
        if has_waiting_threads {
            self.dispatcher.changed.notify_all();
        }
        // A panic in one step must not prevent the other.
        panics::each([Step::Notify(listeners), Step::DropClosures(leaving)], |step| match step {
            Step::Notify(listeners) => panics::each(listeners, |listener| listener.deliver()),
            Step::DropClosures(leaving) => seats::drop_all(leaving),
        });
    }
}

impl State {
    /// Queues an event for the listeners, which are called once the lock is released.
    pub(super) fn queue_event(&mut self, event: RegistrationEvent) {
        self.listeners.iter().for_each(|listener| listener.queue().events.push_back(event));
        self.has_events = !self.listeners.is_empty();
    }
}

impl Dispatcher {
    /// Takes the lock to change registrations.
    pub(super) fn change(&self) -> Change<'_> {
        Change { dispatcher: self, state: Some(self.lock()) }
    }

    /// Tells a listener which operators exist, and from then on which are added and removed, until the handle is
    /// dropped. It gets the events in order, one at a time, from the thread that registers or from one that is calling
    /// it already. No lock is held during a call, so it may call and register anything.
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
    /// PyTorch: `Dispatcher::addRegistrationListener`, which holds its lock during the call.
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
        listener.deliver();
        ListenerHandle { dispatcher: self, listener }
    }

    /// The operator with this name, as soon as it is defined: for threads and plug-ins that start in any order.
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
    /// The operator was not defined in time.
    ///
    /// PyTorch: `Dispatcher::waitForDef`, for two seconds.
    pub fn wait_for_operator(&self, name: &str, timeout: Duration) -> Result<OperatorHandle> {
        let find = |state: &State| {
            state.entry_named(name).and_then(Entry::operator).map(|operator| operator.handle())
        };
        self.wait(timeout, find, |state| state.unknown(name))
    }

    /// The kernel of an operator for exactly this key, which may be an alias, as soon as it is registered.
    ///
    /// # Errors
    /// No such kernel was registered in time.
    ///
    /// PyTorch: `Dispatcher::waitForImpl`, for two seconds.
    pub fn wait_for_kernel(&self, name: &str, key: DispatchKey, timeout: Duration) -> Result<KernelInfo> {
        let find = |state: &State| {
            let mut kernels = state.entry_named(name)?.kernels().into_iter();
            kernels.find(|kernel| kernel.key == key.registration_key())
        };
        let missing = |_: &State| {
            let message = format!("no kernel of {name} for {key} was registered");
            Error::new(ErrorKind::MissingKernel, message)
        };
        self.wait(timeout, find, missing)
    }

    /// Waits until `find` finds something, but no longer than the timeout.
    fn wait<T>(
        &self,
        timeout: Duration,
        find: impl Fn(&State) -> Option<T>,
        missing: impl FnOnce(&State) -> Error,
    ) -> Result<T> {
        let mut state = self.lock();
        state.waiting += 1;
        let waited = self.changed.wait_timeout_while(state, timeout, |state| find(state).is_none());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        find(&state).ok_or_else(|| missing(&state).context(format_args!("waited for {timeout:?}")))
    }
}
