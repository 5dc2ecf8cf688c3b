//! The dispatch trace: what is called, for which key, which kernel runs, nested as it happens.
//!
//! Tracing costs nothing while nobody listens: the registry then publishes tables that lead straight to the kernels.
//! With a listener it publishes detours instead, so every call passes through the cold path, where it is reported.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::{Operator, OperatorHandle};
use crate::registry::{self, KernelInfo};

/// The environment variable that turns the trace on for the whole process, in every build: `1` prints to stderr.
pub const ENVIRONMENT_VARIABLE: &str = "TORCH_SHOW_DISPATCH_TRACE";

/// How a kernel came to be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// A typed call.
    Call,
    /// A typed call on to the next key.
    Redispatch,
    /// A call through the stack.
    CallBoxed,
    /// A call through the stack on to the next key.
    RedispatchBoxed,
}

impl fmt::Display for CallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CallKind::Call => "call",
            CallKind::Redispatch => "redispatch",
            CallKind::CallBoxed => "callBoxed",
            CallKind::RedispatchBoxed => "redispatchBoxed",
        })
    }
}

/// One call, as a listener gets it just before the kernel runs.
#[derive(Debug)]
pub struct Event<'a> {
    /// How many traced calls of this thread are under way around it.
    pub depth: usize,
    /// How it came to be called.
    pub kind: CallKind,
    /// The operator.
    pub operator: OperatorHandle,
    /// The key whose kernel runs.
    pub key: DispatchKey,
    /// The keys that are handed to the kernel.
    pub keys: DispatchKeySet,
    /// The keys that each argument brought.
    pub argument_keys: &'a [DispatchKeySet],
    /// The kernel that runs; nothing where there is none, and the call will fail.
    pub kernel: Option<KernelInfo>,
}

/// One line, indented by depth.
impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Event { kind, operator, key, .. } = self;
        write!(f, "{:1$}[{kind}] op=[{operator}], key=[{key}]", "", self.depth * 2)?;
        match &self.kernel {
            Some(kernel) => write!(f, ", kernel=[{kernel}]"),
            None => write!(f, ", kernel=[missing]"),
        }
    }
}

type Listener = Arc<dyn Fn(&Event<'_>) + Send + Sync>;

static LISTENERS: RwLock<Vec<(usize, Listener)>> = RwLock::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);
static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Whether this thread is inside a listener, whose own calls are not reported.
    static LISTENING: Cell<bool> = const { Cell::new(false) };
}

/// Calls `listener` for every operator call of every thread until the guard is dropped.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use torch_library::prelude::*;
/// use torch_library::trace;
///
/// torch_library! {
///     pub mod trace_docs {
///         /// Nothing at all.
///         nothing() -> ();
///     }
/// }
///
/// #[torch_impl(trace_docs, CompositeExplicitAutograd)]
/// fn nothing() -> Result<()> {
///     Ok(())
/// }
///
/// # fn main() -> Result<()> {
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let listener = seen.clone();
/// let guard = trace::listen(move |event| listener.lock().unwrap().push(event.operator.to_string()));
/// trace_docs::nothing()?;
/// drop(guard);
/// trace_docs::nothing()?;
/// assert_eq!(*seen.lock().unwrap(), ["trace_docs::nothing"]);
/// # Ok(())
/// # }
/// ```
///
/// PyTorch: `TORCH_SHOW_DISPATCH_TRACE`, in debug builds only, to stderr only.
pub fn listen(listener: impl Fn(&Event<'_>) + Send + Sync + 'static) -> TraceGuard {
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    LISTENERS.write().unwrap_or_else(PoisonError::into_inner).push((id, Arc::new(listener)));
    COUNT.fetch_add(1, Ordering::Release);
    registry::refresh_detours();
    TraceGuard { id }
}

/// Prints every operator call to stderr until the guard is dropped.
pub fn to_stderr() -> TraceGuard {
    listen(|event| eprintln!("{event}"))
}

/// A listener that is active; dropping it ends that.
#[must_use = "the trace ends when this is dropped"]
pub struct TraceGuard {
    id: usize,
}

impl Drop for TraceGuard {
    fn drop(&mut self) {
        let mut listeners = LISTENERS.write().unwrap_or_else(PoisonError::into_inner);
        let position = listeners.iter().position(|(id, _)| *id == self.id);
        let listener = position.map(|position| listeners.remove(position));
        drop(listeners);
        COUNT.fetch_sub(1, Ordering::Release);
        registry::refresh_detours();
        drop(listener); // after the lock: what the listener holds may call operators while it goes
    }
}

/// Whether anybody listens.
pub(crate) fn is_active() -> bool {
    COUNT.load(Ordering::Acquire) != 0
}

/// Turns the trace on where the environment asks for it; the registry calls this once.
pub(crate) fn listen_if_environment_asks() {
    match std::env::var(ENVIRONMENT_VARIABLE).as_deref() {
        Ok("1") => std::mem::forget(to_stderr()),
        Ok("" | "0") | Err(_) => {}
        Ok(other) => eprintln!("{ENVIRONMENT_VARIABLE} is {other:?}; 1 turns the trace on, 0 leaves it off"),
    }
}

/// A traced call that is under way.
pub(crate) struct Scope(());

impl Drop for Scope {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Keeps the calls of listeners from being reported, until a panic of one included.
struct Listening;

impl Listening {
    /// Nothing where this thread is inside a listener already.
    fn start() -> Option<Self> {
        (!LISTENING.replace(true)).then_some(Listening)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        LISTENING.set(false);
    }
}

/// Reports a call, where anybody listens.
pub(crate) fn enter(
    kind: CallKind,
    operator: &'static Operator,
    keys: DispatchKeySet,
    argument_keys: &[DispatchKeySet],
) -> Option<Scope> {
    if !is_active() {
        return None;
    }
    let listening = Listening::start()?;
    let listeners: Vec<Listener> = {
        let listeners = LISTENERS.read().unwrap_or_else(PoisonError::into_inner);
        listeners.iter().map(|(_, listener)| listener.clone()).collect()
    };
    let event = Event {
        depth: DEPTH.get(),
        kind,
        operator: operator.handle(),
        key: keys.highest_priority(),
        keys,
        argument_keys,
        kernel: registry::of(operator).kernel_at(operator, keys.table_index()),
    };
    for listener in listeners {
        listener(&event);
    }
    drop(listening);
    DEPTH.set(DEPTH.get() + 1);
    Some(Scope(()))
}
