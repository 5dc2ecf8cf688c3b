//! Loaded libraries.

use std::path::{Path, PathBuf};

use torch_library::OperatorHandle;

/// A loaded library, with its registrations.
///
/// PyTorch: an entry of `torch.ops.loaded_libraries`.
#[derive(Clone, Debug)]
pub struct LoadedLibrary {
    path: PathBuf,
    operators: Vec<OperatorHandle>,
    kernels: usize,
}

impl LoadedLibrary {
    #[cfg(all(
        target_os = "linux",
        target_env = "gnu",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    pub(crate) fn new(path: PathBuf, operators: Vec<OperatorHandle>, kernels: usize) -> LoadedLibrary {
        LoadedLibrary { path, operators, kernels }
    }

    /// The path of its file, with symbolic links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The operators that it defined, in order.
    pub fn operators(&self) -> &[OperatorHandle] {
        &self.operators
    }

    /// The number of kernels that it registered, for its own operators and for others.
    pub fn kernels(&self) -> usize {
        self.kernels
    }
}
