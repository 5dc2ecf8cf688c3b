//! The registered observers, and which of them are active.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

use super::{CallKind, Callbacks, Event, Observer, Scope, Shared, Wants, Watch, bit};
use crate::dropping::{self, Queue};
use crate::{guard, registry};

/// An observer that is or was registered.
pub(super) struct Registered {
    pub(super) watch: Box<dyn Watch>,
    pub(super) wants: Wants,
    state: AtomicU8,
}

const ENABLED: u8 = 0;
const DISABLED: u8 = 1;
const REMOVED: u8 = 2;

/// The observers of all threads.
static GLOBAL: RwLock<Vec<Shared>> = RwLock::new(Vec::new());
/// The number of observers that are enabled on any thread.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);
/// How many of these observe calls.
static OF_CALLS: AtomicUsize = AtomicUsize::new(0);
/// How many of these ask for inputs or outputs.
static OF_VALUES: AtomicUsize = AtomicUsize::new(0);

/// The observers of one thread, and of those to which its state was carried. It does not own them: where a handle is
/// dropped on another thread, the callbacks go, although that thread cannot change this list.
#[derive(Clone, Default)]
struct OnThread {
    observers: Vec<Weak<Registered>>,
    is_silent: bool,
}

thread_local! {
    static GONE: Queue<Box<dyn Watch>> = const { Queue::new() };
}

/// Queues the callbacks, because recursion could overflow the stack: they may own the handle of another observer, and
/// so on.
impl Drop for Registered {
    fn drop(&mut self) {
        let watch = std::mem::replace(
            &mut self.watch,
            Box::new(Callbacks(|_: &Event<'_>| (), |_: &Event<'_>, ()| {})),
        );
        dropping::in_turn(&GONE, watch);
    }
}

impl Registered {
    pub(super) fn new(observer: Observer) -> Shared {
        Arc::new(Registered { watch: observer.watch, wants: observer.wants, state: AtomicU8::new(DISABLED) })
    }

    fn is_enabled(&self) -> bool {
        self.state.load(Ordering::Acquire) == ENABLED
    }

    /// Changes the state, if it is `from`.
    fn change(&self, from: u8, to: u8) {
        let changed = self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if !changed || (from != ENABLED && to != ENABLED) {
            return;
        }
        let count = |counter: &AtomicUsize| match to {
            ENABLED => counter.fetch_add(1, Ordering::AcqRel),
            _ => counter.fetch_sub(1, Ordering::AcqRel),
        };
        count(&ACTIVE);
        if self.wants.scopes & bit(Scope::Function) != 0 {
            count(&OF_CALLS);
            if self.wants.inputs || self.wants.outputs {
                count(&OF_VALUES);
            }
            registry::refresh_detours();
        }
    }
}

/// The handle of a registered observer; dropping it unregisters the observer, for all threads.
///
/// PyTorch: `at::CallbackHandle`.
#[must_use = "the observer is unregistered when this is dropped"]
pub struct ObserverHandle(Shared);

impl fmt::Debug for ObserverHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObserverHandle").field("is_enabled", &self.0.is_enabled()).finish_non_exhaustive()
    }
}

impl ObserverHandle {
    pub(super) fn for_all_threads(observer: Shared) -> Self {
        GLOBAL.write().unwrap_or_else(PoisonError::into_inner).push(observer.clone());
        observer.change(DISABLED, ENABLED);
        ObserverHandle(observer)
    }

    pub(super) fn for_this_thread(observer: Shared) -> Self {
        OnThread::update(|thread| thread.observers.push(Arc::downgrade(&observer)));
        observer.change(DISABLED, ENABLED);
        ObserverHandle(observer)
    }

    /// Stops calling the observer until it is enabled again.
    ///
    /// PyTorch: `at::disableCallback`.
    pub fn disable(&self) {
        self.0.change(ENABLED, DISABLED);
    }

    /// Calls a disabled observer again.
    ///
    /// PyTorch: `at::reenableCallback`.
    pub fn enable(&self) {
        self.0.change(DISABLED, ENABLED);
    }
}

