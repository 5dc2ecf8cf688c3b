//! A library that was loaded.

use std::path::{Path, PathBuf};

use torch_library::OperatorHandle;

/// A library that was loaded, with what it registered.
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

    /// Its file, without links on the way.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The operators that it defined, in its order.
    pub fn operators(&self) -> &[OperatorHandle] {
        &self.operators
    }

    /// How many kernels it registered, for its own operators and for those of others.
    pub fn kernels(&self) -> usize {
        self.kernels
    }
}
