//! What runs at an autograd key for which nobody wrote a kernel.
//!
//! It must not cost anything where no gradient is asked for, and it must not lose one where it is. So each operator
//! carries a typed default that looks at its arguments and goes on to the next key, with no boxing; for a tensor that
//! requires a gradient, it is an error that names the operator and its crate.

use crate::error::{Error, ErrorKind, Result};
use crate::guard::GradMode;
use crate::kernel::Kernel;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::Operator;
use crate::value::Stack;

/// The keys below the autograd layer.
#[inline(always)]
pub(crate) fn below_autograd(keys: DispatchKeySet) -> DispatchKeySet {
    const BELOW: DispatchKeySet = DispatchKeySet::full_after(DispatchKey::AutogradOther);
    keys & BELOW
}

/// Whether the default must refuse the call.
#[inline(always)]
pub(crate) fn needs_derivative(requires_grad: bool) -> bool {
    requires_grad && GradMode::is_enabled()
}

/// The error for a tensor that requires a gradient.
#[cold]
#[inline(never)]
pub(crate) fn no_derivative(operator: &'static Operator) -> Error {
    let spec = operator.spec();
    Error::new(
        ErrorKind::Autograd,
        format!(
            "{operator} has no derivative, and one of its arguments requires a gradient\n  \
             declared at {}\n  \
             help: register a kernel for `Autograd`, or call it inside `no_grad` or on `x.detach()`",
            spec.place
        ),
    )
}

/// The boxed face of the default.
pub(crate) fn default_boxed(
    _kernel: &'static Kernel,
    operator: &'static Operator,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
) -> Result<()> {
    use crate::argument::Argument;
    let handle = operator.handle();
    if needs_derivative(handle.arguments(stack)?.iter().any(Argument::requires_grad)) {
        return Err(no_derivative(operator));
    }
    handle.redispatch_boxed(below_autograd(keys), stack)
}
