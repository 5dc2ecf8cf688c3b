//! Calls of libraries that keep memory for each thread, wherever the thread is: at its end that memory is gone.
//!
//! `faer` and `gemm` pack blocks of matrices into room that each thread has once. A program may call a kernel while
//! the values of a thread are dropped, out of one of its own. Then the room may be gone already, and who asks for it
//! panics, where a panic is the end of the process. So such a call runs on a thread of its own.

use std::panic::resume_unwind;
use std::thread;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

thread_local! {
    /// Made after what the libraries keep for this thread. Std drops what was made last first, so this is gone before
    /// that is, and tells.
    static ROOM: Room = Room::new();
}

struct Room;

impl Room {
    fn new() -> Self {
        gemm_common::gemm::L2_SLAB.with(|_| ());
        // A product that is too large for registers alone, the smallest with a block.
        let (a, mut product) = (Mat::<f64>::zeros(40, 40), Mat::zeros(40, 40));
        matmul(product.as_mut(), Accum::Replace, a.as_ref(), a.as_ref(), 1.0, Par::Seq);
        Room
    }
}

impl Drop for Room {
    /// Nothing is left to do, but what has a `drop` is known to be gone.
    fn drop(&mut self) {}
}

/// Runs what calls such a library: here, or on another thread where this one is at its end.
#[inline]
pub(super) fn with_room<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    if ROOM.try_with(|_| ()).is_ok() { f() } else { elsewhere(f) }
}

#[cold]
fn elsewhere<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| scope.spawn(f).join()).unwrap_or_else(|payload| resume_unwind(payload))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    /// Calls when it is dropped, and says on which thread the call ran.
    struct Calls(Sender<bool>);

    impl Drop for Calls {
        fn drop(&mut self) {
            let here = thread::current().id();
            let was_here = with_room(|| thread::current().id() == here);
            assert!(self.0.send(was_here).is_ok());
        }
    }

    #[test]
    fn a_thread_at_its_end_has_another_one_do_it() {
        thread_local!(static LAST: RefCell<Option<Calls>> = const { RefCell::new(None) });
        let ran_here = |is_made_first: bool| {
            let (sender, receiver) = channel();
            let calls = move || {
                if is_made_first {
                    assert_eq!(with_room(|| 1), 1);
                }
                LAST.with(|last| *last.borrow_mut() = Some(Calls(sender)));
                if !is_made_first {
                    assert_eq!(with_room(|| 1), 1);
                }
            };
            thread::spawn(calls).join().unwrap();
            receiver.recv().unwrap()
        };
        assert!(ran_here(true), "the room is there until what was made before it goes");
        assert!(!ran_here(false), "the room went first");
    }
}
