//! Calls of libraries with a thread-local workspace, which must not be used after a thread has destroyed it.
//!
//! `gemm` packs blocks of matrices into a workspace that it keeps for each thread, and so does `faer`. A program may
//! call a kernel from the destructor of a thread-local value, when the workspace may have been destroyed already. Then
//! accessing it panics, and a panic in such a destructor aborts the process. So such a call runs on a new thread.

use std::panic::resume_unwind;
use std::thread::{self, LocalKey};

#[cfg(not(target_arch = "x86_64"))]
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
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn with_workspace<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    beside(&WORKSPACE, f)
}

#[cold]
fn elsewhere<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| scope.spawn(f).join()).unwrap_or_else(|payload| resume_unwind(payload))
}
