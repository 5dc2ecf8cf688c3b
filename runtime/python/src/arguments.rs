//! The arguments of a call, by position and by name, borrowed from the caller.

use pyo3::Borrowed;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use smallvec::SmallVec;

/// An object that the caller keeps alive.
pub(crate) type Lent<'a, 'py> = Borrowed<'a, 'py, PyAny>;

/// The arguments of a call. No reference is counted or copied: the caller keeps the objects alive until the call is
/// over.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a, 'py> {
    pub(crate) positional: &'a [Lent<'a, 'py>],
    pub(crate) named: &'a [(Borrowed<'a, 'py, PyString>, Lent<'a, 'py>)],
}

impl<'a, 'py> Arguments<'a, 'py> {
    pub(crate) fn positional(positional: &'a [Lent<'a, 'py>]) -> Self {
        Arguments { positional, named: &[] }
    }

    /// The argument with this name. Equal names are nearly always the same object; a name that was built at run time is
    /// compared by its text.
    #[inline]
    pub(crate) fn by_name(&self, name: &Bound<'py, PyString>) -> Option<&'a Bound<'py, PyAny>> {
        let same = self.named.iter().find(|(given, _)| given.is(name));
        let same = same.or_else(|| self.named.iter().find(|(given, _)| is_text(given, name)));
        same.map(|(_, object)| &**object)
    }

    /// The argument at a position, or with a name.
    pub(crate) fn at(&self, position: usize, name: &Bound<'py, PyString>) -> Option<&'a Bound<'py, PyAny>> {
        match self.positional.get(position) {
            Some(object) => Some(&**object),
            None => self.by_name(name),
        }
    }
}

/// Whether a name has this text, even if it is another object, whose own comparison may claim that it equals nothing.
#[cold]
pub(crate) fn is_text(given: &Bound<'_, PyString>, name: &Bound<'_, PyString>) -> bool {
    matches!((given.to_str(), name.to_str()), (Ok(given), Ok(name)) if given == name)
}

/// Objects with the names of their arguments.
pub(crate) type Named<'a, 'py> = SmallVec<[(Borrowed<'a, 'py, PyString>, Lent<'a, 'py>); 4]>;

/// Pairs names and objects.
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

/// Converts arguments for which Python already has a tuple and a dictionary.
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
