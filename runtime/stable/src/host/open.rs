//! Opens a library so that it finds our functions where it looks for PyTorch's.
//!
//! # How it works
//! 1. The file is copied to memory. In the copy, the libraries of PyTorch that it needs (`libtorch_cpu.so`,
//!    `libc10.so`, …) are replaced by one other name: a part of one of these names, so that no text has to grow. Other
//!    libraries that it needs, and finds through a path relative to it, are treated in the same way first.
//! 2. An image with our functions is opened under that name, visible only to libraries that need it (`RTLD_LOCAL`).
//! 3. The copy is opened, with all its symbols resolved (`RTLD_NOW`): a missing one is an error now, instead of ending
//!    the process later.
//!
//! A PyTorch in the same process is neither used nor disturbed: it has its own names and libraries, even another copy
//! of the same library.
#![expect(unsafe_code, reason = "the loader's interface")]

use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::{Path, PathBuf};

use torch_library::{Error, ErrorKind, Result, ensure};

use crate::host::elf::SharedObject;
use crate::host::image::image;
use crate::host::{abi, exception};

/// The opened files: images by name, libraries by path. None is closed: their kernels may be running.
#[derive(Default)]
pub(super) struct Opened {
    images: Vec<String>,
    libraries: Vec<(PathBuf, Handle)>,
    /// Libraries that wait for those that they need.
    waiting: Vec<PathBuf>,
}

/// A handle of the loader, as a number: it is not dereferenced here.
pub(super) type Handle = usize;

impl Opened {
    /// Opens a library, and before it those that it finds relative to itself.
    ///
    /// # Errors
    /// The file cannot be read, is not a shared object, or needs something that is missing.
    ///
    /// # Safety
    /// * The library's constructors may run, and it keeps to PyTorch's stable ABI.
    pub(super) unsafe fn open(&mut self, path: &Path) -> Result<Handle> {
        if let Some((_, handle)) = self.libraries.iter().find(|(opened, _)| opened == path) {
            return Ok(*handle);
        }
        let mut object = SharedObject::parse(std::fs::read(path)?)?;
        self.waiting.push(path.to_owned());
        // SAFETY: as the caller promises.
        let opened = unsafe { self.open_neighbours(&object, path) };
        self.waiting.pop();
        opened?;
        let soname = match object.redirect(is_of_pytorch, "aoti_torch_")? {
            Some(name) => Some(name),
            None => object.redirect(|_| false, "torch_call_dispatcher")?,
        };
        // A library that is linked with none of these libraries looks up the functions when it is loaded, under this
        // name.
        self.open_image(soname.as_deref().unwrap_or("libtorch_library_host.so"))?;
        // SAFETY: the constructors may run, as the caller promises.
        let handle = unsafe { open_bytes(object.bytes(), path) }?;
        self.libraries.push((path.to_owned(), handle));
        Ok(handle)
    }

    /// Opens the libraries that a library finds relative to itself.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open); one of them needs the library itself.
    ///
    /// # Safety
    /// * The requirements of [`open`](Self::open).
    unsafe fn open_neighbours(&mut self, object: &SharedObject, path: &Path) -> Result<()> {
        for needed in neighbours(object, path) {
            ensure!(
                !self.waiting.contains(&needed),
                NotSupported,
                "{} needs {}, which needs it: of libraries that need each other, none can be opened first",
                path.display(),
                needed.display()
            );
            // SAFETY: it is a part of the library, for which the caller made the promise.
            unsafe { self.open(&needed) }?;
        }
        Ok(())
    }

    /// The number of opened libraries.
    pub(super) fn count(&self) -> usize {
        self.libraries.len()
    }

    /// Forgets libraries that were opened later, so that they are opened anew when they are loaded again: their
    /// registrations are gone.
    pub(super) fn forget_since(&mut self, count: usize) {
        self.libraries.truncate(count);
    }

    /// Opens an image of our functions under a name, once.
    fn open_image(&mut self, soname: &str) -> Result<()> {
        // For each library: a PyTorch may have been opened since the last one.
        // SAFETY: the name ends in a zero.
        let other = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"aoti_torch_abi_version".as_ptr()) };
        ensure!(
            other.is_null(),
            NotSupported,
            "this program is linked with a PyTorch, or opened one by `RTLD_GLOBAL`, whose functions would come first"
        );
        if self.images.iter().any(|opened| opened == soname) {
            return Ok(());
        }
        let functions: Vec<(&str, u64)> =
            abi::all().map(|function| (function.name, function.address.addr() as u64)).collect();
        // SAFETY: an image has no constructors.
        unsafe { open_bytes(&image(soname, &functions), Path::new(soname)) }?;
        self.images.push(soname.to_owned());
        Ok(())
    }
}

