//! The parts of CUDA that are installed on this machine.
#![expect(unsafe_code, reason = "libraries are loaded")]

use std::sync::OnceLock;

use libloading::Library;

/// Whether the loader finds a library of NVIDIA under a name that the crate looks for.
pub(crate) fn finds(name: &str) -> bool {
    let names = ["", ".1", ".12", ".13"].map(|version| format!("{name}{version}"));
    // SAFETY: the libraries' initialisers may run at any time, as they do in NVIDIA's programs.
    names.iter().any(|name| unsafe { Library::new(name) }.is_ok())
}

/// Whether the machine has a driver that finds a GPU. An emulator that the loader finds counts as one.
pub(crate) fn has_gpu() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| finds("libcuda.so") && count() > 0)
}

fn count() -> i32 {
    let mut count = 0;
    // SAFETY: a driver's library may be loaded at any time; its functions have these types, and `count` outlives the call.
    unsafe {
        let Ok(library) = Library::new("libcuda.so.1").or_else(|_| Library::new("libcuda.so")) else {
            return 0;
        };
        let init = library.get::<unsafe extern "C" fn(u32) -> i32>(b"cuInit");
        let counted = library.get::<unsafe extern "C" fn(*mut i32) -> i32>(b"cuDeviceGetCount");
        let (Ok(init), Ok(counted)) = (init, counted) else { return 0 };
        if init(0) != 0 || counted(&raw mut count) != 0 {
            return 0;
        }
    }
    count
}
