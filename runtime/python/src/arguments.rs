//! The arguments of a call, borrowed from whoever calls: by position, and by name.

use pyo3::Borrowed;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use smallvec::SmallVec;

/// An object that somebody else keeps.
pub(crate) type Lent<'a, 'py> = Borrowed<'a, 'py, PyAny>;

/// What a call is given. Nothing is counted or copied: who calls keeps the objects until the call is over.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a, 'py> {
    pub(crate) positional: &'a [Lent<'a, 'py>],
    pub(crate) named: &'a [(Borrowed<'a, 'py, PyString>, Lent<'a, 'py>)],
}

impl<'a, 'py> Arguments<'a, 'py> {
    pub(crate) fn positional(positional: &'a [Lent<'a, 'py>]) -> Self {
        Arguments { positional, named: &[] }
    }

    /// The argument by this name. Names are nearly always one object wherever they are written; one that was put
    /// together at run time is compared by its text.
    #[inline]
    pub(crate) fn by_name(&self, name: &Bound<'py, PyString>) -> Option<&'a Bound<'py, PyAny>> {
        let same = self.named.iter().find(|(given, _)| given.is(name));
        let same = same.or_else(|| self.named.iter().find(|(given, _)| is_text(given, name)));
        same.map(|(_, object)| &**object)
    }

    /// That at a position, or else by a name.
    pub(crate) fn at(&self, position: usize, name: &Bound<'py, PyString>) -> Option<&'a Bound<'py, PyAny>> {
        match self.positional.get(position) {
            Some(object) => Some(&**object),
            None => self.by_name(name),
        }
    }
}

/// Whether a name has this text, though it may be another object, which may say of itself that it is equal to none.
#[cold]
pub(crate) fn is_text(given: &Bound<'_, PyString>, name: &Bound<'_, PyString>) -> bool {
    matches!((given.to_str(), name.to_str()), (Ok(given), Ok(name)) if given == name)
}

/// Objects with the names that they are given by.
pub(crate) type Named<'a, 'py> = SmallVec<[(Borrowed<'a, 'py, PyString>, Lent<'a, 'py>); 4]>;

/// Names and objects, one for each.
pub(crate) fn named<'a, 'py>(
    names: &'a Bound<'py, PyTuple>,
    objects: &'a [Lent<'a, 'py>],
) -> PyResult<Named<'a, 'py>> {
    let word = |name: Lent<'a, 'py>| name.cast::<PyString>().map_err(|_| not_a_name());
    names.iter_borrowed().zip(objects).map(|(name, object)| Ok((word(name)?, *object))).collect()
}

#[cold]
fn not_a_name() -> PyErr {
    PyTypeError::new_err("the names of arguments are strings")
}

/// What Python hands over where it has a tuple and a dictionary already.
pub(crate) fn with_packed<'py, R>(
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
    call: impl FnOnce(Arguments<'_, 'py>) -> PyResult<R>,
) -> PyResult<R> {
    let positional: SmallVec<[Lent<'_, 'py>; 6]> = args.iter_borrowed().collect();
    let Some(kwargs) = kwargs else { return call(Arguments::positional(&positional)) };
    let (names, objects) = (kwargs.keys().to_tuple(), kwargs.values());
    let objects: Vec<_> = objects.iter().collect();
    let objects: Vec<_> = objects.iter().map(Bound::as_borrowed).collect();
    call(Arguments { positional: &positional, named: &named(&names, &objects)? })
}
