//! The dispatch trace: each call with its key and its kernel, nested as the calls are.
//!
//! It is an [observer](crate::observe) of calls and redispatches, so it costs nothing while there is no listener.

use std::fmt;
use std::io::{self, Write};

use crate::key::{DispatchKey, DispatchKeySet};
use crate::observe::{self, Observer, ObserverHandle};
use crate::operator::OperatorHandle;
use crate::program::Program;
use crate::registry::{KernelInfo, Starting};
use crate::table::Source;
use crate::warning;

pub use crate::observe::CallKind;

/// The environment variable that turns the trace on for the whole process, in every build: `1` prints to stderr.
pub const ENVIRONMENT_VARIABLE: &str = "TORCH_SHOW_DISPATCH_TRACE";

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

/// A call, as a listener gets it just before the kernel runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event<'a> {
    /// How many calls and redispatches of this thread enclose this one.
    pub depth: usize,
    /// How the operator came to be called.
    pub kind: CallKind,
    /// The operator.
    pub operator: OperatorHandle,
    /// The key whose kernel runs.
    pub key: DispatchKey,
    /// The keys that the kernel gets.
    pub keys: DispatchKeySet,
    /// The keys that each argument brought.
    pub argument_keys: &'a [DispatchKeySet],
    /// The kernel that runs; `None` if there is none, and the call will fail.
    pub kernel: Option<KernelInfo>,
    /// The rule that chose it, or the reason why there is none.
    pub source: Source,
}

/// One line, indented by depth: `[call] op=[ns::add], key=[CPU], kernel=[add at …], arguments=[CPU+AutogradCPU, -]`.
///
/// The code is a `kernel`, a `boxed kernel`, a `fallback` or missing. An argument without keys is printed as `-`.
impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Event { kind, operator, argument_keys, key, .. } = self;
        write!(f, "{:1$}[{kind}] op=[{operator}], key=[{key}], ", "", self.depth * 2)?;
        match (&self.kernel, self.source) {
            (Some(kernel), Source::BackendFallback) => write!(f, "fallback=[{kernel}]")?,
            (Some(kernel), _) if kernel.is_boxed => write!(f, "boxed kernel=[{kernel}]")?,
            (Some(kernel), _) => write!(f, "kernel=[{kernel}]")?,
            (None, source) => write!(f, "{source}")?,
        }
        let arguments: Vec<_> = argument_keys.iter().map(|keys| joined(*keys)).collect();
        write!(f, ", arguments=[{}]", arguments.join(", "))
    }
}

/// Prints `CPU+AutogradCPU`.
fn joined(keys: DispatchKeySet) -> String {
    let names: Vec<_> = keys.iter().map(|key| key.to_string()).collect();
    if names.is_empty() { "-".to_owned() } else { names.join("+") }
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
///         /// Does nothing.
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
    let tell = move |event: &observe::Event<'_>| {
        if let Some(call) = event.call {
            let observe::Call { kind, operator, keys, argument_keys } = call;
            let (source, kernel) = call.row().map_or((Source::Missing, None), |row| (row.source, row.kernel));
            let (depth, key) = (event.depth, call.key());
            listener(&Event { depth, kind, operator, key, keys, argument_keys, kernel, source });
        }
    };
    TraceGuard { _handle: Observer::new(tell).with_redispatches().on_all_threads() }
}

/// Prints every operator call to stderr until the guard is dropped; errors of writing are ignored.
pub fn to_stderr() -> TraceGuard {
    // `eprintln!` would panic in the middle of a call when stderr is closed.
    listen(|event| drop(writeln!(io::stderr(), "{event}")))
}

/// An active listener; dropping it deactivates the listener.
#[must_use = "the trace ends when this is dropped"]
#[derive(Debug)]
pub struct TraceGuard {
    _handle: ObserverHandle,
}

impl Starting for Program {
    /// Turns the trace on if the environment variable is set.
    fn started() {
        match std::env::var(ENVIRONMENT_VARIABLE).as_deref() {
            Ok("1") => std::mem::forget(to_stderr()),
            Ok("" | "0") | Err(_) => {}
            Ok(other) => warning::warn(format_args!(
                "{ENVIRONMENT_VARIABLE} is {other:?}; 1 turns the trace on, 0 leaves it off"
            )),
        }
    }
}
