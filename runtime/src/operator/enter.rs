//! The cold half of a call, which runs in the stub: resolves the operator, and notifies observers.

use smallvec::SmallVec;

use super::kernel::Kernel;
use super::{CallKind, Observing, Operator, REDISPATCHED, TYPED};
use crate::error::Result;
use crate::guard;
use crate::key::DispatchKeySet;
use crate::program::Program;
use crate::recursion;
use crate::value::{Stack, Value};

impl Operator {
    /// The cold half of a typed call: resolves the operator if it is not resolved yet, and notifies observers.
    /// `keys` are the marked keys of a redispatch, and empty for a call.
    ///
    /// # Errors
    /// The operator is in conflict with another registration, or was removed; or calls are nested too deep.
    #[cold]
    #[inline(never)]
    pub(crate) fn enter_typed(
        &'static self,
        keys: DispatchKeySet,
        argument_keys: &[DispatchKeySet],
    ) -> Result<Entered> {
        self.enter(keys | TYPED, argument_keys, &[])
    }

    /// Like [`enter_typed`](Self::enter_typed), for a call with boxed arguments.
    ///
    /// # Errors
    /// The errors of [`enter_typed`](Self::enter_typed).
    fn enter_boxed(
        &'static self,
        keys: DispatchKeySet,
        argument_keys: &[DispatchKeySet],
        arguments: &[Value<'_>],
    ) -> Result<Entered> {
        self.enter(keys, argument_keys, arguments)
    }

    fn enter(
        &'static self,
        marked: DispatchKeySet,
        argument_keys: &[DispatchKeySet],
        arguments: &[Value<'_>],
    ) -> Result<Entered> {
        if recursion::is_exhausted() {
            return Err(recursion::error(self));
        }
        let keys = if marked.has_any(REDISPATCHED) {
            marked - REDISPATCHED - TYPED
        } else {
            guard::apply(argument_keys.iter().fold(DispatchKeySet::EMPTY, |all, &keys| all | keys))
        };
        let kind = match (marked.has_any(REDISPATCHED), marked.has_any(TYPED)) {
            (false, true) => CallKind::Call,
            (true, true) => CallKind::Redispatch,
            (false, false) => CallKind::CallBoxed,
            (true, false) => CallKind::RedispatchBoxed,
        };
        let (kernel, keys) = self.resolved()?.row(keys);
        Ok(Entered { kernel, keys, running: Program::begin(kind, self, keys, argument_keys, arguments) })
    }
}

/// The boxed form of the stub: the cold half of a boxed call.
#[cold]
pub(super) fn stub_boxed(
    _: &'static Kernel,
    operator: &'static Operator,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
) -> Result<()> {
    let arguments = operator.handle().arguments(stack)?;
    let argument_keys: SmallVec<[DispatchKeySet; 8]> = arguments.iter().map(Value::dispatch_keys).collect();
    let Entered { kernel, keys, running } = operator.enter_boxed(keys, &argument_keys, arguments)?;
    kernel.call_boxed(operator, keys, stack)?;
    if let Some(running) = running {
        Program::end(running, stack.last(usize::from(operator.spec().returns)));
    }
    Ok(())
}

/// A call on the cold path, ready for its kernel; dropping it ends the call for its observers.
pub(crate) struct Entered {
    /// The kernel to call.
    pub(crate) kernel: &'static Kernel,
    /// The keys to pass to it.
    pub(crate) keys: DispatchKeySet,
    running: Option<<Program as Observing>::Running>,
}
