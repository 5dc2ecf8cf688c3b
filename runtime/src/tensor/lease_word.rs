//! The word of a storage that says who reads and who writes it.
#![expect(unsafe_code, reason = "keeps a reference to a constant in an atomic")]

use std::panic::Location;
use std::ptr;
use std::sync::atomic::{self, AtomicPtr};

use crate::error::{Error, ErrorKind, Result};
use crate::sync::{AtomicUsize, Ordering};

/// The state of a storage's leases.
pub(crate) struct LeaseWord {
    /// How many hold shared leases, or [`EXCLUSIVE`]. All that anything depends on, and so all that a model looks at.
    state: AtomicUsize,
    /// Where in the program the last lease was taken; for messages.
    place: AtomicPtr<Location<'static>>,
    /// Which thread took it; for messages.
    thread: atomic::AtomicUsize,
}

/// One holds an exclusive lease.
const EXCLUSIVE: usize = 1 << (usize::BITS - 1);

/// More shared leases than threads and calls could ever hold: whoever forgets so many gets no more of them.
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
        self.note(place);
        Ok(())
    }

    #[inline]
    pub(super) fn take(&self, place: &'static Location<'static>) -> Result<()> {
        match self.state.compare_exchange(0, EXCLUSIVE, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => self.note(place),
            Err(_) => return Err(self.refusal("written")),
        }
        Ok(())
    }

    #[inline]
    pub(super) fn give_back_shared(&self) {
        self.state.fetch_sub(1, Ordering::Release);
    }

    #[inline]
    pub(super) fn give_back_exclusive(&self) {
        self.state.store(0, Ordering::Release); // nobody else changes it while one has it alone
    }

    #[inline]
    fn note(&self, place: &'static Location<'static>) {
        // Two words that are not of one moment: a message may name the place of one holder and the thread of the next.
        self.place.store(ptr::from_ref(place).cast_mut(), Ordering::Relaxed);
        self.thread.store(this_thread(), Ordering::Relaxed);
    }

    /// What is said to who cannot have a lease.
    #[cold]
    #[inline(never)]
    fn refusal(&self, wanted: &str) -> Error {
        let done = if self.state.load(Ordering::Relaxed) == EXCLUSIVE { "written" } else { "read" };
        let is_here = self.thread.load(Ordering::Relaxed) == this_thread();
        let (whose, help) = if is_here {
            (
                "this thread, which is in the middle of it",
                "a closure that a kernel calls leaves the tensors of that kernel alone; copy what it needs before",
            )
        } else {
            (
                "another thread",
                "wait until that call has returned, give each thread a copy, or parts of its own by `Tensor::disjoint_parts`",
            )
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

/// Tells threads apart, as long as they live.
#[inline]
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    // Not by `with`, which stays a call where no later pass looks at it.
    let here = HERE.try_with(|here| ptr::from_ref(here).addr());
    here.expect("what needs no destructor is there as long as the thread")
}

fn location(place: &AtomicPtr<Location<'static>>) -> Option<&'static Location<'static>> {
    let place = place.load(Ordering::Relaxed);
    // SAFETY: null, or made of a `&'static Location` by `note`, so valid for good; locations are constants, which
    // nobody writes and no store has to publish.
    unsafe { place.as_ref() }
}
