//! The limit on nested calls: below a reserve of the thread's stack, calls fail with an error instead of crashing the
//! process.
//!
//! # How it works
//!
//! Each thread stores the lowest address to which calls may use its stack, beside the keys that every call reads. A
//! call compares the stack pointer with it, in three instructions. At first the address is the highest possible one, so
//! the first call of a thread takes the cold path, which asks the system for the bounds of the thread's stack. A call
//! that finds too little left goes to its operator's stub instead of a kernel, and the stub returns an error of the
//! operator's return type.
//!
//! The reserve is for the kernel that runs when the limit is reached, which checks again at its next call, and for the
//! error. The size of a stack that the program allocated itself, such as a coroutine's, is not known: calls on it are
//! not limited.
#![cfg_attr(
    all(
        not(miri),
        any(target_arch = "x86_64", target_arch = "aarch64", all(target_os = "linux", target_env = "gnu"))
    ),
    expect(unsafe_code, reason = "the stack pointer and the system's word on the stack have no safe names")
)]

use std::cell::Cell;
use std::fmt::Display;
use std::ops::Range;

use crate::error::{Error, ErrorKind};
use crate::guard;

/// The reserve that calls leave free on a large stack.
const RESERVE: usize = 256 * 1024;

/// A thread's stack.
#[derive(Clone, Copy)]
struct Bounds {
    lowest: usize,
    highest: usize,
}

impl Bounds {
    fn new(addresses: Range<usize>) -> Self {
        Bounds { lowest: addresses.start, highest: addresses.end }
    }

    fn size(self) -> usize {
        self.highest - self.lowest
    }

    /// The lowest address to which calls may go: on a small stack, a quarter is left.
    fn limit(self) -> usize {
        self.lowest + RESERVE.min(self.size() / 4)
    }
}

thread_local! {
    /// Determined once per thread.
    static BOUNDS: Cell<Option<Bounds>> = const { Cell::new(None) };
}

/// Whether the stack pointer is below the known limit: either the limit was not determined yet, or too little is left.
#[inline(always)]
pub(crate) fn is_suspect() -> bool {
    stack_pointer() < guard::stack_limit()
}

/// Whether too little of the stack is left for another call.
#[cold]
#[inline(never)]
pub(crate) fn is_exhausted() -> bool {
    let here = stack_pointer();
    let bounds = BOUNDS.get().unwrap_or_else(|| {
        let bounds = Bounds::new(stack_of_thread(here));
        BOUNDS.set(Some(bounds));
        guard::set_stack_limit(bounds.limit());
        bounds
    });
    (bounds.lowest..bounds.limit()).contains(&here)
}

/// The error of a call that finds too little stack left.
#[cold]
pub(crate) fn error(operator: &dyn Display) -> Error {
    let (used, size) =
        BOUNDS.get().map_or((0, 0), |stack| (stack.highest.saturating_sub(stack_pointer()), stack.size()));
    let message = format!(
        "{operator}: calls are nested too deep: {} of the thread's {} KiB of stack are in use, and the rest is kept for what \
         runs now\n  help: a kernel or a layer that calls the operator it serves calls itself without end; if it does end, run \
         it on a thread with a larger stack, by `std::thread::Builder::stack_size`",
        used / 1024,
        size / 1024
    );
    Error::new(ErrorKind::Recursion, message)
}

/// The current stack pointer.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn stack_pointer() -> usize {
    let address;
    // SAFETY: copies a register, and touches neither memory nor flags.
    unsafe { std::arch::asm!("mov {}, rsp", out(reg) address, options(nomem, nostack, preserves_flags)) };
    address
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline(always)]
fn stack_pointer() -> usize {
    let address;
    // SAFETY: copies a register, and touches neither memory nor flags.
    unsafe { std::arch::asm!("mov {}, sp", out(reg) address, options(nomem, nostack, preserves_flags)) };
    address
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", miri)))]
#[inline(always)]
fn stack_pointer() -> usize {
    let local = 0u8;
    std::hint::black_box(&raw const local).addr()
}

/// Under Miri there is no contiguous stack: the highest address is below no limit.
#[cfg(miri)]
fn stack_pointer() -> usize {
    usize::MAX
}

/// The bounds of this thread's stack, which contains `here`.
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
fn stack_of_thread(here: usize) -> Range<usize> {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: the first argument is this thread, and the second has room for the attributes.
    if unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) } != 0 {
        return assumed(here);
    }
    let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the call above has initialised the attributes, and the other two have room for the results.
    let status = unsafe { libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut lowest, &raw mut size) };
    // SAFETY: initialised above, and not used again.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    if status == 0 { lowest.addr()..lowest.addr() + size } else { assumed(here) }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(miri))))]
fn stack_of_thread(here: usize) -> Range<usize> {
    assumed(here)
}

/// The bounds if the system does not report them: the smallest usual size of a stack, from the first call downwards.
fn assumed(here: usize) -> Range<usize> {
    here.saturating_sub(1024 * 1024)..here
}
