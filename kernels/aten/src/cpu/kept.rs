//! Calls of libraries that keep memory for each thread, wherever the thread is: at its end that memory is gone.
//!
//! `gemm` packs blocks of matrices in a workspace that each thread has once, and `faer` does too. A program may call
//! a kernel while the values of a thread are dropped, out of one of its own. Then the workspace may be gone already,
//! and who asks for it panics, where a panic is the end of the process. So such a call runs on a thread of its own.

use std::panic::resume_unwind;
use std::thread::{self, LocalKey};

thread_local! {
    static WORKSPACE: Workspace = Workspace::after(|| gemm_common::gemm::L2_SLAB.with(|_| ()));
}

/// What a thread has besides the workspace that a library keeps for it.
///
/// It is made after that. Std drops what was made last first, so this is gone before that is, and tells.
pub struct Workspace(());

impl Workspace {
    /// Made after the workspace of a library, which `touch` makes where it is not made yet.
    pub fn after(touch: impl FnOnce()) -> Self {
        touch();
        Workspace(())
    }
}

impl Drop for Workspace {
    /// Nothing is left to do, but what has a `drop` is known to be gone.
    fn drop(&mut self) {}
}

/// Runs what calls a library that has a workspace: here, or on another thread where this one is at its end.
#[inline]
pub fn beside<R: Send>(workspace: &'static LocalKey<Workspace>, f: impl FnOnce() -> R + Send) -> R {
    if workspace.try_with(|_| ()).is_ok() { f() } else { elsewhere(f) }
}

/// Runs what calls `gemm`.
#[inline]
pub(super) fn with_workspace<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    beside(&WORKSPACE, f)
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
            let was_here = with_workspace(|| thread::current().id() == here);
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
                    assert_eq!(with_workspace(|| 1), 1);
                }
                LAST.with(|last| *last.borrow_mut() = Some(Calls(sender)));
                if !is_made_first {
                    assert_eq!(with_workspace(|| 1), 1);
                }
            };
            thread::spawn(calls).join().unwrap();
            receiver.recv().unwrap()
        };
        assert!(ran_here(true), "the workspace is there until what was made before it goes");
        assert!(!ran_here(false), "the workspace went first");
    }
}
