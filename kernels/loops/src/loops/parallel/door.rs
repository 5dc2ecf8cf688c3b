//! Who may still come in. `runtime/loom` tries this file under every interleaving.

use crate::sync::{AtomicUsize, Ordering};

/// Set once nobody comes in any more; the other bits count who is in.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// A room that threads enter and leave until its owner closes it. Once it is closed and empty, nobody looks at what
/// is in it.
pub(crate) struct Door {
    state: AtomicUsize,
}

impl Door {
    pub(crate) fn open() -> Self {
        Door { state: AtomicUsize::new(0) }
    }

    /// Goes in, unless it is closed. Gives back whether it was open. What is inside must have been there before the
    /// thread could come.
    pub(crate) fn enter(&self) -> bool {
        let enter = |state| if state & CLOSED == 0 { Some(state + 1) } else { None };
        self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enter).is_ok()
    }

    /// Goes out. Gives back whether the owner waits for nobody else.
    pub(crate) fn leave(&self) -> bool {
        // Release: the owner sees all that was done inside.
        self.state.fetch_sub(1, Ordering::Release) == CLOSED + 1
    }

    /// Lets nobody in any more.
    pub(crate) fn close(&self) {
        self.state.fetch_or(CLOSED, Ordering::Relaxed);
    }

    /// Whether all are out of a closed room; what they did there is done.
    pub(crate) fn is_left(&self) -> bool {
        self.state.load(Ordering::Acquire) == CLOSED
    }
}
