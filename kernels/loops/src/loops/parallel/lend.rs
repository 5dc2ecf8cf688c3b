//! Lending work to other threads without waiting for those that are asleep.
#![expect(unsafe_code, reason = "other threads borrow a closure for as long as this one waits for them")]

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};

use super::door::Door;

/// The number of times that the owner checks whether all threads have left before it parks: they soon will, since each
/// has at most one part of the work left.
const LOOKS: usize = 1000;

/// Runs `own` on this thread, and concurrently `work` on up to `others` other threads. A thread that has not begun when
/// `own` returns never does: there is nothing left to do then, and waking a thread takes longer than many pieces of
/// work.
pub(super) fn lend(others: usize, work: &(dyn Fn() + Sync), own: impl FnOnce()) {
    // SAFETY: only the lifetime changes. Threads that pass the door run `work` before `Lent` is dropped below, since
    // its drop closes the door and waits for all of them, also when `own` panics; threads that come later do not access
    // `work`.
    let work = unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(work) };
    let room = Arc::new(Room { door: Door::open(), work, owner: thread::current(), panic: Mutex::new(None) });
    let lent = Lent(&room);
    for _ in 0..others {
        let room = Arc::clone(&room);
        rayon::spawn(move || room.visit());
    }
    own();
    drop(lent);
    if let Some(panic) = room.panic.lock().unwrap_or_else(PoisonError::into_inner).take() {
        resume_unwind(panic);
    }
}

/// Work that threads share.
struct Room {
    door: Door,
    work: &'static (dyn Fn() + Sync),
    owner: Thread,
    /// The first panic of a thread's part, if any.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Room {
    /// Does a part of the work, unless the door is closed.
    fn visit(&self) {
        if !self.door.enter() {
            return;
        }
        if let Err(panic) = catch_unwind(AssertUnwindSafe(self.work)) {
            keep_first(&mut self.panic.lock().unwrap_or_else(PoisonError::into_inner), panic);
        }
        if self.door.leave() {
            self.owner.unpark();
        }
    }
}

/// Keeps the first panic and forgets the others. The payload of a panic may itself panic when it is dropped, on a
/// thread that does not catch it or that already unwinds; so payloads that are not passed on are not dropped.
fn keep_first(first: &mut Option<Box<dyn Any + Send>>, panic: Box<dyn Any + Send>) {
    match first {
        None => *first = Some(panic),
        Some(_) => mem::forget(panic),
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        mem::forget(self.panic.get_mut().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// A guard whose drop closes the door and waits until the room is empty, on return or while unwinding.
struct Lent<'a>(&'a Room);

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let door = &self.0.door;
        door.close();
        for _ in 0..LOOKS {
            if door.is_left() {
                return;
            }
            std::hint::spin_loop();
        }
        while !door.is_left() {
            thread::park(); // may return early or at once
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn nobody_works_after_the_end() {
        // All rounds are kept until the last one is over, so that a thread that comes late finds its round still there.
        let rounds: Vec<_> = (0..2000).map(|_| [const { AtomicUsize::new(0) }; 3]).collect();
        let rounds: Vec<_> = rounds
            .iter()
            .map(|[done, ended, late]| {
                let work = move || {
                    done.fetch_add(1, Ordering::SeqCst);
                    late.fetch_add(ended.load(Ordering::SeqCst), Ordering::SeqCst);
                };
                (done, ended, late, work)
            })
            .collect();
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(10);
        for (round, (done, ended, _, work)) in rounds.iter().enumerate() {
            lend(3, work, || {
                (0..round % 50).for_each(|_| std::hint::spin_loop());
                // In some of the rounds another thread must have come.
                while round % 100 == 0
                    && done.load(Ordering::SeqCst) == 0
                    && std::time::Instant::now() < patience
                {
                    thread::yield_now();
                }
            });
            ended.store(1, Ordering::SeqCst);
        }
        for (round, (done, _, late, _)) in rounds.iter().enumerate() {
            let done = done.load(Ordering::SeqCst);
            assert!(done <= 3 && (done > 0 || round % 100 != 0), "{done} came in round {round}");
            assert_eq!(late.load(Ordering::SeqCst), 0, "in round {round}");
        }
    }

    #[test]
    fn a_panic_elsewhere_is_one_here() {
        let began = AtomicUsize::new(0);
        let work = || {
            began.fetch_add(1, Ordering::SeqCst);
            panic!("elsewhere");
        };
        let wait = || {
            while began.load(Ordering::SeqCst) == 0 {
                thread::yield_now();
            }
        };
        let panic = catch_unwind(AssertUnwindSafe(|| lend(1, &work, wait))).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"elsewhere"));
    }

    #[test]
    fn a_panic_here_waits_for_the_others() {
        let (began, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            began.fetch_add(1, Ordering::SeqCst);
            thread::sleep(std::time::Duration::from_millis(20));
            ended.fetch_add(1, Ordering::SeqCst);
        };
        let own = || {
            while began.load(Ordering::SeqCst) == 0 {
                thread::yield_now();
            }
            panic!("here");
        };
        assert!(catch_unwind(AssertUnwindSafe(|| lend(1, &work, own))).is_err());
        assert_eq!(ended.into_inner(), began.into_inner());
    }
}
