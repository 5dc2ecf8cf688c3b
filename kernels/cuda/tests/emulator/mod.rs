//! The device that tests run on: a GPU if there is one, otherwise an emulator, a driver that computes on the host.
//!
//! The emulator is three C++ libraries under the names of CUDA's: once they are loaded, code that asks the system's loader
//! for `libcuda.so` gets the emulator, so the crate under test is the one that users have.
#![allow(
    clippy::allow_attributes,
    unsafe_code,
    dead_code,
    reason = "libraries are loaded, and not each test needs all"
)]

use std::ffi::CString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use libloading::Library;
use torch_library::{Device, backend};
use torch_library_cuda as _; // the backend

use crate::found;

/// The libraries of the emulator. Each needs those before it.
pub(crate) const ALL: [&str; 3] = ["cuda", "nvrtc", "cublas"];

const SOURCES: [(&str, &str); 3] = [
    ("cuda", include_str!("cuda.cpp")),
    ("nvrtc", include_str!("nvrtc.cpp")),
    ("cublas", include_str!("cublas.cpp")),
];
const HEADER: &str = include_str!("host.h");

/// The first device, of a GPU or of an emulator with these libraries; `None` if the test has to be skipped, after a message.
pub(crate) fn device(libraries: &[&str]) -> Option<Device> {
    static LOADED: OnceLock<Result<(), String>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| match found::has_gpu() {
        true => Ok(()),
        false => load(libraries),
    });
    if let Err(why) = loaded {
        eprintln!("skipped: there is no GPU, and no emulator: {why}");
        return None;
    }
    let device = "cuda".parse::<Device>().and_then(backend::resolve);
    Some(device.unwrap_or_else(|error| panic!("neither a GPU nor the emulator has a device: {error}")))
}

/// Builds the emulator, once for each version of its sources, and loads it.
fn load(libraries: &[&str]) -> Result<(), String> {
    if !cfg!(target_os = "linux") {
        return Err("it is for Linux".to_owned());
    }
    let folder = folder_for("cuda-emulator", &SOURCES)?;
    let kernels = folder_for("cuda-kernels", &(HEADER, SOURCES[1]))?;
    for name in libraries {
        let path = make(&folder, name)?;
        // SAFETY: the library's only initialisers are those of its own C++ objects.
        let library = unsafe { Library::new(&path) }.map_err(|error| error.to_string())?;
        if *name == "nvrtc" {
            let (kernels, header) =
                (CString::new(kernels.to_string_lossy().as_bytes()), CString::new(HEADER));
            let (Ok(kernels), Ok(header)) = (kernels, header) else {
                return Err("a path with a zero".to_owned());
            };
            // SAFETY: the functions have these types, and the texts end in zeros.
            unsafe {
                type Folder = unsafe extern "C" fn(*const std::ffi::c_char, *const std::ffi::c_char);
                let set = library.get::<Folder>(b"emulator_folder").map_err(|error| error.to_string())?;
                set(kernels.as_ptr(), header.as_ptr());
                let has = library.get::<unsafe extern "C" fn() -> i32>(b"emulator_has_nvrtc");
                if has.map_err(|error| error.to_string())?() == 0 {
                    eprintln!(
                        "NVRTC is not here: sources of kernels are compiled by the host's compiler alone"
                    );
                }
            }
        }
        std::mem::forget(library);
    }
    Ok(())
}

/// A folder in the build folder for files that depend on the value `of`.
fn folder_for(name: &str, of: &impl Hash) -> Result<PathBuf, String> {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{:016x}", hasher.finish()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    Ok(folder)
}

fn make(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let path = folder.join(format!("lib{name}.so"));
    if path.exists() {
        return Ok(path);
    }
    let (_, text) = SOURCES.iter().find(|(known, _)| *known == name).ok_or("no such library")?;
    let source = folder.join(format!("{name}.{}.cpp", std::process::id()));
    let made = folder.join(format!("lib{name}.{}.so", std::process::id()));
    std::fs::write(&source, text).map_err(|error| error.to_string())?;
    let mut compiler = Command::new(std::env::var_os("CXX").unwrap_or_else(|| "c++".into()));
    compiler.args(["-std=c++17", "-O2", "-fPIC", "-shared", &format!("-Wl,-soname,lib{name}.so"), "-o"]);
    compiler.arg(&made).arg(&source);
    if name == "cublas" {
        compiler.arg(make(folder, "cuda")?);
    }
    let output = compiler.arg("-ldl").output().map_err(|error| format!("no C++ compiler: {error}"))?;
    if !output.status.success() {
        return Err(format!("the C++ compiler says\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    std::fs::rename(&made, &path).map_err(|error| error.to_string())?;
    let _ = std::fs::remove_file(source);
    Ok(path)
}
