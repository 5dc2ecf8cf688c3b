//! The word of a storage that records its readers or its writer.
#![expect(unsafe_code, reason = "keeps a reference to a constant in an atomic")]

use std::panic::Location;
use std::ptr;
use std::sync::atomic::{self, AtomicPtr};

use crate::error::{Error, ErrorKind, Result};
use crate::sync::{AtomicUsize, Ordering};

/// The state of a storage's leases.
pub(crate) struct LeaseWord {
    /// The number of shared leases, [`EXCLUSIVE`] or [`RETIRED`]. Correctness depends only on this field, so a model
    /// checks only this one.
    state: AtomicUsize,
    /// The source location that took the last lease; for messages.
    place: AtomicPtr<Location<'static>>,
    /// The thread that took all leases since there was none, or [`SEVERAL`] if they are of several; for messages.
    thread: atomic::AtomicUsize,
}

/// No thread is identified by it.
const SEVERAL: usize = 0;

/// There is an exclusive lease.
const EXCLUSIVE: usize = 1 << (usize::BITS - 1);

/// There will be no lease any more.
const RETIRED: usize = EXCLUSIVE + 1;

/// More shared leases than threads and calls could ever hold; if so many are leaked, further ones are refused.
const MOST: usize = EXCLUSIVE / 2;

impl LeaseWord {
    pub(crate) fn new() -> Self {
        let place = AtomicPtr::new(ptr::null_mut());
        LeaseWord { state: AtomicUsize::new(0), place, thread: atomic::AtomicUsize::new(0) }
    }

    #[inline]
    pub(super) fn share(&self, place: &'static Location<'static>) -> Result<()> {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            if state >= MOST {
                return Err(self.refusal("read"));
            }
            match self.state.compare_exchange_weak(state, state + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => state = now,
            }
        }
        let here = this_thread();
        let is_alone = state == 0 || self.thread.load(Ordering::Relaxed) == here;
        self.note(place, if is_alone { here } else { SEVERAL });
        Ok(())
    }

    #[inline]
    pub(super) fn take(&self, place: &'static Location<'static>) -> Result<()> {
        match self.state.compare_exchange(0, EXCLUSIVE, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => self.note(place, this_thread()),
            Err(_) => return Err(self.refusal("written")),
        }
        Ok(())
    }

    /// Refuses all leases from now on.
    ///
    /// # Errors
    /// There is a lease now.
    pub(super) fn retire(&self) -> Result<()> {
        match self.state.compare_exchange(0, RETIRED, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) | Err(RETIRED) => Ok(()),
            Err(_) => Err(self.refusal("given back")),
        }
    }

    /// Whether all leases are refused.
    pub(super) fn is_retired(&self) -> bool {
        self.state.load(Ordering::Relaxed) == RETIRED
    }

    #[inline]
    pub(super) fn give_back_shared(&self) {
        self.state.fetch_sub(1, Ordering::Release);
    }

    #[inline]
    pub(super) fn give_back_exclusive(&self) {
        self.state.store(0, Ordering::Release); // no other thread changes it while there is an exclusive lease
    }

    #[inline]
    fn note(&self, place: &'static Location<'static>, thread: usize) {
        // The two stores are not atomic together, nor with the change of the state: a message may name the place of one
        // holder and the thread of the next.
        self.place.store(ptr::from_ref(place).cast_mut(), Ordering::Relaxed);
        self.thread.store(thread, Ordering::Relaxed);
    }

    /// The error if a lease is not available.
    #[cold]
    #[inline(never)]
    fn refusal(&self, wanted: &str) -> Error {
        let done = match self.state.load(Ordering::Relaxed) {
            RETIRED => return retired(wanted),
            EXCLUSIVE => "written",
            _ => "read",
        };
        let (whose, help) = match self.thread.load(Ordering::Relaxed) {
            thread if thread == this_thread() => (
                "this thread, which is in the middle of it",
                "drop the elements that were borrowed there first; if a kernel did that, the closure that it calls \
                 cannot use its tensors: copy what the closure needs before",
            ),
            SEVERAL => (
                "this thread or another",
                "drop the elements that were borrowed there first, or wait until that call has returned; or give each \
                 thread a copy",
            ),
            _ => (
                "another thread",
                "wait until that call has returned, give each thread a copy, or parts of its own by `Tensor::disjoint_parts`",
            ),
        };
        let place = location(&self.place).map(|place| format!(" at {place}")).unwrap_or_default();
        Error::new(
            ErrorKind::Busy,
            format!(
                "this memory cannot be {wanted} now: it is being {done}{place} by {whose}\n  help: {help}"
            ),
        )
    }
}

/// The error if there will be no lease any more.
fn retired(wanted: &str) -> Error {
    Error::new(
        ErrorKind::Busy,
        format!(
            "this memory cannot be {wanted} any more: it was lent for one call, which has ended\n  \
             help: a kernel that keeps a tensor of its caller's keeps a copy of it"
        ),
    )
}

/// Identifies a thread as long as it lives.
#[inline]
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    // Not `with`, which is inlined too late to be optimised.
    let here = HERE.try_with(|here| ptr::from_ref(here).addr());
    here.expect("a thread-local without a destructor exists as long as its thread")
}

fn location(place: &AtomicPtr<Location<'static>>) -> Option<&'static Location<'static>> {
    let place = place.load(Ordering::Relaxed);
    // SAFETY: null, or from a `&'static Location` in `note`, so valid for ever; locations are constants, which are
    // never written and need no publishing store.
    unsafe { place.as_ref() }
}
