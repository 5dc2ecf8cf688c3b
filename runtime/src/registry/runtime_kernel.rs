//! Kernels that are made at run time, before they are registered.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use once_cell::sync::Lazy;
use torch_library_schema::Schema;

use super::entry::{Implementation, Origin, Registration};
use super::library;
use crate::error::Result;
use crate::infer::{Inferred, infer_schema};
use crate::kernel::{BoxedKernel, Closure, ErasedCode, Kernel};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::{Operator, OperatorHandle, Place};
use crate::value::Stack;

/// A kernel to be registered at run time.
///
/// A closure that captures something and was registered is kept until the process ends, because a call on another thread
/// may still be in it, and so are the tables it was in. Functions and closures that capture nothing may come and go for free.
///
/// PyTorch: `torch::CppFunction`.
pub struct RuntimeKernel {
    implementation: Implementation,
    signature: Option<Arc<Schema>>,
    label: &'static str,
    /// Freed unless the kernel is registered.
    closure: Option<Closure>,
}

impl RuntimeKernel {
    fn of_closure(implementation: Implementation, closure: Closure) -> Self {
        RuntimeKernel { implementation, signature: None, label: "closure", closure: Some(closure) }
    }

    /// One function for any signature: takes its arguments from the stack and leaves its returns there.
    ///
    /// PyTorch: `CppFunction::makeFromBoxedFunction`.
    pub fn boxed(
        kernel: impl Fn(OperatorHandle, DispatchKeySet, &mut Stack<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        let (kernel, closure) = BoxedKernel::from_closure(kernel);
        Self::of_closure(Implementation::Boxed(kernel), closure)
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

    /// A function or closure whose types say its schema, to define an operator with by
    /// [`Library::define_with`](super::Library::define_with), or to be checked against the schema of one that is defined.
    ///
    /// # Errors
    /// More tensors are returned as `&mut` than came in.
    ///
    /// PyTorch: `CppFunction::makeFromUnboxedFunction`.
    pub fn function<F: Inferred<Types>, Types>(function: F) -> Result<Self> {
        let schema = infer_schema::<F, Types>("function")?;
        let kernel = Self::boxed(move |operator, keys, stack| function.call_boxed(operator, keys, stack));
        Ok(RuntimeKernel { signature: Some(Arc::new(schema)), ..kernel })
    }

    /// "Not here: go on with the next key."
    ///
    /// PyTorch: `CppFunction::makeFallthrough`.
    pub const fn fallthrough() -> Self {
        let implementation = Implementation::Fallthrough;
        RuntimeKernel { implementation, signature: None, label: "fallthrough", closure: None }
    }

    /// A closure of an operator's own calling convention; generated code makes these.
    #[doc(hidden)]
    pub fn typed<F: Send + Sync + 'static>(
        operator: &'static Operator,
        code: ErasedCode,
        closure: F,
    ) -> Self {
        let closure = Closure::new(closure);
        let kernel = Kernel::of_closure(code, operator.spec().adapters.unbox, &closure, operator);
        Self::of_closure(Implementation::Typed(kernel, operator), closure)
    }

    /// The same kernel under a name, which listings, traces and messages show. Each name takes memory once.
    ///
    /// PyTorch: `CppFunction::debug`.
    #[must_use]
    pub fn named(self, label: &str) -> Self {
        RuntimeKernel { label: intern(label), ..self }
    }

    /// The schema that the kernel was made with.
    pub(super) fn signature(&self) -> Option<&Schema> {
        self.signature.as_deref()
    }

    pub(super) fn registration(&self, key: DispatchKey, place: Place) -> Registration {
        Registration {
            id: 0,
            key,
            implementation: self.implementation,
            origin: Origin::Library,
            function: self.label,
            place,
            signature: self.signature.clone(),
        }
    }

    /// The kernel is registered: from now on it may be called at any time.
    pub(super) fn keep(self) {
        if let Some(closure) = self.closure {
            closure.keep();
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
