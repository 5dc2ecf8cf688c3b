//! Where the closures of kernels are that a program registers while it runs: seats that stay, and what sits there and
//! goes.
//!
//! # How it works
//!
//! Tables and their kernels are never freed, since a call may be reading them. So a kernel does not point to a closure
//! but to a seat, which is not freed either and holds the closure as long as it is registered. A call borrows it from
//! there: who takes it out of the seat meanwhile does not wait, and the last call that has it drops it. A seat that is
//! free is taken by the next closure that is registered for the same operator and key, so that its table is one that
//! there was before: registering and dropping without end takes no memory and finds its tables by their content.
//!
//! A call that read a table of before may come to a seat that is empty, and then looks for its kernel again; or to one
//! that was taken anew, and then runs the newer closure, as if it had come a moment later.

use std::any::Any;
use std::sync::Arc;

use arc_swap::{ArcSwapOption, Guard};

use super::ErasedCode;
use crate::error::Result;
use crate::key::DispatchKeySet;
use crate::operator::OperatorHandle;
use crate::value::Stack;

/// A closure that is a boxed kernel.
pub(crate) type BoxedBody =
    Box<dyn Fn(OperatorHandle, DispatchKeySet, &mut Stack<'_>) -> Result<()> + Send + Sync>;

/// A closure of the types of some operator.
pub(crate) struct TypedBody {
    /// Erased from `fn(&TypedBody, arguments…) -> Result<returns>`.
    pub(super) call: ErasedCode,
    closure: Box<dyn Any + Send + Sync>,
}

impl TypedBody {
    /// A closure with the code that calls it.
    pub(super) fn new<F: Send + Sync + 'static>(call: ErasedCode, closure: F) -> Self {
        TypedBody { call, closure: Box::new(closure) }
    }

    /// The closure, if it is of this type.
    #[inline(always)]
    pub(crate) fn closure<F: 'static>(&self) -> Option<&F> {
        self.closure.downcast_ref()
    }
}

/// A place for a closure.
pub(crate) struct Seat<Body>(ArcSwapOption<Body>);

/// Of boxed kernels.
pub(crate) type BoxedSeat = Seat<BoxedBody>;
/// Of typed kernels, all of one operator.
pub(crate) type TypedSeat = Seat<TypedBody>;

impl<Body> Seat<Body> {
    /// An empty one. It stays as long as the process, as the tables do that have its kernel.
    pub(crate) fn leak() -> &'static Self {
        Box::leak(Box::new(Seat(ArcSwapOption::const_empty())))
    }

    /// What sits there, for as long as the result lives; nothing if it went.
    #[inline]
    pub(crate) fn borrow(&self) -> Guard<Option<Arc<Body>>> {
        self.0.load()
    }

    /// Lets a closure sit there.
    pub(crate) fn fill(&self, body: Body) {
        self.0.store(Some(Arc::new(body)));
    }

    /// Takes out what sits there. No table that calls read now may have the kernel of this seat.
    pub(crate) fn empty(&self) -> Option<Arc<Body>> {
        self.0.swap(None)
    }
}
