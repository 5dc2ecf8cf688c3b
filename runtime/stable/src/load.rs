//! Loading a library: what it registers is in the dispatcher then, for as long as the process lives.
#![expect(unsafe_code, reason = "runs a foreign library's constructors")]

use std::path::Path;

use torch_library::{Error, Result};

use crate::loaded::LoadedLibrary;

/// Loads a library that was built against PyTorch's stable C ABI, a second time the same as the first.
///
/// What it defines and implements is in [`Dispatcher::global`](torch_library::Dispatcher::global) afterwards. Nothing
/// is left of a library that fails to register anything.
///
/// ```no_run
/// use torch_library::{Dispatcher, Tensor};
/// use torch_library_kernels as _; // operators of `aten`, which libraries call
///
/// // SAFETY: `libmine.so` keeps to PyTorch's stable ABI and to what its schemas say.
/// let mine = unsafe { torch_library_stable::load("libmine.so") }?;
/// println!("{:?}", mine.operators());
/// let half = Dispatcher::global().find("mine::half")?;
/// let y: Tensor = half.call_with([Tensor::from([1.0, 2.0]).into()], [])?.pop_as()?;
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// # Errors
/// - [`Io`](torch_library::ErrorKind::Io): the file cannot be read, is no shared object, or needs a library or a
///   function that is not there. One that calls PyTorch's C++ itself is told so.
/// - Those of its registrations, as [`Library`](torch_library::Library) has them: a namespace that is declared
///   already, a schema that does not parse.
/// - [`NotSupported`](torch_library::ErrorKind::NotSupported): this is another system than Linux with glibc on x86-64
///   or 64-bit ARM; the program is linked with a PyTorch.
///
/// # Safety
/// * The library and what it needs may be loaded: their constructors run.
/// * It keeps to the ABI: handles that it passes are those that it was given and has not given back, texts end in
///   zeros, and arrays are as long as it says. A library that the compiler built from PyTorch's stable headers does.
/// * Its kernels write to no tensor but those that the schema says are written and those that they made, and use no
///   address of elements after they have returned. While they run, addresses are used by threads that they wait for.
///
/// PyTorch: `torch.ops.load_library`.
pub unsafe fn load(path: impl AsRef<Path>) -> Result<LoadedLibrary> {
    let path = path.as_ref();
    let failed = |error: Error| error.context(format_args!("loading {}", path.display()));
    let canonical = path.canonicalize().map_err(|error| failed(error.into()))?;
    // SAFETY: as the caller says.
    unsafe { here(&canonical) }.map_err(failed)
}

/// # Safety
/// * As [`load`]'s.
#[cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn here(path: &Path) -> Result<LoadedLibrary> {
    // SAFETY: as the caller says.
    unsafe { crate::host::load(path) }
}

/// # Safety
/// * None: nothing is loaded.
#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
unsafe fn here(_: &Path) -> Result<LoadedLibrary> {
    let message = "libraries of PyTorch's stable ABI load on Linux with glibc, on x86-64 and on 64-bit ARM";
    Err(Error::new(torch_library::ErrorKind::NotSupported, message))
}
