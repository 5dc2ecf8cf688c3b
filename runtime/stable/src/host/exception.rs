//! Foreign exceptions: none passes through a Rust function that has anything to drop; each becomes an error.
//!
//! # How it works
//! 1. Foreign functions are called by [`call`], through a few instructions with a *personality routine* of their own,
//!    which the unwinder asks whether a frame catches an exception. It catches all of them, and the instructions return
//!    the exception instead.
//! 2. The message of a C++ exception is found where the Itanium ABI puts it: the type is in front of the exception, its
//!    base classes in the type, and `what` in the table of virtual functions. No C++ library is linked, and libraries
//!    with a statically linked one are supported as well.
//! 3. A library may have a statically linked unwinder of its own. It calls our routine as well, which answers with the
//!    functions of the unwinder here. Their contexts are the same, but these functions know the sizes of registers only
//!    once they have unwound something themselves. So they do, before the first call.
//! 4. [`raise`] throws a `std::runtime_error` if the C++ library is loaded, and otherwise an exception of our own.
#![expect(unsafe_code, reason = "the unwinder's interface, and objects of C++")]

mod thrown;

use std::arch::naked_asm;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::Once;

pub(crate) use thrown::Header;
use thrown::Own;

/// A function with up to three words as parameters, of any types.
pub(crate) type Foreign = *const c_void;

/// A callback for each frame, which says whether the unwinder goes on.
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
/// The message of the exception.
///
/// # Safety
/// * The function takes as many words as it uses of the three, and returns nothing.
/// * The arguments are valid for the function.
pub(crate) unsafe fn call(function: Foreign, arguments: [usize; 3]) -> Result<(), String> {
    static IS_READY: Once = Once::new();
    IS_READY.call_once(|| {
        // SAFETY: the function keeps nothing, and stops the unwinder at the first frame. The result does not matter:
        // the unwinder has been used.
        let _ = unsafe { _Unwind_Backtrace(stop, std::ptr::null_mut()) };
    });
    let [first, second, third] = arguments;
    // SAFETY: the caller promises that the function may be called with these words.
    let exception = unsafe { guarded(function, first, second, third) };
    match std::ptr::NonNull::new(exception) {
        None => Ok(()),
        // SAFETY: it was just caught, and no other code has it.
        Some(exception) => Err(unsafe { thrown::consume(exception) }),
    }
}

extern "C" fn stop(_: *mut c_void, _: *mut c_void) -> c_int {
    const END_OF_STACK: c_int = 5;
    END_OF_STACK
}

/// The unwinder's number for the register in which an exception is passed.
const EXCEPTION_REGISTER: c_int = 0;

/// Calls the function with the other arguments, and returns null or the exception that it threw.
///
/// # Safety
/// * The requirements of [`call`].
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

/// The address at which [`guarded`] continues after an exception.
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

/// Calls the function with the other arguments, and returns null or the exception that it threw.
///
/// # Safety
/// * The requirements of [`call`].
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

/// The address at which [`guarded`] continues after an exception.
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

/// The personality routine for the frame of [`guarded`]: it catches everything except the cancellation of a thread.
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
    // `landing` completes it. The register is the one in which the ABI passes exceptions.
    unsafe {
        _Unwind_SetGR(context, EXCEPTION_REGISTER, exception.addr());
        _Unwind_SetIP(context, landing as *const () as usize);
    }
    INSTALL_CONTEXT
}

/// Throws. The caller must have nothing to drop.
pub(crate) fn raise(message: String) -> ! {
    let message = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
    if let Some(runtime) = Cxx::find() {
        runtime.throw(message);
    }
    let exception = Own::raised(message);
    // SAFETY: it is a new exception with a header in front, which the code that catches it frees.
    unsafe { _Unwind_RaiseException(exception) };
    // There was no frame that catches it.
    std::process::abort()
}

/// The functions with which C++ throws, if its library is loaded.
struct Cxx {
    allocate: unsafe extern "C" fn(usize) -> *mut c_void,
    construct: unsafe extern "C" fn(*mut c_void, *const c_char),
    throw: unsafe extern "C-unwind" fn(*mut c_void, *const c_void, *const c_void) -> !,
    runtime_error: *const c_void,
    destroy: *const c_void,
}

impl Cxx {
    fn find() -> Option<Cxx> {
        // SAFETY: the name ends in a zero, and looking up a loaded library runs no constructor.
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
        // SAFETY: the Itanium ABI gives these signatures to the functions with these names.
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
        /// The size of a `std::runtime_error`: a pointer to a table of functions and a string.
        const SIZE: usize = 2 * size_of::<usize>();
        // SAFETY: the object is allocated for an exception of this size and initialised by its constructor, which
        // copies the text.
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
