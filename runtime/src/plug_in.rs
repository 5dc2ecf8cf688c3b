//! Plug-ins: shared objects with operators and kernels, which a running program loads.
#![expect(unsafe_code, reason = "loads a shared object by the system's loader")]

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::error::Result;
use crate::registry::{Conflict, Dispatcher};
use crate::{bail, ensure};

/// Loads a plug-in, and registers what it contains; returns how many records that is, as
/// [`rescan`](Dispatcher::rescan) does. It stays loaded. Of one that is loaded already nothing is new.
///
/// The program and the plug-in share one runtime, which is a library of its own: see [plug-ins] in the guide, which has
/// the manifests. A plug-in that was built in another way is refused with an error.
///
/// Conflicts with other registrations are found as for linked ones: [`init`](crate::init) reports them.
///
/// PyTorch: `torch.ops.load_library`.
///
/// [plug-ins]: crate::guide::first_library#plug-ins
///
/// # Errors
/// There is no such file. It was built by another compiler, or with another version, profile or other features of what
/// it shares with the program. It was built with other sources of this crate. It has a runtime of its own.
///
/// # Safety
/// - What the shared object runs when it is loaded is sound. The macros of this crate make it add records to a list.
/// - The libraries that it shares with the program, other than this crate, are the ones that it was built with: of
///   other sources of theirs nothing here knows.
pub unsafe fn load(path: impl AsRef<Path>) -> Result<usize> {
    let path = path.as_ref();
    let shown = path.display();
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else { bail!(Io, "{shown:?} is no path") };
    // SAFETY: a C string. With this flag a library is not loaded, only found.
    let is_loaded = unsafe { !libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD).is_null() };
    let before = foreign();
    // SAFETY: a C string; the caller vouches for what runs when the library is loaded. All of its symbols are looked up
    // now, so that none can be missing later.
    if unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW).is_null() } {
        bail!(Io, "the plug-in {shown} cannot be loaded: {}", reason());
    }
    let new = Dispatcher::global().rescan();
    if let Some(conflict) = foreign().into_iter().find(|conflict| !before.contains(conflict)) {
        bail!(Conflict, "{shown}: {conflict}");
    }
    ensure!(
        new > 0 || is_loaded,
        Conflict,
        "{shown} was loaded, and has registered nothing in this program: it has a runtime of its own, or no operators\n\
         \x20 help: put the runtime into a crate of the type `dylib`, with the feature `inventory`, and name it in the \
         sources of the program and of the plug-in: `use shared_runtime as _;`"
    );
    Ok(new)
}

/// The plug-ins that were compiled with another build of this crate.
fn foreign() -> Vec<Conflict> {
    let conflicts = Dispatcher::global().conflicts().into_iter();
    conflicts.filter(|conflict| matches!(conflict, Conflict::Build { .. })).collect()
}

/// What the system's loader says about the last failure, and what may be done about it.
fn reason() -> String {
    // SAFETY: no arguments.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the loader gives no reason".to_owned();
    }
    // SAFETY: not null, so it is a C string, which is valid until this thread calls the loader again.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    match text.contains("undefined symbol") {
        true => format!(
            "{text}\n  help: it was built by another compiler, or with another version, profile or other features of \
             the crates that it shares with this program: build both by the same command"
        ),
        false => text,
    }
}
