//! A door for threads that join a piece of work, and may be too late. `runtime/loom` tests this file under every
//! interleaving.

use crate::sync::{AtomicUsize, Ordering};

/// Set when no thread may enter any more; the other bits count the threads inside.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// The door of a room that threads enter and leave until its owner closes it. Once the door is closed and the room
/// empty, no thread accesses what is in the room.
pub(crate) struct Door {
    state: AtomicUsize,
}

impl Door {
    pub(crate) fn open() -> Self {
        Door { state: AtomicUsize::new(0) }
    }

    /// Enters, unless the door is closed; returns whether it was open. What is inside must have been written before the
    /// thread could see the door.
    pub(crate) fn enter(&self) -> bool {
        let enter = |state| if state & CLOSED == 0 { Some(state + 1) } else { None };
        self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enter).is_ok()
    }

    /// Leaves; returns whether the door is closed and this was the last thread inside, so that the owner need not wait
    /// any longer.
    pub(crate) fn leave(&self) -> bool {
        // Release: the owner sees all that the thread did inside.
        self.state.fetch_sub(1, Ordering::Release) == CLOSED + 1
    }

    /// Closes the door: no thread enters any more.
    pub(crate) fn close(&self) {
        self.state.fetch_or(CLOSED, Ordering::Relaxed);
    }

    /// Whether the door is closed and all threads have left; their effects are visible then.
    pub(crate) fn is_left(&self) -> bool {
        self.state.load(Ordering::Acquire) == CLOSED
    }
}
