//! What keeps memory of Python's objects where it is while a tensor is over it.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyMemoryView};

/// Arrays that lend memory to arrays, one to the other, are followed so far.
const MAX_BASES: usize = 64;

/// The object, locked in its place: an object of Python's that is dropped as any other.
///
/// A `bytearray` and its like refuse to be resized while a view of them lives. An array of NumPy's can be told to resize
/// whatever looks at its memory (`refcheck=False`), but never does while there is a weak reference to it.
pub(crate) fn lock(object: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let py = object.py();
    let kept = PyList::empty(py);
    kept.append(PyMemoryView::from(object)?)?;
    let weakref = py.import("weakref")?.getattr("ref")?;
    let mut array = object.clone();
    for _ in 0..MAX_BASES {
        if !array.hasattr("__array_interface__")? {
            break;
        }
        kept.append(&array)?;
        if let Ok(reference) = weakref.call1((&array,)) {
            kept.append(reference)?;
        }
        match array.getattr("base") {
            Ok(base) if !base.is_none() => array = base,
            _ => break,
        }
    }
    Ok(kept.into_any().unbind())
}
