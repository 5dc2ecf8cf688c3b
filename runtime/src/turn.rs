//! Turns that threads take at something, where nobody waits for ever.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// What one thread does at a time, as long as none of them is in the middle of something else.
///
/// A thread waits for its turn, unless it has one already: of this, since what it does there may lead to the same
/// again, or of something else, whose next in turn may have this one. Such a thread goes ahead. So no circle of threads
/// waits for each other, and whatever needs the order for more than looks has a lock of its own.
#[derive(Default)]
pub(crate) struct Turn(Mutex<()>);

thread_local! {
    /// How many turns this thread has, those included that it works for.
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

/// A turn, which ends when this drops; none, where the thread went ahead.
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

/// How many turns this thread has.
pub(crate) fn taken() -> usize {
    TAKEN.get()
}

/// Says that a thread works for one that has so many turns, and waits for it. Gives back how many it had.
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
