//! Kernels that are made at run time, before they are registered.
#![expect(unsafe_code, reason = "generated code says which operator's calling convention its code has")]

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use torch_library_schema::{Mode, Schema};

use super::entry::{Implementation, Origin, Registration};
use super::seats::{Seat, Seats};
use crate::error::{Error, ErrorKind, Result};
use crate::infer::{Inferred, infer_schema};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::kernel::{BoxedBody, BoxedKernel, TypedClosure};
use crate::operator::{Operator, OperatorHandle, Place};
use crate::signature::ClosureSignature;
use crate::value::Stack;

/// Parses a schema that was written at run time.
pub(super) fn parse(text: &str) -> Result<Schema> {
    Schema::parse(text, Mode::Strict)
        .map_err(|error| Error::new(ErrorKind::Schema, error.render(text).trim_end().to_owned()))
}

/// A kernel to be registered at run time.
///
/// A registered closure lives until its library is dropped and the last call in it has returned. Registering and
/// dropping any number of times takes no more memory: tables are kept, but a new closure for the same operator and key
/// gives the same table.
///
/// PyTorch: `torch::CppFunction`.
pub struct RuntimeKernel {
    body: Body,
    signature: Option<Arc<Schema>>,
    label: Cow<'static, str>,
}

impl fmt::Debug for RuntimeKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeKernel")
            .field("label", &self.label)
            .field("signature", &self.signature)
            .finish_non_exhaustive()
    }
}

/// The code of a kernel.
enum Body {
    /// Code that is never freed.
    Lasting(Implementation),
    /// A boxed closure.
    Boxed(BoxedBody),
    /// A closure with the types of an operator.
    Typed(TypedClosure),
}

impl RuntimeKernel {
    fn of_closure(body: Body) -> Self {
        RuntimeKernel { body, signature: None, label: "closure".into() }
    }

    /// A boxed kernel for any signature: takes its arguments from the stack and leaves its returns there.
    ///
    /// PyTorch: `CppFunction::makeFromBoxedFunction`.
    pub fn boxed<F>(kernel: F) -> Self
    where
        F: Fn(OperatorHandle, DispatchKeySet, &mut Stack<'_>) -> Result<()> + Send + Sync + 'static,
    {
        Self::of_closure(if size_of::<F>() == 0 && !std::mem::needs_drop::<F>() {
            Body::Lasting(Implementation::Boxed(BoxedKernel::from_lasting(kernel)))
        } else {
            Body::Boxed(Box::new(kernel))
        })
    }

    /// Like [`boxed`](Self::boxed), for a function that is known to have this signature: registering it for an operator
    /// with another signature is an error. Names, defaults and aliases are not compared.
    ///
    /// # Errors
    /// The schema does not parse.
    pub fn with_signature(
        signature: &str,
        kernel: impl Fn(OperatorHandle, DispatchKeySet, &mut Stack<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Self> {
        let schema = parse(signature)?;
        Ok(RuntimeKernel { signature: Some(Arc::new(schema)), ..Self::boxed(kernel) })
    }

    /// A function or closure from whose types a schema is inferred. Use it to define an operator with
    /// [`Library::define_with`](super::Library::define_with), or to have it checked against the schema of a defined
    /// operator.
    ///
    /// # Errors
    /// More tensors are returned as `&mut` than there are `&mut` arguments.
    ///
    /// PyTorch: `CppFunction::makeFromUnboxedFunction`.
    pub fn function<F: Inferred<Types>, Types>(function: F) -> Result<Self> {
        let schema = infer_schema::<F, Types>("function")?;
        let kernel = Self::boxed(move |operator, keys, stack| function.call_boxed(operator, keys, stack));
        Ok(RuntimeKernel { signature: Some(Arc::new(schema)), ..kernel })
    }

    /// A fallthrough: calls go on with the next key.
    ///
    /// PyTorch: `CppFunction::makeFallthrough`.
    pub const fn fallthrough() -> Self {
        let body = Body::Lasting(Implementation::Fallthrough);
        RuntimeKernel { body, signature: None, label: Cow::Borrowed("fallthrough") }
    }

    /// A closure with an operator's own calling convention, for generated code.
    ///
    /// # Safety
    /// * `S` is the calling convention of `operator`, up to lifetimes.
    /// * The closure accepts the operator's arguments with any lifetimes, and returns what the lifetimes of the returns
    ///   allow.
    #[doc(hidden)]
    pub unsafe fn typed<S: ClosureSignature<F>, F: Send + Sync + 'static>(
        operator: &'static Operator,
        closure: F,
    ) -> Self {
        // SAFETY: the trait says what its code was erased from, and the caller promises that this is the operator's
        // convention.
        Self::of_closure(Body::Typed(unsafe { TypedClosure::new(operator, [S::SEATED, S::CALL], closure) }))
    }

    /// The same kernel with a label, which listings, traces and messages show.
    ///
    /// PyTorch: `CppFunction::debug`.
    #[must_use]
    pub fn named(self, label: &str) -> Self {
        RuntimeKernel { label: label.to_owned().into(), ..self }
    }

    /// The schema that the kernel was made with.
    pub(super) fn signature(&self) -> Option<&Schema> {
        self.signature.as_deref()
    }

    /// The operator whose types the kernel has, if it is typed.
    pub(super) fn made_for(&self) -> Option<&'static Operator> {
        match &self.body {
            Body::Typed(closure) => Some(closure.operator),
            _ => None,
        }
    }

    /// The registration of this kernel, whose closure is put into a seat.
    pub(super) fn registration(self, key: DispatchKey, place: Place, seats: &mut Seats) -> Registration {
        let (implementation, seat) = match self.body {
            Body::Lasting(implementation) => (implementation, None),
            Body::Boxed(body) => {
                let seat = seats.boxed(key);
                seat.fill(body);
                (Implementation::Boxed(BoxedKernel::of_seat(seat)), Some(Seat::Boxed(seat)))
            }
            Body::Typed(closure) => {
                let operator = closure.operator;
                let seat = seats.typed(key, operator);
                (Implementation::Typed(closure.put_in(seat), operator), Some(Seat::Typed(seat, operator)))
            }
        };
        Registration {
            id: 0,
            key,
            implementation,
            derivative: None,
            origin: Origin::Library,
            function: self.label,
            place,
            signature: self.signature,
            seat,
        }
    }
}
