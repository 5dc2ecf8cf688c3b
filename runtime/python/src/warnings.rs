//! Warnings of the runtime, passed to Python's `warnings`.

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use torch_library::warning;

/// Passes warnings to Python instead of printing them; if the program has turned warnings into errors, they are printed
/// as exceptions that cannot be raised.
pub(crate) fn tell_python() {
    std::mem::forget(warning::listen(|message| {
        let told = Python::try_attach(|py| {
            let category = py.get_type::<PyUserWarning>();
            let said =
                py.import("warnings").and_then(|warnings| warnings.call_method1("warn", (message, category)));
            if let Err(error) = said {
                error.write_unraisable(py, None);
            }
        });
        if told.is_none() {
            eprintln!("{message}"); // the interpreter is ending
        }
    }));
}
