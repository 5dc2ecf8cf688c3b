//! Huge pages for large blocks: the system then maps and clears 2 MiB at a time, instead of 512 small pages.
#![cfg_attr(all(target_os = "linux", not(miri)), expect(unsafe_code, reason = "calls the system"))]

use std::ptr::NonNull;

/// Requests huge pages for a block that is about to be written completely, so that they take no more memory than small
/// ones.
#[cfg(all(target_os = "linux", not(miri)))]
pub(super) fn widen(base: NonNull<u8>, len: usize) {
    const PAGE: usize = 2 << 20;
    if len < 2 * PAGE {
        return; // it may not contain a whole huge page
    }
    let start = base.as_ptr().wrapping_add(base.align_offset(PAGE));
    let end = base.as_ptr().wrapping_add(len);
    let len = (end.addr() - start.addr()) / PAGE * PAGE;
    // SAFETY: these are whole pages within a block that we own: it is at least two pages long, so `start` is before its
    // end. The advice does not change their contents. A system that does not support it returns an error, which is
    // harmless.
    unsafe { libc::madvise(start.cast(), len, libc::MADV_HUGEPAGE) };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
pub(super) fn widen(_: NonNull<u8>, _: usize) {}
