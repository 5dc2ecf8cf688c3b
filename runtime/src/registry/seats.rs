//! The seats of run-time kernels that are free, for the next closure of the same key, and the closures that have left
//! one.

use std::sync::Arc;

use crate::dropping::{self, Queue};
use crate::key::DispatchKey;
use crate::operator::Operator;
use crate::operator::kernel::{self, BoxedBody, BoxedSeat, TypedBody, TypedSeat};
use crate::panics;

/// Where the closure of a registration sits.
#[derive(Clone, Copy)]
pub(super) enum Seat {
    Boxed(&'static BoxedSeat),
    /// Of this operator's types.
    Typed(&'static TypedSeat, &'static Operator),
}

/// Those of one operator, or of all fallbacks, that are free: as many as there were closures at a time.
#[derive(Default)]
pub(super) struct Seats(Vec<(DispatchKey, Seat)>);

impl Seats {
    /// For a boxed closure.
    pub(super) fn boxed(&mut self, key: DispatchKey) -> &'static BoxedSeat {
        let free = self.take(key, |seat| match seat {
            Seat::Boxed(seat) => Some(seat),
            Seat::Typed(..) => None,
        });
        free.unwrap_or_else(kernel::BoxedSeat::leak)
    }

    /// For a closure of an operator's types.
    pub(super) fn typed(&mut self, key: DispatchKey, operator: &'static Operator) -> &'static TypedSeat {
        let free = self.take(key, |seat| match seat {
            Seat::Typed(seat, of) if std::ptr::eq(of, operator) => Some(seat),
            _ => None,
        });
        free.unwrap_or_else(kernel::TypedSeat::leak)
    }

    /// The one that became free last. A key of its own for each: a call that is late runs what is registered there now.
    fn take<T>(&mut self, key: DispatchKey, of_kind: impl Fn(Seat) -> Option<T>) -> Option<T> {
        let fits = |(of, seat): &(DispatchKey, Seat)| of_kind(*seat).filter(|_| *of == key);
        let position = self.0.iter().rposition(|free| fits(free).is_some())?;
        of_kind(self.0.remove(position).1)
    }

    /// A seat is free again.
    pub(super) fn put(&mut self, key: DispatchKey, seat: Seat) {
        self.0.push((key, seat));
    }
}

/// A closure that is registered no more. It is dropped when no lock is held: that runs code of a user.
pub(super) enum Leaving {
    Boxed(#[expect(dead_code, reason = "dropped, never read")] Arc<BoxedBody>),
    Typed(#[expect(dead_code, reason = "dropped, never read")] Arc<TypedBody>),
}

impl Seat {
    /// Takes the closure out.
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

/// Drops closures, each in spite of a panic of those before. A closure may hold a library that has closures, and so on.
pub(super) fn drop_all(leaving: Vec<Leaving>) {
    panics::each(leaving, |closure| dropping::in_turn(&LEAVING, closure));
}
