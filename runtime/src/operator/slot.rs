//! The pointer through which calls find an operator's table. `runtime/loom` tries this file under every interleaving.

use crate::sync::{AtomicPtr, Ordering};

/// Where an operator stands: the table that calls read, which tells all else that is known of it.
///
/// # Orderings
///
/// There is one writer at a time, the holder of the registry's lock. The pointer is stored with release and loaded with
/// acquire, so a reader that sees an address sees what is behind it.
#[repr(transparent)]
pub(super) struct Slot<T>(AtomicPtr<T>);

impl<T> Slot<T> {
    /// From the first table.
    pub(super) const fn new(table: AtomicPtr<T>) -> Self {
        Slot(table)
    }

    /// The table that calls read now.
    #[inline(always)]
    pub(super) fn table(&self) -> *const T {
        self.0.load(Ordering::Acquire).cast_const()
    }

    /// Makes calls read this table.
    pub(super) fn publish(&self, table: *const T) {
        self.0.store(table.cast_mut(), Ordering::Release);
    }
}
