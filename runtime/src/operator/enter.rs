//! The cold half of a call, which runs in the stub: resolves the operator, and notifies observers.

use smallvec::SmallVec;

use super::kernel::{ErasedCode, Kernel};
use super::{CallKind, Observing, Operator, REDISPATCHED, TYPED};
use crate::error::Result;
use crate::guard::{self, below_autograd, needs_derivative};
use crate::key::DispatchKeySet;
use crate::program::Program;
use crate::recursion;
use crate::value::{Stack, Value};

impl Kernel {
    /// The cold half of a typed call, whose stub this is: resolves the operator if it is not resolved yet, and notifies
    /// observers. `keys` are the marked keys of a redispatch, and empty for a call.
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
        if Program::wants_values() {
            let next =
                Next { kernel: self, keys: keys | TYPED, code: self.operator().spec().adapters.boxing };
            return Ok(Entered { next, running: None });
        }
        self.operator().enter(keys | TYPED, argument_keys, &[])
    }

    /// A typed call that found no kernel at an autograd key, but this stand-in: it goes on to the next layer, or to the
    /// boxed default if there is a gradient to lose.
    #[inline(always)]
    pub(crate) fn autograd_default(&'static self, keys: DispatchKeySet, requires_grad: bool) -> Next {
        if needs_derivative(requires_grad) {
            return Next { kernel: self, keys, code: self.operator().spec().adapters.boxing };
        }
        let (kernel, keys) = self.operator().select_again(below_autograd(keys));
        Next { kernel, keys, code: kernel.erased() }
    }
}

/// Where a typed call goes on.
pub(crate) struct Next {
    /// The kernel to call.
    pub(crate) kernel: &'static Kernel,
    /// The keys to pass to it.
    pub(crate) keys: DispatchKeySet,
    /// The code to run: the kernel's own, or code that boxes the call.
    code: ErasedCode,
}

impl Next {
    /// The code to run, with its original function pointer type.
    ///
    /// # Safety
    /// * `Code` is the calling convention of the operator that is called, or differs from it only in what does not
    ///   affect the convention.
    #[inline(always)]
    pub(crate) unsafe fn code<Code: Copy>(&self) -> Code {
        // SAFETY: the code is that of a kernel in the operator's tables, or is among its adapters, all of which have
        // its calling convention; the caller promises that this is `Code`.
        unsafe { self.code.restore() }
    }
}

impl Operator {
    /// Like [`Kernel::enter_typed`], for typed and boxed calls. `marked` are the marked keys of a redispatch, and empty
    /// for a call, with [`TYPED`] added for a typed one.
    ///
    /// # Errors
    /// The errors of [`Kernel::enter_typed`].
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
        let running = Program::begin(kind, self, keys, argument_keys, arguments);
        Ok(Entered { next: Next { kernel, keys, code: kernel.erased() }, running })
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
    let Entered { next, running } = operator.enter(keys, &argument_keys, arguments)?;
    next.kernel.call_boxed(operator, next.keys, stack)?;
    if let Some(running) = running {
        Program::end(running, stack.last(usize::from(operator.spec().returns)));
    }
    Ok(())
}

/// A call on the cold path, ready for its kernel; dropping it ends the call for its observers.
pub(crate) struct Entered {
    /// Where it goes on.
    pub(crate) next: Next,
    running: Option<<Program as Observing>::Running>,
}
