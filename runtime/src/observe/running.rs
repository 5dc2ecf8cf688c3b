//! Observed work that is under way: its observers are notified when it begins and when it ends.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use super::observers::observers_of;
use super::{Call, CallKind, Event, Scope, Shared};
use crate::key::DispatchKeySet;
use crate::operator::OperatorHandle;
use crate::panics;
use crate::value::Value;

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Whether this thread is calling an observer, whose own work is not observed.
    static NOTIFYING: Cell<bool> = const { Cell::new(false) };
}

/// Observed work; dropping it ends the work.
pub(crate) struct Running {
    scope: Scope,
    id: u64,
    depth: usize,
    name: String,
    call: Option<(CallKind, OperatorHandle, DispatchKeySet, SmallVec<[DispatchKeySet; 8]>)>,
    /// The observers, each with the value that its start callback returned.
    observers: Vec<(Shared, Box<dyn Any>)>,
}

/// While it lives, work on this thread is not observed; it ends even if an observer panics.
struct Notifying {
    before: bool,
}

impl Notifying {
    fn begin() -> Self {
        Notifying { before: NOTIFYING.replace(true) }
    }
}

impl Drop for Notifying {
    fn drop(&mut self) {
        NOTIFYING.set(self.before);
    }
}

/// Begins a call, with its arguments if they are boxed.
pub(super) fn call(
    kind: CallKind,
    operator: OperatorHandle,
    keys: DispatchKeySet,
    argument_keys: &[DispatchKeySet],
    inputs: &[Value<'_>],
) -> Option<Running> {
    let call = (kind, operator, keys, argument_keys.into());
    Running::start(
        Scope::Function,
        Some(kind),
        |id, depth| Running {
            scope: Scope::Function,
            id,
            depth,
            name: String::new(),
            call: Some(call),
            observers: Vec::new(),
        },
        inputs,
    )
}

impl Running {
    fn start(
        scope: Scope,
        kind: Option<CallKind>,
        make: impl FnOnce(u64, usize) -> Running,
        inputs: &[Value<'_>],
    ) -> Option<Running> {
        if NOTIFYING.get() {
            return None;
        }
        let observers = observers_of(scope, kind)?;
        let notifying = Notifying::begin();
        let mut running = make(NEXT_ID.fetch_add(1, Ordering::Relaxed), DEPTH.replace(DEPTH.get() + 1));
        for observer in observers {
            let inputs = if observer.wants.inputs { inputs } else { &[] };
            let context = observer.watch.start(&running.event(inputs, &[]));
            running.observers.push((observer, context));
        }
        drop(notifying);
        Some(running)
    }

    /// Ends the work with these returns.
    pub(crate) fn end(mut self, outputs: &[Value<'_>]) {
        self.notify_end(outputs);
    }

    fn notify_end(&mut self, outputs: &[Value<'_>]) {
        let _notifying = Notifying::begin();
        // Every observer is notified, even if another panics, and no panic aborts the process while a kernel's panic
        // unwinds.
        panics::each(std::mem::take(&mut self.observers), |(observer, context)| {
            let outputs = if observer.wants.outputs { outputs } else { &[] };
            observer.watch.end(&self.event(&[], outputs), context);
        });
    }

    fn event<'a>(&'a self, inputs: &'a [Value<'a>], outputs: &'a [Value<'a>]) -> Event<'a> {
        let call = self.call.as_ref().map(|(kind, operator, keys, argument_keys)| Call {
            kind: *kind,
            operator: *operator,
            keys: *keys,
            argument_keys,
        });
        let Running { scope, id, depth, .. } = *self;
        Event { scope, id, depth, call, inputs, outputs, name: &self.name }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        DEPTH.set(self.depth);
        self.notify_end(&[]);
    }
}

/// Work other than a call, which observers see by its name while it lives.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use torch_library::observe::{Observer, Scope, Work};
///
/// static EPOCHS: AtomicUsize = AtomicUsize::new(0);
/// let observer = Observer::new(|event| {
///     assert_eq!(event.name(), "epoch");
///     EPOCHS.fetch_add(1, Ordering::Relaxed);
/// });
/// let _handle = observer.of_scopes(&[Scope::User]).on_this_thread();
/// for _ in 0..3 {
///     let _work = Work::begin("epoch");
/// }
/// assert_eq!(EPOCHS.load(Ordering::Relaxed), 3);
/// ```
///
/// PyTorch: `RECORD_USER_SCOPE`, `torch.profiler.record_function`.
#[must_use = "the work ends when this is dropped"]
pub struct Work {
    _running: Option<Running>,
    /// Observers are notified on the thread where the work began.
    not_send: std::marker::PhantomData<*const ()>,
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").finish_non_exhaustive()
    }
}

impl Work {
    /// Begins work of the scope [`User`](Scope::User).
    pub fn begin(name: &str) -> Self {
        Self::begin_as(Scope::User, name)
    }

    /// Begins work of a scope.
    ///
    /// PyTorch: `RECORD_FUNCTION_WITH_SCOPE`.
    pub fn begin_as(scope: Scope, name: &str) -> Self {
        let make = |id, depth| Running {
            scope,
            id,
            depth,
            name: name.to_owned(),
            call: None,
            observers: Vec::new(),
        };
        Work { _running: Running::start(scope, None, make, &[]), not_send: std::marker::PhantomData }
    }
}
