//! Information about registrations.

use std::borrow::Cow;
use std::fmt;

use crate::key::DispatchKey;
use crate::operator::{Derivative, OperatorHandle, Place};

/// A registered kernel, and where it was registered.
///
/// PyTorch: `c10::impl::AnnotatedKernel`, whose `debug` is a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelInfo {
    /// The key it is registered for, which may be an alias.
    pub key: DispatchKey,
    /// The name of the function, or its label.
    pub function: Cow<'static, str>,
    /// The source location of the registration; without a file for this library's defaults.
    pub place: Place,
    /// Whether it is a fallthrough.
    pub is_fallthrough: bool,
    /// Whether it works on the stack rather than on typed arguments.
    pub is_boxed: bool,
    /// The derivative, if the kernel is a row of `derivatives!`: what its formulas name.
    pub derivative: Option<&'static Derivative>,
    /// Whether it was registered to replace another one.
    pub overrides: bool,
    /// Whether it is the one that is used for its key.
    pub is_active: bool,
}

/// Prints `function at file:line (crate …)`, or `autograd default`.
impl fmt::Display for KernelInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function)?;
        if self.place.file().is_empty() { Ok(()) } else { write!(f, " at {}", self.place) }
    }
}

/// An operator with its kernels.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OperatorInfo {
    /// The operator.
    pub operator: OperatorHandle,
    /// Its kernels, by key; a kernel that is replaced comes after the one that replaces it.
    pub kernels: Vec<KernelInfo>,
    /// Whether its registrations conflict, so that it refuses every call.
    pub in_conflict: bool,
}
