//! Dropping nested owners in a loop, where recursion would overflow the stack.

use std::cell::Cell;
use std::collections::VecDeque;
use std::iter;
use std::mem::ManuallyDrop;
use std::thread::{self, LocalKey};

use crate::panics;

/// The values of one kind that a thread has yet to drop, in the order in which they were released; empty while it drops
/// none.
///
/// Each kind that can own others, directly or through anything else, has a queue of its own. So the stack depth of a
/// drop depends on the number of kinds, not on how deeply values are nested.
///
/// The queue has no destructor, so it remains usable as long as its thread runs any code, including destructors of
/// other thread-locals; code that adds to a queue also empties it.
pub(crate) struct Queue<T> {
    state: Cell<State>,
    waiting: Cell<Option<ManuallyDrop<VecDeque<T>>>>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Idle,
    /// A value is being dropped, and no other is waiting. This is nearly always so.
    Dropping,
    /// A value is being dropped, and others are waiting.
    Waiting,
}

impl<T> Queue<T> {
    pub(crate) const fn new() -> Self {
        Queue { state: Cell::new(State::Idle), waiting: Cell::new(None) }
    }

    #[cold]
    #[inline(never)]
    fn wait(&self, value: T) {
        let mut waiting = self.waiting.take().unwrap_or_else(|| ManuallyDrop::new(VecDeque::new()));
        waiting.push_back(value);
        self.waiting.set(Some(waiting));
        self.state.set(State::Waiting);
    }

    /// The next waiting value; if there is none, the queue becomes idle.
    fn next(&self) -> Option<T> {
        let mut waiting = self.waiting.take();
        let next = waiting.as_mut().and_then(|waiting| waiting.pop_front());
        match (&next, waiting) {
            (Some(_), waiting) => self.waiting.set(waiting),
            (None, waiting) => {
                self.state.set(State::Idle);
                drop(waiting.map(ManuallyDrop::into_inner));
            }
        }
        next
    }

    /// Drops a value and all that are waiting, even if an earlier one panics. The first panic is resumed, unless the
    /// thread is unwinding already: a second panic would abort the program.
    #[cold]
    #[inline(never)]
    fn drop_all(&self, value: Option<T>) {
        panics::each(value.into_iter().chain(iter::from_fn(|| self.next())), drop);
    }
}

/// Exists while a value is being dropped; its destructor drops the values that wait, also after a panic.
struct Dropping<'a, T>(&'a Queue<T>);

impl<T> Drop for Dropping<'_, T> {
    #[inline]
    fn drop(&mut self) {
        match self.0.state.get() {
            State::Waiting => self.0.drop_all(None),
            _ => self.0.state.set(State::Idle),
        }
    }
}

/// Drops a value, or, if another value of its kind is being dropped, queues it to be dropped after that.
///
/// If one panics, the others are dropped all the same. The first panic is resumed, unless the thread is unwinding
/// already: a second panic would abort the program.
#[inline]
pub(crate) fn in_turn<T>(queue: &'static LocalKey<Queue<T>>, value: T) {
    // Without the thread-local, which some systems free at the end of a thread, the value is dropped with the closure.
    let _ = queue.try_with(move |queue| {
        if queue.state.get() != State::Idle {
            return queue.wait(value);
        }
        queue.state.set(State::Dropping);
        if thread::panicking() {
            return queue.drop_all(Some(value));
        }
        let dropping = Dropping(queue);
        drop(value);
        drop(dropping);
    });
}

#[cfg(test)]
mod tests {
    use std::mem;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::{Arc, Mutex, PoisonError};

    use super::*;

    type Log = Arc<Mutex<Vec<u32>>>;

    thread_local! {
        static LINKS: Queue<Option<Box<Link>>> = const { Queue::new() };
    }

    struct Link {
        number: u32,
        panics: bool,
        rest: Vec<Option<Box<Link>>>,
        log: Log,
    }

    impl Link {
        fn boxed(number: u32, panics: bool, rest: Vec<Option<Box<Link>>>, log: &Log) -> Option<Box<Link>> {
            Some(Box::new(Link { number, panics, rest, log: log.clone() }))
        }
    }

    impl Drop for Link {
        fn drop(&mut self) {
            self.rest.drain(..).for_each(|link| in_turn(&LINKS, link));
            self.log.lock().unwrap_or_else(PoisonError::into_inner).push(self.number);
            assert!(!self.panics, "{}", self.number);
        }
    }

    /// Recursion could not drop a chain of this length. Miri, which is slow, sees the same steps in a shorter one.
    const LENGTH: u32 = if cfg!(miri) { 300 } else { 100_000 };

    fn numbers(log: &Log) -> Vec<u32> {
        mem::take(&mut log.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[test]
    fn a_chain_of_any_length_is_dropped_in_order() {
        let log = Log::default();
        let chain = (0..LENGTH).fold(None, |rest, number| {
            Link::boxed(number, false, rest.into_iter().map(Some).collect(), &log)
        });
        in_turn(&LINKS, chain);
        assert!(numbers(&log).into_iter().eq((0..LENGTH).rev()));
    }

    #[test]
    fn what_is_let_go_of_first_is_dropped_first() {
        let log = Log::default();
        let leaf = |number| Link::boxed(number, false, vec![], &log);
        let left = Link::boxed(1, false, vec![leaf(3), leaf(4)], &log);
        in_turn(&LINKS, Link::boxed(0, false, vec![left, leaf(2)], &log));
        assert_eq!(numbers(&log), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn the_first_panic_goes_on_when_all_are_dropped() {
        let log = Log::default();
        let leaf = |number| Link::boxed(number, true, vec![], &log);
        let panics = Link::boxed(0, true, vec![leaf(1), leaf(2)], &log);
        let panic = catch_unwind(AssertUnwindSafe(|| in_turn(&LINKS, panics))).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>().unwrap(), "0");
        assert_eq!(numbers(&log), [0, 1, 2]);
        in_turn(&LINKS, Link::boxed(3, false, vec![], &log));
        assert_eq!(numbers(&log), [3], "the queue is as good as before");
    }

    #[test]
    fn a_panic_while_a_thread_unwinds_does_not_abort() {
        struct Holder(Option<Box<Link>>);
        impl Drop for Holder {
            fn drop(&mut self) {
                in_turn(&LINKS, self.0.take());
            }
        }
        let log = Log::default();
        let holder = Holder(Link::boxed(0, true, vec![Link::boxed(1, true, vec![], &log)], &log));
        let panic = catch_unwind(AssertUnwindSafe(move || {
            let _holder = holder;
            panic!("first");
        }));
        assert_eq!(*panic.unwrap_err().downcast_ref::<&str>().unwrap(), "first");
        assert_eq!(numbers(&log), [0, 1]);
    }

    #[test]
    fn a_thread_that_ends_drops_its_locals_in_turn() {
        thread_local! {
            static LATE: Cell<Option<Box<Link>>> = const { Cell::new(None) };
        }
        let log = Log::default();
        let of_thread = log.clone();
        thread::spawn(move || {
            let chain = (0..LENGTH).fold(None, |rest, number| {
                Link::boxed(number, false, rest.into_iter().map(Some).collect(), &of_thread)
            });
            LATE.set(chain);
        })
        .join()
        .unwrap();
        assert_eq!(numbers(&log).len(), LENGTH as usize);
    }
}
