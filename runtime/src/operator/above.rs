//! What an operator needs of the modules above it, which implement this for [`Program`](crate::program::Program).

use super::Operator;
use super::kernel::Kernel;
use super::resolved::Resolved;
use crate::error::Result;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::value::Value;

/// What operators belong to.
pub trait Registered {
    /// One registry, with all of its operators.
    type Dispatcher: Sync + 'static;
    /// The kernels of an operator that the linker knows of, where it chooses.
    type Links: Copy + Sync + 'static;
}

/// Who knows what is registered for an operator.
pub(crate) trait Registry: Registered {
    /// The table of an operator that has none yet.
    ///
    /// # Errors
    /// The operator is in conflict with another registration, or was removed.
    fn resolve(operator: &'static Operator) -> Result<Resolved>;

    /// Whether an operator is registered.
    ///
    /// # Errors
    /// It was removed.
    fn check_alive(operator: &'static Operator) -> Result<()>;

    /// The kernel registered for exactly this key, or else the key's fallback.
    ///
    /// # Errors
    /// Neither is there, or it is a fallthrough.
    fn kernel_for_key(operator: &'static Operator, key: DispatchKey) -> Result<&'static Kernel>;
}

/// Who wants to see calls.
pub(crate) trait Observing {
    /// A call that is observed; dropping it ends the call.
    type Running;

    /// Whether anybody sees calls.
    fn is_active() -> bool;

    /// Whether anybody asks for the values of calls.
    fn wants_values() -> bool;

    /// A call begins, with its arguments where they are boxed; nothing where nobody sees it.
    fn begin(
        kind: CallKind,
        operator: &'static Operator,
        keys: DispatchKeySet,
        argument_keys: &[DispatchKeySet],
        arguments: &[Value<'_>],
    ) -> Option<Self::Running>;

    /// The call has ended with these returns.
    fn end(running: Self::Running, returns: &[Value<'_>]);
}

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

impl CallKind {
    /// Whether a kernel made the call, on to the next key.
    pub fn is_redispatch(self) -> bool {
        matches!(self, CallKind::Redispatch | CallKind::RedispatchBoxed)
    }
}
