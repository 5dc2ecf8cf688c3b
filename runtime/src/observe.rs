//! Observers, which are notified of operator calls and other named work.
//!
//! # How it works
//!
//! 1. Observing costs nothing while there is no observer: the registry then publishes tables that lead straight to the
//!    kernels. With an observer of calls it publishes tables that send every call through the cold path, which notifies
//!    the observers.
//! 2. A typed call has no boxed values to show. If an observer asks for inputs or outputs, the cold path makes the call
//!    through the stack, as it would for a boxed kernel; otherwise nothing is boxed.
//! 3. The [trace](crate::trace) is an observer like any other.
//!
//! Calls that an observer itself makes are not observed.
//!
//! PyTorch: `at::RecordFunction`.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::{Observing, Operator, OperatorHandle};
use crate::program::Program;
use crate::registry::{self, RowInfo};
use crate::value::Value;

pub use crate::operator::CallKind;

mod observers;
mod running;

use observers::Registered;
pub use observers::{ObserverHandle, ObservingGuard};
use running::Running;
pub use running::Work;

impl Observing for Program {
    type Running = Running;

    fn is_active() -> bool {
        observers::is_active()
    }

    fn wants_values() -> bool {
        observers::wants_values()
    }

    fn begin(
        kind: CallKind,
        operator: &'static Operator,
        keys: DispatchKeySet,
        argument_keys: &[DispatchKeySet],
        arguments: &[Value<'_>],
    ) -> Option<Running> {
        running::call(kind, operator.handle(), keys, argument_keys, arguments)
    }

    fn end(running: Running, returns: &[Value<'_>]) {
        running.end(returns);
    }
}

/// The kind of work that is observed.
///
/// PyTorch: `at::RecordScope`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// A call of an operator.
    Function,
    /// A node of the backward pass.
    BackwardFunction,
    /// Work that a user names, see [`Work`].
    User,
}

/// A call of an operator.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Call<'a> {
    /// How the operator came to be called.
    pub kind: CallKind,
    /// The operator.
    pub operator: OperatorHandle,
    /// The keys that the kernel gets.
    pub keys: DispatchKeySet,
    /// The keys that each argument brought.
    pub argument_keys: &'a [DispatchKeySet],
}

impl Call<'_> {
    /// The key whose kernel runs.
    pub fn key(&self) -> DispatchKey {
        self.keys.highest_priority()
    }

    /// The kernel that runs and the rule that chose it, looked up in the registry; `None` if the operator was removed.
    pub fn row(&self) -> Option<RowInfo> {
        registry::row_of(self.operator, self.key())
    }
}

/// Work that begins or has ended.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Event<'a> {
    /// What kind of work it is.
    pub scope: Scope,
    /// A number that identifies the work, the same at its start and at its end.
    pub id: u64,
    /// How many calls, redispatches and other pieces of work enclose this one on its thread.
    pub depth: usize,
    /// The call, if an operator is called.
    pub call: Option<Call<'a>>,
    /// The arguments of a call at its start, if the observer asks for them.
    pub inputs: &'a [Value<'a>],
    /// The returns of a call at its end, if the observer asks for them; empty for a call that failed.
    pub outputs: &'a [Value<'a>],
    name: &'a str,
}

impl<'a> Event<'a> {
    /// The name: that of the operator, such as `aten::add.Tensor`, or the one that the user gave.
    pub fn name(&self) -> Cow<'a, str> {
        match self.call {
            Some(call) => call.operator.to_string().into(),
            None => self.name.into(),
        }
    }
}

/// Callbacks for the start and end of work, to be registered [for all threads](Self::on_all_threads) or [for this
/// one](Self::on_this_thread).
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use std::time::Instant;
/// use torch_library::observe::Observer;
/// use torch_library::prelude::*;
///
/// torch_library! {
///     pub mod observer_docs {
///         /// Adds two numbers.
///         plus(int a, int b) -> int;
///     }
/// }
///
/// #[torch_impl(observer_docs, CompositeExplicitAutograd)]
/// fn plus(a: i64, b: i64) -> Result<i64> {
///     Ok(a + b)
/// }
///
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let ended = seen.clone();
/// let timer = Observer::with_context(
///     |_| Instant::now(),
///     move |event, began: Instant| {
///         ended.lock().unwrap().push(format!("{}: {:?}", event.name(), event.outputs));
///         assert!(began.elapsed().as_secs() < 60);
///     },
/// );
/// let handle = timer.with_outputs().on_all_threads();
/// observer_docs::plus(1, 2)?;
/// drop(handle);
/// observer_docs::plus(3, 4)?;
/// assert_eq!(*seen.lock().unwrap(), ["observer_docs::plus: [Int(3)]"]);
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// PyTorch: `at::RecordFunctionCallback`.
#[must_use = "an observer sees nothing before it is registered"]
pub struct Observer {
    watch: Box<dyn Watch>,
    wants: Wants,
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").field("wants", &self.wants).finish_non_exhaustive()
    }
}