/// PyTorch: `at::removeCallback`.
impl Drop for ObserverHandle {
    fn drop(&mut self) {
        self.0.change(ENABLED, REMOVED);
        self.0.change(DISABLED, REMOVED);
        let is_other = |other: &Shared| !Arc::ptr_eq(other, &self.0);
        // The handle still owns the observer, so its callbacks are not dropped under the lock; dropping them may call
        // operators.
        GLOBAL.write().unwrap_or_else(PoisonError::into_inner).retain(is_other);
        OnThread::update(|thread| thread.observers.retain(|other| other.as_ptr() != Arc::as_ptr(&self.0)));
    }
}

impl OnThread {
    fn update(change: impl FnOnce(&mut OnThread)) {
        let mut thread = guard::carried::<OnThread>().as_deref().cloned().unwrap_or_default();
        change(&mut thread);
        thread.observers.retain(|observer| observer.strong_count() > 0);
        guard::set_carried((thread.is_silent || !thread.observers.is_empty()).then_some(thread));
    }
}

/// Stops this thread's work from being observed while it lives, or allows it again.
///
/// ```
/// use torch_library::observe::ObservingGuard;
///
/// let _quiet = ObservingGuard::new(false);
/// // Here this thread's work is not observed.
/// let _loud = ObservingGuard::new(true);
/// // Here it is again.
/// ```
///
/// PyTorch: `at::RecordFunctionGuard`, `at::DisableRecordFunctionGuard`.
#[must_use = "a guard acts while it lives"]
#[derive(Debug)]
pub struct ObservingGuard {
    was_silent: bool,
    not_send: std::marker::PhantomData<*const ()>,
}

impl ObservingGuard {
    /// Turns observing on or off for this thread.
    pub fn new(enabled: bool) -> Self {
        ObservingGuard { was_silent: set_silent(!enabled), not_send: std::marker::PhantomData }
    }
}

impl Drop for ObservingGuard {
    fn drop(&mut self) {
        set_silent(self.was_silent);
    }
}

fn set_silent(is_silent: bool) -> bool {
    let mut before = false;
    OnThread::update(|thread| before = std::mem::replace(&mut thread.is_silent, is_silent));
    before
}

/// Whether any observer observes calls.
pub(super) fn is_active() -> bool {
    OF_CALLS.load(Ordering::Acquire) != 0
}

/// Whether any observer asks for the values of calls.
pub(super) fn wants_values() -> bool {
    OF_VALUES.load(Ordering::Acquire) != 0
}

/// The observers of work that begins on this thread now; `None` if there are none.
pub(super) fn observers_of(scope: Scope, call: Option<CallKind>) -> Option<Vec<Shared>> {
    if ACTIVE.load(Ordering::Acquire) == 0 {
        return None;
    }
    let thread = guard::carried::<OnThread>();
    if thread.as_ref().is_some_and(|thread| thread.is_silent) {
        return None;
    }
    let mut observers = GLOBAL.read().unwrap_or_else(PoisonError::into_inner).clone();
    observers.extend(thread.iter().flat_map(|thread| thread.observers.iter().filter_map(Weak::upgrade)));
    observers.retain(|observer| {
        observer.is_enabled() && observer.wants.sees(scope, call) && chance(observer.wants.probability)
    });
    Some(observers)
}

/// True with this probability.
fn chance(probability: f64) -> bool {
    static THREADS: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        /// Each thread begins at a number of its own: otherwise the first calls of all threads would be observed, or
        /// none of them.
        static STATE: Cell<u64> = Cell::new(mixed(THREADS.fetch_add(1, Ordering::Relaxed)));
    }
    if probability >= 1.0 {
        return true;
    }
    // SplitMix64: an addition, then a mix of the bits.
    let state = STATE.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    STATE.set(state);
    (mixed(state) as f64) < probability * u64::MAX as f64
}

/// The number with its bits mixed.
fn mixed(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
