//! Libraries that were built against PyTorch's stable C ABI: `load_library("libmine.so")`.
#![expect(unsafe_code, reason = "loads what a program of Python names, as `ctypes` does")]

use std::path::PathBuf;

use pyo3::prelude::*;
use torch_library::OperatorHandle;

use crate::error::exception;
use crate::namespace;

/// Loads a library, whose operators are then in `torch_library.ops`. Returns the names of those that it defines.
#[pyfunction]
pub(crate) fn load_library(py: Python<'_>, path: PathBuf) -> PyResult<Vec<String>> {
    let load = || {
        // SAFETY: the Python code that names the file is responsible for its content, as it is for the `import` of a C
        // module: that it may be loaded, and keeps to the ABI.
        unsafe { torch_library_stable::load(path) }
    };
    let library = py.detach(load).map_err(exception)?;
    namespace::forget();
    Ok(library.operators().iter().map(OperatorHandle::to_string).collect())
}
