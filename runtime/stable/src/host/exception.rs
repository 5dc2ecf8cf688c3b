//! Exceptions of foreign code: none passes a function of Rust that has anything to drop, each becomes an error.
//!
//! # How it works
//! 1. Foreign functions are called by [`call`], through a few instructions that have a *personality routine* of their
//!    own: what the unwinder asks whether a frame wants the exception. It says yes to all, and the instructions return
//!    the exception instead.
//! 2. What an exception of C++ says is found where the Itanium ABI has it: the type in front of the exception, its
//!    bases in the type, `what` in the table of the virtual functions. No C++ library is linked, and one that a library
//!    was linked with statically does as well.
//! 3. A library may have an unwinder of its own, linked in. It asks our routine as well, which answers by the functions
//!    of the unwinder here: their contexts are alike, but these know the sizes of registers only once they have unwound
//!    something themselves. So they do, before the first call.
//! 4. [`raise`] throws a `std::runtime_error` where the C++ library is loaded, and an exception of our own elsewhere.
#![expect(unsafe_code, reason = "the unwinder's interface, and objects of C++")]

mod thrown;

use std::arch::naked_asm;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::Once;

pub(crate) use thrown::Header;
use thrown::Own;

/// A function of up to three words, of whatever types.
pub(crate) type Foreign = *const c_void;

/// Looks at a frame, and says whether the unwinder goes on.
type Trace = extern "C" fn(context: *mut c_void, argument: *mut c_void) -> c_int;

unsafe extern "C" {
    fn _Unwind_Backtrace(trace: Trace, argument: *mut c_void) -> c_int;
    fn _Unwind_SetGR(context: *mut c_void, register: c_int, value: usize);
    fn _Unwind_SetIP(context: *mut c_void, address: usize);
}

unsafe extern "C-unwind" {
    fn _Unwind_RaiseException(exception: *mut Header) -> c_int;
}

/// Calls a foreign function, which may throw.
///
/// # Errors
/// What the exception says.
///
/// # Safety
/// * The function takes words where these are given, and none that is not, and returns nothing.
/// * These arguments are what it asks for.
pub(crate) unsafe fn call(function: Foreign, arguments: [usize; 3]) -> Result<(), String> {
    static IS_READY: Once = Once::new();
    IS_READY.call_once(|| {
        // SAFETY: the function keeps nothing, and has the unwinder stop at the first frame. What it answers does not
        // matter: the unwinder has been at work.
        let _ = unsafe { _Unwind_Backtrace(stop, std::ptr::null_mut()) };
    });
    let [first, second, third] = arguments;
    // SAFETY: the caller says that the function may be called with these words.
    let exception = unsafe { guarded(function, first, second, third) };
    match std::ptr::NonNull::new(exception) {
        None => Ok(()),
        // SAFETY: it was just caught, and nobody else has it.
        Some(exception) => Err(unsafe { thrown::consume(exception) }),
    }
}

extern "C" fn stop(_: *mut c_void, _: *mut c_void) -> c_int {
    const END_OF_STACK: c_int = 5;
    END_OF_STACK
}

/// The number of the register that an exception is handed over in, as the unwinder counts.
const EXCEPTION_REGISTER: c_int = 0;

/// Calls the function with the other arguments, and returns null or what it threw.
///
/// # Safety
/// * As [`call`]'s.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C-unwind" fn guarded(
    function: Foreign,
    first: usize,
    second: usize,
    third: usize,
) -> *mut Header {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_personality 0x1b, {personality}",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "call rax",
        "xor eax, eax",
        "pop rbp",
        ".cfi_def_cfa_offset 8",
        "ret",
        ".cfi_endproc",
        personality = sym personality,
    )
}

/// Where [`guarded`] goes on after an exception.
///
/// # Safety
/// * It runs in the frame of [`guarded`], with the exception in the register of the result.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn landing() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "pop rbp",
        ".cfi_def_cfa_offset 8",
        "ret",
        ".cfi_endproc",
    )
}

/// Calls the function with the other arguments, and returns null or what it threw.
///
/// # Safety
/// * As [`call`]'s.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C-unwind" fn guarded(
    function: Foreign,
    first: usize,
    second: usize,
    third: usize,
) -> *mut Header {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_personality 0x1b, {personality}",
        "stp x29, x30, [sp, #-16]!",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset x29, -16",
        ".cfi_offset x30, -8",
        "mov x9, x0",
        "mov x0, x1",
        "mov x1, x2",
        "mov x2, x3",
        "blr x9",
        "mov x0, xzr",
        "ldp x29, x30, [sp], #16",
        ".cfi_def_cfa_offset 0",
        ".cfi_restore x29",
        ".cfi_restore x30",
        "ret",
        ".cfi_endproc",
        personality = sym personality,
    )
}

