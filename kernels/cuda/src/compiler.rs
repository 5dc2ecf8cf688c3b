//! Compiling kernels with NVRTC, once for each source and device.
#![expect(unsafe_code, reason = "the compiler's functions take handles and addresses")]

use std::ffi::{CString, c_char};

use cudarc::nvrtc::sys::{self, nvrtcResult};
use torch_library::prelude::*;

use crate::driver::Function;
use crate::gpu::Gpu;

/// The prelude of all kernels.
const PRELUDE: &str = include_str!("prelude.cuh");

/// The kernel of a source, which follows the prelude.
pub(crate) fn function(gpu: &Gpu, label: &str, source: &str) -> Result<Function> {
    gpu.functions.of(source, || {
        let image = compile(label, &format!("{PRELUDE}\n{source}"), gpu.context.capability)?;
        gpu.context.load(&image)
    })
}

/// Checks that the compiler is installed.
///
/// # Errors
/// It is not installed.
fn found() -> Result<()> {
    // SAFETY: loading the library runs its initialisers, which may run at any time; the user who installed the library
    // vouches for that.
    let is_there = unsafe { sys::is_culib_present() };
    ensure!(
        is_there,
        Device,
        "kernels for CUDA are compiled by NVRTC, and `libnvrtc.so` (Windows: `nvrtc64_*.dll`) was not found\n  help: it \
         comes with the CUDA toolkit, and with the Python package `nvidia-cuda-nvrtc`; `LD_LIBRARY_PATH` says where it is"
    );
    Ok(())
}

/// An NVRTC program.
struct Compiling(sys::nvrtcProgram);

impl Drop for Compiling {
    fn drop(&mut self) {
        // SAFETY: the program was created, and is not used after this.
        let _ = unsafe { sys::nvrtcDestroyProgram(&raw mut self.0) };
    }
}

/// Compiles to a binary for the GPU; or, if the compiler does not know the GPU, to PTX for an older one, which the
/// driver translates.
fn compile(label: &str, source: &str, (major, minor): (i32, i32)) -> Result<Vec<u8>> {
    found()?;
    let Ok(text) = CString::new(source) else {
        bail!(Internal, "the source of a kernel contains a zero byte")
    };
    let mut program = Compiling(std::ptr::null_mut());
    let none = std::ptr::null();
    // SAFETY: the text ends in a zero and outlives the program; there are no headers, so the lists of them are null.
    let made = unsafe {
        sys::nvrtcCreateProgram(&raw mut program.0, text.as_ptr(), c"kernel.cu".as_ptr(), 0, none, none)
    };
    ensure!(made == nvrtcResult::NVRTC_SUCCESS, Internal, "NVRTC cannot create a program: {made:?}");
    let of_this = format!("--gpu-architecture=sm_{major}{minor}");
    match options(&program, &of_this) {
        nvrtcResult::NVRTC_SUCCESS => text_of(&program, sys::nvrtcGetCUBINSize, sys::nvrtcGetCUBIN),
        nvrtcResult::NVRTC_ERROR_INVALID_OPTION => match options(&program, "--gpu-architecture=compute_75") {
            nvrtcResult::NVRTC_SUCCESS => text_of(&program, sys::nvrtcGetPTXSize, sys::nvrtcGetPTX),
            failed => refused(&program, failed, label, source),
        },
        failed => refused(&program, failed, label, source),
    }
}

fn options(program: &Compiling, architecture: &str) -> nvrtcResult {
    let list = [architecture, "--std=c++17"].map(|option| CString::new(option).unwrap_or_default());
    let pointers = list.each_ref().map(|option| option.as_ptr());
    // SAFETY: the program was created, and the list outlives the call.
    unsafe { sys::nvrtcCompileProgram(program.0, pointers.len() as i32, pointers.as_ptr()) }
}

fn refused(program: &Compiling, code: nvrtcResult, label: &str, source: &str) -> Result<Vec<u8>> {
    let log = text_of(program, sys::nvrtcGetProgramLogSize, sys::nvrtcGetProgramLog).unwrap_or_default();
    bail!(
        Internal,
        "NVRTC refuses the kernel {label:?} ({code:?}):\n{}\nthe source:\n{source}",
        String::from_utf8_lossy(&log)
    )
}

type Size = unsafe fn(sys::nvrtcProgram, *mut usize) -> nvrtcResult;
type Write = unsafe fn(sys::nvrtcProgram, *mut c_char) -> nvrtcResult;

/// An output of the compiler, such as the binary or the log, whose size is asked for first. A zero is appended.
fn text_of(program: &Compiling, size: Size, write: Write) -> Result<Vec<u8>> {
    let mut count = 0;
    // SAFETY: the program was created, and `count` outlives the call.
    let sized = unsafe { size(program.0, &raw mut count) };
    let mut bytes = vec![0; count + 1];
    // SAFETY: the buffer has as many bytes as the compiler said it writes.
    let written = unsafe { write(program.0, bytes.as_mut_ptr().cast()) };
    let is_there = sized == nvrtcResult::NVRTC_SUCCESS && written == nvrtcResult::NVRTC_SUCCESS;
    ensure!(is_there, Internal, "NVRTC does not return the compiled kernel: {sized:?}, {written:?}");
    Ok(bytes)
}
