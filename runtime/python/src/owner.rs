//! What keeps memory of Python's objects where it is while a tensor is over it, and whose memory it is.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyMemoryView};

use crate::held::Held;

/// Arrays that lend memory to arrays, one to the other, are followed so far.
const MAX_BASES: usize = 64;

/// The addresses of a block of memory, where they are known.
pub(crate) type Block = Option<(usize, usize)>;

/// The object, locked in its place, an object of Python's that is dropped as any other; and the addresses of the memory
/// that it is a part of.
///
/// A `bytearray` and its like refuse to be resized while a view of them lives. An array of NumPy's can be told to
/// resize whatever looks at its memory (`refcheck=False`), but never does while there is a weak reference to it.
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
