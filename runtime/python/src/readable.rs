//! Tests whether there is readable memory at an address from another library.

/// Whether the first and the last byte of a range can be read, as far as the system can tell. This detects unmapped
/// addresses, but not those that belong to other code.
#[cfg(target_os = "linux")]
pub(crate) fn is_readable(start: usize, len: usize) -> bool {
    let Some(last) = len.checked_sub(1) else { return true };
    start.checked_add(last).is_some_and(|last| is_byte(start) && is_byte(last))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn is_readable(start: usize, len: usize) -> bool {
    start != 0 && start.checked_add(len).is_some()
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the system call that reads memory which may not be there")]
fn is_byte(address: usize) -> bool {
    let mut byte = 0u8;
    let local = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(address), iov_len: 1 };
    // SAFETY: both lists have one entry; `local` is a byte of ours, and the system checks whether `remote` can be read.
    let read =
        unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    // If the system forbids the call, nothing is known.
    read == 1 || std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT)
}
