//! The free seats for run-time kernels, for the next closure at the same key, and the closures that were taken out of
//! their seats.

use std::sync::Arc;

use crate::dropping::{self, Queue};
use crate::key::DispatchKey;
use crate::operator::Operator;
use crate::operator::kernel::{self, BoxedBody, BoxedSeat, TypedBody, TypedSeat};
use crate::panics;

/// The seat of a registration's closure.
#[derive(Clone, Copy)]
pub(super) enum Seat {
    Boxed(&'static BoxedSeat),
    /// A seat for closures with this operator's types.
    Typed(&'static TypedSeat, &'static Operator),
}

/// The free seats of one operator, or of all fallbacks; there are as many as there ever were closures at the same time.
#[derive(Default)]
pub(super) struct Seats(Vec<(DispatchKey, Seat)>);

impl Seats {
    /// A seat for a boxed closure.
    pub(super) fn boxed(&mut self, key: DispatchKey) -> &'static BoxedSeat {
        let free = self.take(key, |seat| match seat {
            Seat::Boxed(seat) => Some(seat),
            Seat::Typed(..) => None,
        });
        free.unwrap_or_else(kernel::BoxedSeat::leak)
    }

    /// A seat for a closure with an operator's types.
    pub(super) fn typed(&mut self, key: DispatchKey, operator: &'static Operator) -> &'static TypedSeat {
        let free = self.take(key, |seat| match seat {
            Seat::Typed(seat, of) if std::ptr::eq(of, operator) => Some(seat),
            _ => None,
        });
        free.unwrap_or_else(kernel::TypedSeat::leak)
    }

    /// The seat that became free last. Seats are separate for each key, since a late call runs the closure that is now
    /// in its seat.
    fn take<T>(&mut self, key: DispatchKey, of_kind: impl Fn(Seat) -> Option<T>) -> Option<T> {
        let fits = |(of, seat): &(DispatchKey, Seat)| of_kind(*seat).filter(|_| *of == key);
        let position = self.0.iter().rposition(|free| fits(free).is_some())?;
        of_kind(self.0.remove(position).1)
    }

    /// Returns a free seat.
    pub(super) fn put(&mut self, key: DispatchKey, seat: Seat) {
        self.0.push((key, seat));
    }
}

/// A closure that is no longer registered. It is dropped without a lock, because that runs user code.
pub(super) enum Leaving {
    Boxed(#[expect(dead_code, reason = "dropped, never read")] Arc<BoxedBody>),
    Typed(#[expect(dead_code, reason = "dropped, never read")] Arc<TypedBody>),
}

impl Seat {
    /// Takes the closure out of the seat.
    pub(super) fn empty(self) -> Option<Leaving> {
        match self {
            Seat::Boxed(seat) => seat.empty().map(Leaving::Boxed),
            Seat::Typed(seat, _) => seat.empty().map(Leaving::Typed),
        }
    }
}

thread_local! {
    static LEAVING: Queue<Leaving> = const { Queue::new() };
}

/// Drops closures, even if some panic. They are queued, because recursion could overflow the stack: a closure may own a
/// library that has closures, and so on.
pub(super) fn drop_all(leaving: Vec<Leaving>) {
    panics::each(leaving, |closure| dropping::in_turn(&LEAVING, closure));
}
