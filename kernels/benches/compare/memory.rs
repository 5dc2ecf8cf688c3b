//! How much memory this process takes, as Linux counts it; 0 elsewhere.
#![cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "calls the C library")
)]

use std::fs;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
unsafe extern "C" {
    /// Hands memory that was freed back to the system, but for some bytes.
    safe fn malloc_trim(keep: usize) -> i32;
}

/// Hands unused memory back, forgets the highest mark so far, and gives what is in use, in bytes.
pub(crate) fn settle() -> u64 {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    malloc_trim(0);
    let _ = fs::write("/proc/self/clear_refs", "5");
    status("VmRSS:")
}

/// The highest mark since [`settle`], in bytes.
pub(crate) fn peak() -> u64 {
    status("VmHWM:")
}

fn status(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
}
