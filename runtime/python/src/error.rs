//! Conversions of errors: the runtime's errors to Python exceptions, and exceptions in callbacks to errors and back.

use pyo3::exceptions::{
    PyIndexError, PyMemoryError, PyNotImplementedError, PyOSError, PyRecursionError, PyRuntimeError,
    PySystemError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use torch_library::{Error, ErrorKind};

/// The exception for an error. If an exception in a Python function caused the error, it is that exception.
pub(crate) fn exception(error: Error) -> PyErr {
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        if let Some(exception) = cause.downcast_ref::<PyErr>() {
            return Python::try_attach(|py| exception.clone_ref(py)).unwrap_or_else(ending);
        }
        source = cause.source();
    }
    let text = error.to_string();
    match error.kind() {
        ErrorKind::Index => PyIndexError::new_err(text),
        ErrorKind::OutOfMemory => PyMemoryError::new_err(text),
        ErrorKind::Argument | ErrorKind::Shape | ErrorKind::Schema => PyValueError::new_err(text),
        ErrorKind::DType | ErrorKind::Type => PyTypeError::new_err(text),
        ErrorKind::MissingKernel | ErrorKind::NotSupported => PyNotImplementedError::new_err(text),
        ErrorKind::Recursion => PyRecursionError::new_err(text),
        ErrorKind::Io => PyOSError::new_err(text),
        ErrorKind::Internal => PySystemError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

/// The exception for a Python function that cannot be called any more.
pub(crate) fn ending() -> PyErr {
    PyRuntimeError::new_err("Python's interpreter is ending, and calls no functions any more")
}

/// The error for an exception in a Python function, which the runtime passes on.
pub(crate) fn of_exception(exception: PyErr) -> Error {
    Error::new(ErrorKind::Kernel, exception.to_string()).with_source(exception)
}