/// Where [`guarded`] goes on after an exception.
///
/// # Safety
/// * It runs in the frame of [`guarded`], with the exception in the register of the result.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn landing() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset x29, -16",
        ".cfi_offset x30, -8",
        "ldp x29, x30, [sp], #16",
        ".cfi_def_cfa_offset 0",
        ".cfi_restore x29",
        ".cfi_restore x30",
        "ret",
        ".cfi_endproc",
    )
}

/// What the unwinder asks about the frame of [`guarded`]: it catches all, but a thread that is ended.
extern "C" fn personality(
    _version: c_int,
    actions: c_int,
    _class: u64,
    exception: *mut Header,
    context: *mut c_void,
) -> c_int {
    const SEARCH: c_int = 1;
    const HANDLER_FRAME: c_int = 4;
    const FORCED: c_int = 8;
    const HANDLER_FOUND: c_int = 6;
    const INSTALL_CONTEXT: c_int = 7;
    const CONTINUE: c_int = 8;
    if actions & FORCED != 0 {
        return CONTINUE;
    }
    if actions & SEARCH != 0 {
        return HANDLER_FOUND;
    }
    if actions & HANDLER_FRAME == 0 {
        return CONTINUE;
    }
    // SAFETY: the unwinder lends the context of the frame of `guarded`, which has called and saved nothing else since:
    // `landing` is its other end. The register is one that the ABI hands exceptions over in.
    unsafe {
        _Unwind_SetGR(context, EXCEPTION_REGISTER, exception.addr());
        _Unwind_SetIP(context, landing as *const () as usize);
    }
    INSTALL_CONTEXT
}

/// Throws. What calls this has nothing to drop.
pub(crate) fn raise(message: String) -> ! {
    let message = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
    if let Some(runtime) = Cxx::find() {
        runtime.throw(message);
    }
    let exception = Own::raised(message);
    // SAFETY: it is a new exception, with a header in front, which whoever catches it frees.
    unsafe { _Unwind_RaiseException(exception) };
    // Nobody catches it: there was no frame of ours below.
    std::process::abort()
}

/// The functions by which C++ throws, where its library is loaded.
struct Cxx {
    allocate: unsafe extern "C" fn(usize) -> *mut c_void,
    construct: unsafe extern "C" fn(*mut c_void, *const c_char),
    throw: unsafe extern "C-unwind" fn(*mut c_void, *const c_void, *const c_void) -> !,
    runtime_error: *const c_void,
    destroy: *const c_void,
}

impl Cxx {
    fn find() -> Option<Cxx> {
        // SAFETY: the name ends in a zero, and what is loaded already runs no constructor.
        let library = unsafe { libc::dlopen(c"libstdc++.so.6".as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
        if library.is_null() {
            return None;
        }
        let symbol = |name: &std::ffi::CStr| {
            // SAFETY: the library is loaded and never closed here, and the name ends in a zero.
            let address = unsafe { libc::dlsym(library, name.as_ptr()) };
            (!address.is_null()).then_some(address)
        };
        let (allocate, construct) =
            (symbol(c"__cxa_allocate_exception")?, symbol(c"_ZNSt13runtime_errorC1EPKc")?);
        let (throw, runtime_error) = (symbol(c"__cxa_throw")?, symbol(c"_ZTISt13runtime_error")?);
        // SAFETY: these are the signatures that the Itanium ABI gives to the functions of these names.
        unsafe {
            Some(Cxx {
                allocate: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(usize) -> *mut c_void>(
                    allocate,
                ),
                construct: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, *const c_char)>(
                    construct,
                ),
                throw: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C-unwind" fn(*mut c_void, *const c_void, *const c_void) -> !,
                >(throw),
                runtime_error,
                destroy: symbol(c"_ZNSt13runtime_errorD1Ev")?,
            })
        }
    }

    fn throw(&self, message: CString) -> ! {
        /// As many bytes as a `std::runtime_error` has: a table of functions and a string.
        const SIZE: usize = 2 * size_of::<usize>();
        // SAFETY: the object is allocated for an exception of this size and made by its constructor, which copies the
        // text.
        let exception = unsafe {
            let exception = (self.allocate)(SIZE);
            (self.construct)(exception, message.as_ptr());
            exception
        };
        drop(message);
        // SAFETY: it is an object of this type, which this destructor destroys.
        unsafe { (self.throw)(exception, self.runtime_error, self.destroy) }
    }
}
