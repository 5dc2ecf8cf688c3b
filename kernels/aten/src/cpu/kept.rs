//! Calls of libraries with a thread-local workspace, which must not be used after a thread has destroyed it.
//!
//! `gemm` packs blocks of matrices into a workspace that it keeps for each thread, and so does `faer`. A program may
//! call a kernel from the destructor of a thread-local value, when the workspace may have been destroyed already. Then
//! accessing it panics, and a panic in such a destructor aborts the process. So such a call runs on a new thread.

use std::panic::resume_unwind;
use std::thread::{self, LocalKey};

thread_local! {
    static WORKSPACE: Workspace = Workspace::after(|| gemm_common::gemm::L2_SLAB.with(|_| ()));
}

/// A thread-local value that tells whether the workspace of a library still exists.
///
/// It is created after the workspace. The standard library destroys thread-local values in reverse order, so this one
/// is gone before the workspace is, and accessing it reports that.
pub struct Workspace(());

impl Workspace {
    /// Created after the workspace of a library; `touch` creates that if it does not exist yet.
    pub fn after(touch: impl FnOnce()) -> Self {
        touch();
        Workspace(())
    }
}

impl Drop for Workspace {
    /// There is nothing to do, but only for types with a destructor does the standard library record that they are
    /// gone.
    fn drop(&mut self) {}
}

/// Runs a call of a library with a workspace: on this thread, or on a new one if this thread is ending.
#[inline]
pub fn beside<R: Send>(workspace: &'static LocalKey<Workspace>, f: impl FnOnce() -> R + Send) -> R {
    if workspace.try_with(|_| ()).is_ok() { f() } else { elsewhere(f) }
}

/// Runs a call of `gemm`.
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

    /// Makes a call when it is dropped, and reports whether it ran on the same thread.
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
