//! What the registry tells about itself.

use std::borrow::Cow;
use std::fmt;

use crate::key::DispatchKey;
use crate::operator::{Derivative, OperatorHandle, Place};

/// A registered kernel, and who registered it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelInfo {
    /// The key it is registered for, which may be an alias.
    pub key: DispatchKey,
    /// The name of the function, or the label it was given.
    pub function: Cow<'static, str>,
    /// Where it is registered; without a file for what this library brings itself.
    pub place: Place,
    /// Whether it only says "go on with the next key".
    pub is_fallthrough: bool,
    /// Whether it works on the stack rather than on typed arguments.
    pub is_boxed: bool,
    /// What its formulas name, if it is a row of `derivatives!`.
    pub derivative: Option<&'static Derivative>,
    /// Whether it was registered to replace another one.
    pub overrides: bool,
    /// Whether it is the one that counts for its key.
    pub is_active: bool,
}

/// `function at file:line (crate …)`, or `autograd default`
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
    /// Its kernels, by key; those that another one replaces come after it.
    pub kernels: Vec<KernelInfo>,
    /// Whether its registrations contradict each other, so that it refuses every call.
    pub in_conflict: bool,
}
