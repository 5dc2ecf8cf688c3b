//! The pointer through which calls find an operator's table. `runtime/loom` tests this file under every interleaving.

use crate::sync::{AtomicPtr, Ordering};

/// The pointer to the table that calls read, which determines everything else about the operator's state.
///
/// # Orderings
///
/// There is one writer at a time, the holder of the registry's lock. The pointer is stored with release and loaded with
/// acquire ordering, so a reader that sees an address sees the data behind it.
#[repr(transparent)]
pub(super) struct Slot<T>(AtomicPtr<T>);

impl<T> Slot<T> {
    /// A slot with the first table.
    pub(super) const fn new(table: AtomicPtr<T>) -> Self {
        Slot(table)
    }

    /// The table that calls use now.
    #[inline(always)]
    pub(super) fn table(&self) -> *const T {
        self.0.load(Ordering::Acquire).cast_const()
    }

    /// Makes calls use this table.
    pub(super) fn publish(&self, table: *const T) {
        self.0.store(table.cast_mut(), Ordering::Release);
    }
}
