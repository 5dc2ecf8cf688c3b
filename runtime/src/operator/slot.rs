//! The pointers through which calls find an operator's table. `runtime/loom` tries this file under every interleaving.
#![expect(unsafe_code, reason = "readers follow pointers that are published and never freed")]

use crate::sync::{AtomicPtr, Ordering};

/// Where an operator stands: the table that calls read, of a type `H`, and all that is known of it, an `R`.
///
/// # Orderings
///
/// There is one writer at a time, the holder of the registry's lock. Both pointers are stored with release and loaded with
/// acquire, so a reader that sees an address sees what is behind it. A reader uses one of the two, never both: they may be
/// of two moments.
#[repr(C)]
pub(super) struct Slot<H: 'static, R: 'static> {
    table: AtomicPtr<H>,
    /// Null while nothing is resolved; else it came from a `&'static`.
    resolved: AtomicPtr<R>,
}

impl<H, R> Slot<H, R> {
    /// From the first table and null.
    pub(super) const fn new(table: AtomicPtr<H>, resolved: AtomicPtr<R>) -> Self {
        Slot { table, resolved }
    }

    /// The table that calls read now.
    #[inline(always)]
    pub(super) fn table(&self) -> *const H {
        self.table.load(Ordering::Acquire).cast_const()
    }

    /// What is known of the table, where there is one.
    #[inline]
    pub(super) fn resolved(&self) -> Option<&'static R> {
        // SAFETY: null, or from a `&'static` in `publish`.
        unsafe { self.resolved.load(Ordering::Acquire).cast_const().as_ref() }
    }

    /// Makes calls read this table.
    pub(super) fn publish(&self, resolved: &'static R, table: *const H) {
        self.resolved.store(std::ptr::from_ref(resolved).cast_mut(), Ordering::Release);
        self.table.store(table.cast_mut(), Ordering::Release);
    }

    /// Back to the first table.
    pub(super) fn retract(&self, initial: *const H) {
        self.resolved.store(std::ptr::null_mut(), Ordering::Release);
        self.table.store(initial.cast_mut(), Ordering::Release);
    }
}
