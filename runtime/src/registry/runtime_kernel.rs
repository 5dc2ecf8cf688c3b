//! Kernels that are made at run time, before they are registered.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use once_cell::sync::Lazy;
use torch_library_schema::Schema;

use super::entry::{Implementation, Origin, Registration};
use super::library;
use crate::error::Result;
use crate::kernel::{BoxedKernel, Kernel};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::{Operator, OperatorHandle, Place};
use crate::value::Stack;

/// A kernel to be registered at run time.
///
/// A closure that captures something is kept until the process ends, because a call on another thread may still be in
/// it, and so are the tables it was in. Functions and closures that capture nothing may come and go for free.
///
/// PyTorch: `torch::CppFunction`.
pub struct RuntimeKernel {
    implementation: Implementation,
    signature: Option<Arc<Schema>>,
    label: &'static str,
}

impl RuntimeKernel {
    const fn new(implementation: Implementation, label: &'static str) -> Self {
        RuntimeKernel { implementation, signature: None, label }
    }

    /// One function for any signature: takes its arguments from the stack and leaves its returns there.
    ///
    /// PyTorch: `CppFunction::makeFromBoxedFunction`.
    pub fn boxed(
        kernel: impl Fn(OperatorHandle, DispatchKeySet, &mut Stack<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::new(Implementation::Boxed(BoxedKernel::from_closure(kernel)), "closure")
    }

    /// As [`boxed`](Self::boxed), for a function that is known to have this signature: registering it for an operator
    /// with another one is an error. Names, defaults and aliases are not compared.
    ///
    /// # Errors
    /// The schema does not parse.
    pub fn with_signature(
        signature: &str,
        kernel: impl Fn(OperatorHandle, DispatchKeySet, &mut Stack<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Self> {
        let schema = library::parse(signature)?;
        Ok(RuntimeKernel { signature: Some(Arc::new(schema)), ..Self::boxed(kernel) })
    }

    /// "Not here: go on with the next key."
    ///
    /// PyTorch: `CppFunction::makeFallthrough`.
    pub const fn fallthrough() -> Self {
        Self::new(Implementation::Fallthrough, "fallthrough")
    }

    /// A closure of an operator's own calling convention; generated code makes these.
    #[doc(hidden)]
    pub const fn typed(operator: &'static Operator, kernel: Kernel) -> Self {
        Self::new(Implementation::Typed(kernel, operator), "closure")
    }

    /// The same kernel under a name, which listings, traces and messages show. Each name takes memory once.
    ///
    /// PyTorch: `CppFunction::debug`.
    #[must_use]
    pub fn named(self, label: &str) -> Self {
        RuntimeKernel { label: intern(label), ..self }
    }

    pub(super) fn registration(self, key: DispatchKey, place: Place) -> Registration {
        Registration {
            id: 0,
            key,
            implementation: self.implementation,
            origin: Origin::Library,
            function: self.label,
            place,
            signature: self.signature,
        }
    }
}

/// One copy of each text for as long as the process runs.
fn intern(text: &str) -> &'static str {
    static TEXTS: Lazy<Mutex<HashSet<&'static str>>> = Lazy::new(Mutex::default);
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    match texts.get(text) {
        Some(text) => text,
        None => {
            let text: &'static str = Box::leak(text.into());
            texts.insert(text);
            text
        }
    }
}