/// Whether a library is one of PyTorch's.
fn is_of_pytorch(soname: &str) -> bool {
    let Some((name, _)) = soname.strip_prefix("lib").and_then(|name| name.split_once(".so")) else {
        return false;
    };
    let parts =
        ["torch", "torch_cpu", "torch_cuda", "torch_python", "torch_global_deps", "shm", "c10", "c10_cuda"];
    parts.contains(&name)
}

/// The libraries that a library needs and finds through a path relative to it.
fn neighbours(object: &SharedObject, path: &Path) -> Vec<PathBuf> {
    let Some(folder) = path.parent() else { return Vec::new() };
    let relative = |path: &str| -> Option<PathBuf> {
        let rest = path.strip_prefix("$ORIGIN").or_else(|| path.strip_prefix("${ORIGIN}"))?;
        Some(folder.join(rest.trim_start_matches('/')))
    };
    let folders: Vec<PathBuf> = object.search_paths().filter_map(relative).collect();
    let found = |name: &str| {
        let places = folders.iter().map(|folder| folder.join(name));
        places.filter(|place| place.is_file()).find_map(|place| place.canonicalize().ok())
    };
    object.needed().filter(|name| !is_of_pytorch(name)).filter_map(found).collect()
}

/// Opens a shared object from memory.
///
/// # Safety
/// * Its constructors may run.
unsafe fn open_bytes(bytes: &[u8], path: &Path) -> Result<Handle> {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let name = CString::new(name).unwrap_or_default();
    // SAFETY: the name ends in a zero; the descriptor is new, and no other code has it.
    let mut file = unsafe {
        let descriptor = libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC);
        ensure!(descriptor >= 0, Io, "no memory for a copy of it: {}", std::io::Error::last_os_error());
        File::from_raw_fd(descriptor)
    };
    file.write_all(bytes)?;
    let opened = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or_default();
    let mut handle: *mut c_void = std::ptr::null_mut();
    let arguments = [opened.as_ptr().expose_provenance(), (&raw mut handle).expose_provenance(), 0];
    // SAFETY: the function takes two addresses, those of a text and of a place for a handle.
    let thrown = unsafe { exception::call(dlopen as *const c_void, arguments) };
    if thrown.is_err() || !handle.is_null() {
        // The file stays open: the loader identifies what it opened by this name, which must not be reused for another
        // file.
        std::mem::forget(file);
    }
    thrown.map_err(|text| Error::new(ErrorKind::Kernel, format!("its constructors threw: {text}")))?;
    if handle.is_null() {
        // SAFETY: after a failure it is a text, which lives until the thread's next call.
        let text = unsafe { CStr::from_ptr(libc::dlerror()) }.to_string_lossy().into_owned();
        return Err(Error::new(ErrorKind::Io, explained(&text, &opened.to_string_lossy(), path)));
    }
    Ok(handle.expose_provenance())
}

/// # Safety
/// * The name is a text that ends in a zero, and there is room for a handle.
unsafe extern "C-unwind" fn dlopen(name: *const std::ffi::c_char, handle: *mut *mut c_void) {
    unsafe extern "C-unwind" {
        /// `libc::dlopen`, declared so that constructors may throw.
        #[link_name = "dlopen"]
        fn open(name: *const std::ffi::c_char, flags: i32) -> *mut c_void;
    }
    // SAFETY: the caller promises valid arguments.
    unsafe { handle.write(open(name, libc::RTLD_NOW | libc::RTLD_LOCAL)) };
}

/// The loader's message, with the file's name instead of that of its copy, and with an explanation.
fn explained(text: &str, opened: &str, path: &Path) -> String {
    let text = text.replace(opened, &path.display().to_string());
    let of_cxx = ["_ZN2at", "_ZN3c10", "_ZN5torch", "_ZNK2at", "_ZNK3c10", "_ZNK5torch"];
    if text.contains("undefined symbol") && of_cxx.iter().any(|prefix| text.contains(prefix)) {
        let help = "it calls PyTorch's C++ itself: only libraries that keep to the stable ABI load here";
        return format!("{text}\n  help: {help}");
    }
    text
}
