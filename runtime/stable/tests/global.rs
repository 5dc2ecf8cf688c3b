//! A PyTorch whose functions are visible to all libraries of the process.
#![cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![expect(unsafe_code, reason = "loads libraries")]

#[path = "extensions/build.rs"]
mod build;

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use torch_library::{ErrorKind, Result};
use torch_library_stable::LoadedLibrary;

fn load(path: &Path) -> Result<LoadedLibrary> {
    // SAFETY: it is a library of this folder, which keeps to the ABI.
    unsafe { torch_library_stable::load(path) }
}

#[test]
fn a_pytorch_that_comes_later_is_noticed() {
    let build = |namespace: &str| {
        let option = format!("-DNAMESPACE=\"{namespace}\"");
        build::build("cc", "plain.c", &format!("lib{namespace}.so"), &[&option])
    };
    load(&build("before")).unwrap();
    let pytorch = build::build("cc", "pytorch.c", "libpytorch.so", &[]);
    let path = CString::new(pytorch.as_os_str().as_bytes()).unwrap();
    // SAFETY: the path ends in a zero, and the library has no constructors.
    let opened = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    assert!(!opened.is_null());
    let error = load(&build("after")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotSupported, "{error}");
    assert!(error.to_string().contains("opened one by `RTLD_GLOBAL`"), "{error}");
}
