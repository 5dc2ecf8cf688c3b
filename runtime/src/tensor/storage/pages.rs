//! Large pages for large blocks: the system hands out and clears 2 MiB at a time, where it would else do so 512 times.
#![cfg_attr(all(target_os = "linux", not(miri)), expect(unsafe_code, reason = "calls the system"))]

use std::ptr::NonNull;

/// Asks for large pages under a block that is about to be written in full, so that they take no more memory than small
/// ones.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn widen(base: NonNull<u8>, len: usize) {
    const PAGE: usize = 2 << 20;
    if len < 2 * PAGE {
        return; // there need not be a whole one in it
    }
    let start = base.as_ptr().wrapping_add(base.align_offset(PAGE));
    let end = base.as_ptr().wrapping_add(len);
    let len = (end.addr() - start.addr()) / PAGE * PAGE;
    // SAFETY: whole pages within a block that is ours: it is at least two long, so `start` is before `end`. The advice
    // changes nothing that is in them. A system that does not take it says so, which is as well.
    unsafe { libc::madvise(start.cast(), len, libc::MADV_HUGEPAGE) };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) fn widen(_: NonNull<u8>, _: usize) {}
