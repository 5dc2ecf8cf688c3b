//! Turns: mutual exclusion of threads that cannot deadlock.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Something that one thread does at a time, except for threads that are in the middle of another turn.
///
/// A thread waits for its turn, unless it has one already: either of the same `Turn`, since the code it runs may lead
/// here again, or of another one, for which the thread that has this turn may be waiting. Such a thread goes ahead
/// without waiting. So threads never wait for each other in a cycle; data whose consistency depends on the order has a
/// lock of its own.
#[derive(Default)]
pub(crate) struct Turn(Mutex<()>);

thread_local! {
    /// The number of turns that this thread has, including those of threads that it works for.
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

/// A turn, which ends when this is dropped; `None` if the thread went ahead without one.
pub(crate) struct Taken<'a>(Option<MutexGuard<'a, ()>>);

impl Turn {
    pub(crate) fn take(&self) -> Taken<'_> {
        let guard = match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if TAKEN.get() > 0 => None,
            Err(TryLockError::WouldBlock) => Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)),
        };
        TAKEN.set(TAKEN.get() + usize::from(guard.is_some()));
        Taken(guard)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        TAKEN.set(TAKEN.get() - usize::from(self.0.is_some()));
    }
}

/// The number of turns that this thread has.
pub(crate) fn taken() -> usize {
    TAKEN.get()
}

/// Sets the number of turns for a thread that works for one with `count` turns, which waits for it. Returns the old
/// number.
pub(crate) fn set_taken(count: usize) -> usize {
    TAKEN.replace(count)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Barrier, mpsc};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_has_a_turn_waits_for_no_other() {
        let shared = Arc::new(([Turn::default(), Turn::default()], Barrier::new(2)));
        let (ended, ends) = mpsc::channel();
        for first in [0, 1] {
            let (shared, ended) = (shared.clone(), ended.clone());
            thread::spawn(move || {
                let (turns, both) = &*shared;
                let first_turn = turns[first].take();
                both.wait();
                let second_turn = turns[1 - first].take();
                both.wait();
                drop((second_turn, first_turn));
                assert_eq!(ended.send(taken()), Ok(()));
            });
        }
        for _ in 0..2 {
            assert_eq!(ends.recv_timeout(Duration::from_secs(10)), Ok(0), "they wait for each other");
        }
    }

    #[test]
    fn a_turn_within_the_same_is_none() {
        let turn = Turn::default();
        let (outer, inner) = (turn.take(), turn.take());
        assert!(outer.0.is_some() && inner.0.is_none() && taken() == 1);
        drop((inner, outer));
        assert_eq!(taken(), 0);
    }

    #[test]
    fn others_wait() {
        let (turn, inside) = (Turn::default(), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let _turn = turn.take();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
    }
}
