//! Fetching what a long reduction reads next.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};

/// From this many bytes on, it pays: from the last cache, the processor's own prefetching is quick enough.
pub(super) const LARGE: usize = 12 << 20;

/// Prefetches the first lines of each page behind the `len` bytes of a leaf, as many pages as the leaf has. The
/// processor prefetches the rest, but begins only after a few misses in each page.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "prefetches memory")]
#[inline(always)]
pub(super) fn behind(leaf: *const u8, len: usize) {
    const PAGE: usize = 4096;
    const LINE: usize = 64;
    for page in 0..(len + PAGE / 2) / PAGE {
        let first = leaf.wrapping_add(len + page * PAGE);
        for line in 0..8 {
            // SAFETY: SSE, which this instruction belongs to, is always there. It reads nothing that a program can
            // notice, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(first.wrapping_add(line * LINE).cast()) };
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn behind(_: *const u8, _: usize) {}
