//! Keepers of memory that Python objects own, which also prevent its reallocation while a tensor is over it.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyMemoryView};

use crate::held::Held;

/// The maximum length of a chain of arrays that lend memory to each other.
const MAX_BASES: usize = 64;

/// The address range of a block of memory, if it is known.
pub(crate) type Block = Option<(usize, usize)>;

/// A Python object that keeps the given object alive, and its memory in place; and the address range of the block of
/// memory.
///
/// A `bytearray` and similar objects refuse to be resized while there is a view of them. A NumPy array can be forced to
/// resize although its memory is in use (`refcheck=False`), but never while there is a weak reference to it.
pub(crate) fn lock(object: &Bound<'_, PyAny>) -> PyResult<(Py<PyAny>, Block)> {
    let py = object.py();
    let kept = PyList::empty(py);
    kept.append(PyMemoryView::from(object)?)?;
    let weakref = py.import("weakref")?.getattr("ref")?;
    let (mut owner, mut block): (_, Block) = (object.clone(), None);
    for _ in 0..MAX_BASES {
        if let Ok(held) = Held::of(&owner) {
            block = held.extent().or(block);
        }
        let base = if owner.is_instance_of::<PyMemoryView>() { "obj" } else { "base" };
        if base == "base" {
            if !owner.hasattr("__array_interface__")? {
                break;
            }
            if let Ok(reference) = weakref.call1((&owner,)) {
                kept.append(reference)?;
            }
        }
        kept.append(&owner)?;
        match owner.getattr(base) {
            Ok(base) if !base.is_none() => owner = base,
            _ => break,
        }
    }
    Ok((kept.into_any().unbind(), block))
}
