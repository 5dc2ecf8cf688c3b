//! The interface of operators to the modules above them, which implement it for [`Program`](crate::program::Program).

use super::Operator;
use super::kernel::Kernel;
use super::resolved::Resolved;
use crate::error::Result;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::value::Value;

/// The types of the registry that operators belong to.
pub trait Registered {
    /// A registry, with all of its operators.
    type Dispatcher: Sync + 'static;
    /// The kernels of an operator that the linker kept, with selective linking.
    type Links: Copy + Sync + 'static;
}

/// The queries that an operator makes to the registry.
pub(crate) trait Registry: Registered {
    /// Computes the table of an operator that has none yet.
    ///
    /// # Errors
    /// The operator is in conflict with another registration, or was removed.
    fn resolve(operator: &'static Operator) -> Result<Resolved>;

    /// Whether an operator is registered.
    ///
    /// # Errors
    /// The operator was removed.
    fn check_alive(operator: &'static Operator) -> Result<()>;

    /// The kernel registered for exactly this key, otherwise the key's fallback.
    ///
    /// # Errors
    /// The key has neither a kernel nor a fallback, or that is a fallthrough.
    fn kernel_for_key(operator: &'static Operator, key: DispatchKey) -> Result<&'static Kernel>;

    /// Whether a kernel is registered for exactly this key.
    fn has_kernel_for(operator: &'static Operator, key: DispatchKey) -> bool;
}

/// The interface to observers of calls.
pub(crate) trait Observing {
    /// A call that is observed; dropping it ends the call.
    type Running;

    /// Whether any observer observes calls.
    fn is_active() -> bool;

    /// Whether any observer asks for the values of calls.
    fn wants_values() -> bool;

    /// Begins a call, with its arguments if they are boxed; `None` if no observer observes it.
    fn begin(
        kind: CallKind,
        operator: &'static Operator,
        keys: DispatchKeySet,
        argument_keys: &[DispatchKeySet],
        arguments: &[Value<'_>],
    ) -> Option<Self::Running>;

    /// Ends a call with these returns.
    fn end(running: Self::Running, returns: &[Value<'_>]);
}

/// How a kernel came to be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// A typed call.
    Call,
    /// A typed redispatch to the next key.
    Redispatch,
    /// A boxed call.
    CallBoxed,
    /// A boxed redispatch to the next key.
    RedispatchBoxed,
}

impl CallKind {
    /// Whether a kernel made the call, to the next key.
    pub fn is_redispatch(self) -> bool {
        matches!(self, CallKind::Redispatch | CallKind::RedispatchBoxed)
    }
}
