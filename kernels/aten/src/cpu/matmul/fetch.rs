//! Prefetches memory into the L1 cache.
#![expect(unsafe_code, reason = "calls an instruction that every processor of this architecture has")]

use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

/// The number of rows between the one that is used and the one that is prefetched.
pub(super) const AHEAD: usize = 8;

/// The size of a cache line in bytes.
const LINE: usize = 64;

/// Prefetches some elements, if they are in memory at all.
#[inline(always)]
pub(super) fn fetch<T>(from: *const T, count: usize) {
    for offset in (0..count * size_of::<T>()).step_by(LINE) {
        // SAFETY: every processor of this architecture has the instruction, which does nothing with an address that
        // cannot be read.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast::<i8>().wrapping_add(offset)) };
    }
}