/// What an observer asks for.
#[derive(Clone, Copy, Debug)]
struct Wants {
    inputs: bool,
    outputs: bool,
    redispatches: bool,
    /// The scopes, one bit for each.
    scopes: u8,
    probability: f64,
}

/// The two callbacks; the value that the first returns is passed to the second.
trait Watch: Send + Sync {
    fn start(&self, event: &Event<'_>) -> Box<dyn Any>;
    fn end(&self, event: &Event<'_>, context: Box<dyn Any>);
}

struct Callbacks<S, E>(S, E);

impl<C, S, E> Watch for Callbacks<S, E>
where
    C: Any,
    S: Fn(&Event<'_>) -> C + Send + Sync,
    E: Fn(&Event<'_>, C) + Send + Sync,
{
    fn start(&self, event: &Event<'_>) -> Box<dyn Any> {
        Box::new((self.0)(event))
    }

    fn end(&self, event: &Event<'_>, context: Box<dyn Any>) {
        if let Ok(context) = context.downcast::<C>() {
            (self.1)(event, *context);
        }
    }
}

impl Observer {
    /// An observer that is called when a call begins.
    pub fn new(start: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Self {
        Self::with_context(start, |_, ()| {})
    }

    /// An observer that is called when a call begins and when it ends; the value that `start` returns is passed to
    /// `end`.
    pub fn with_context<C: Any>(
        start: impl Fn(&Event<'_>) -> C + Send + Sync + 'static,
        end: impl Fn(&Event<'_>, C) + Send + Sync + 'static,
    ) -> Self {
        let wants = Wants { inputs: false, outputs: false, redispatches: false, scopes: 0, probability: 1.0 };
        Observer { watch: Box::new(Callbacks(start, end)), wants }.of_scopes(&[Scope::Function])
    }

    /// Asks for the arguments of calls.
    ///
    /// PyTorch: `needsInputs`.
    pub fn with_inputs(mut self) -> Self {
        self.wants.inputs = true;
        self
    }

    /// Asks for the returns of calls.
    ///
    /// PyTorch: `needsOutputs`.
    pub fn with_outputs(mut self) -> Self {
        self.wants.outputs = true;
        self
    }

    /// Observes redispatches as well, which PyTorch's observers never see.
    pub fn with_redispatches(mut self) -> Self {
        self.wants.redispatches = true;
        self
    }

    /// Observes these kinds of work instead of calls.
    ///
    /// PyTorch: `scopes`.
    pub fn of_scopes(mut self, scopes: &[Scope]) -> Self {
        self.wants.scopes = scopes.iter().fold(0, |all, scope| all | bit(*scope));
        self
    }

    /// Observes a random sample: each piece of work with this probability.
    ///
    /// PyTorch: `samplingProb`.
    pub fn sampled(mut self, probability: f64) -> Self {
        self.wants.probability = probability;
        self
    }

    /// Observes the work of every thread, until the handle is dropped.
    ///
    /// PyTorch: `at::addGlobalCallback`.
    pub fn on_all_threads(self) -> ObserverHandle {
        ObserverHandle::for_all_threads(Registered::new(self))
    }

    /// Observes the work of this thread, and of threads that run with its [state](crate::guard::ThreadLocalState),
    /// until the handle is dropped.
    ///
    /// PyTorch: `at::addThreadLocalCallback`.
    pub fn on_this_thread(self) -> ObserverHandle {
        ObserverHandle::for_this_thread(Registered::new(self))
    }
}

impl Wants {
    /// Whether the observer observes work of this kind.
    fn sees(&self, scope: Scope, call: Option<CallKind>) -> bool {
        self.scopes & bit(scope) != 0 && (self.redispatches || !call.is_some_and(CallKind::is_redispatch))
    }
}

fn bit(scope: Scope) -> u8 {
    1 << scope as u8
}

/// A shared registered observer.
type Shared = Arc<Registered>;
