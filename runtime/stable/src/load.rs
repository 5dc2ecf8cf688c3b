//! Loading a library, whose registrations then stay in the dispatcher as long as the process lives.
#![expect(unsafe_code, reason = "runs a foreign library's constructors")]

use std::path::Path;

use torch_library::{Error, Result};

use crate::loaded::LoadedLibrary;

/// Loads a library that was built against PyTorch's stable C ABI. Loading it again returns the same.
///
/// Its definitions and kernels are then in [`Dispatcher::global`](torch_library::Dispatcher::global). If any
/// registration fails, nothing of the library stays registered.
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
/// - [`Io`](torch_library::ErrorKind::Io): the file cannot be read, is not a shared object, or needs a library or a
///   function that is missing. If it calls PyTorch's C++ functions, the error says so.
/// - The errors of its registrations, as for [`Library`](torch_library::Library): a namespace that is declared already,
///   a schema that does not parse.
/// - [`Busy`](torch_library::ErrorKind::Busy): this thread is loading a library, and a listener of its registrations
///   loads another one.
/// - [`NotSupported`](torch_library::ErrorKind::NotSupported): the system is not Linux with glibc on x86-64 or 64-bit
///   ARM; the program is linked with a PyTorch.
///
/// # Safety
/// * The library and the libraries that it needs may be loaded: their constructors run.
/// * It keeps to the ABI: handles that it passes are those that it was given and has not given back, texts end in
///   zeros, and arrays are as long as it says. A library that the compiler built from PyTorch's stable headers does.
/// * Its kernels write only to tensors that the schema marks as written and to those that they made, and use no address
///   of elements after they have returned. While they run, addresses are only used by threads that they wait for.
///
/// PyTorch: `torch.ops.load_library`.
pub unsafe fn load(path: impl AsRef<Path>) -> Result<LoadedLibrary> {
    let path = path.as_ref();
    let failed = |error: Error| error.context(format_args!("loading {}", path.display()));
    let canonical = path.canonicalize().map_err(|error| failed(error.into()))?;
    // SAFETY: as the caller promises.
    unsafe { here(&canonical) }.map_err(failed)
}

/// # Safety
/// * The requirements of [`load`].
#[cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn here(path: &Path) -> Result<LoadedLibrary> {
    // SAFETY: as the caller promises.
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
