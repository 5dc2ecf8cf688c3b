//! Seats: permanent places for the closures that a program registers as kernels at run time, and that it may remove
//! again.
//!
//! # How it works
//!
//! Tables and their kernels are never freed, since a call may be reading them. So a kernel does not point to a closure
//! but to a seat, which is not freed either and holds the closure while it is registered. A call borrows the closure
//! from the seat: removing the closure meanwhile does not wait, and the last call that uses it drops it. An empty seat
//! is reused for the next closure that is registered for the same operator and key, so that the resulting table equals
//! one that existed before: registering and dropping any number of times takes no more memory, and tables are found by
//! their content.
//!
//! A call that read an old table may find its seat empty, and then looks for its kernel again; or it may find a newer
//! closure in it, and then runs that one, as if the call had come a moment later.

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

/// A closure with the types of some operator.
pub(crate) struct TypedBody {
    /// Erased from `fn(&TypedBody, arguments…) -> Result<returns>`.
    pub(super) call: ErasedCode,
    closure: Box<dyn Any + Send + Sync>,
}

impl TypedBody {
    /// A closure, with the code that calls it.
    pub(super) fn new<F: Send + Sync + 'static>(call: ErasedCode, closure: F) -> Self {
        TypedBody { call, closure: Box::new(closure) }
    }

    /// The closure, if it has this type.
    #[inline(always)]
    pub(crate) fn closure<F: 'static>(&self) -> Option<&F> {
        self.closure.downcast_ref()
    }
}

/// A place for a closure.
pub(crate) struct Seat<Body>(ArcSwapOption<Body>);

/// Seats for boxed kernels.
pub(crate) type BoxedSeat = Seat<BoxedBody>;
/// Seats for typed kernels, all of one operator.
pub(crate) type TypedSeat = Seat<TypedBody>;

impl<Body> Seat<Body> {
    /// An empty seat. It is never freed, like the tables that contain its kernel.
    pub(crate) fn leak() -> &'static Self {
        Box::leak(Box::new(Seat(ArcSwapOption::const_empty())))
    }

    /// The closure in the seat, which stays alive as long as the result; `None` if it was removed.
    #[inline]
    pub(crate) fn borrow(&self) -> Guard<Option<Arc<Body>>> {
        self.0.load()
    }

    /// Puts a closure into the seat.
    pub(crate) fn fill(&self, body: Body) {
        self.0.store(Some(Arc::new(body)));
    }

    /// Takes the closure out of the seat. No published table may contain the kernel of this seat.
    pub(crate) fn empty(&self) -> Option<Arc<Body>> {
        self.0.swap(None)
    }
}
