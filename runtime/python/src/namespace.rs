//! `torch_library.ops`, its namespaces, and their operators, which are looked up when they are first used.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use torch_library::{Dispatcher, OperatorHandle};

use crate::error::exception;
use crate::operator::Operator;
use crate::order::place;
use crate::overload::Overload;

/// Handles by namespace and name.
type Index = BTreeMap<&'static str, BTreeMap<&'static str, Vec<OperatorHandle>>>;
/// Operator objects by `namespace::name`.
type Made = HashMap<String, Py<Operator>>;

/// Filled when an operator is first looked up, and again when one is not found in it.
static INDEX: Mutex<Option<Index>> = Mutex::new(None);
/// The operator objects that exist.
static MADE: Mutex<Option<Made>> = Mutex::new(None);

fn index() -> Index {
    let dispatcher = Dispatcher::global();
    dispatcher.rescan();
    let mut index = Index::new();
    for info in dispatcher.operators() {
        let operator = info.operator;
        index.entry(operator.namespace()).or_default().entry(operator.name()).or_default().push(operator);
    }
    index
}

/// Discards the index, so that the next look-up finds new operators.
pub(crate) fn forget() {
    *INDEX.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Looks something up in the index of all operators.
pub(crate) fn with_index<R>(look: impl Fn(&Index) -> R, is_found: impl Fn(&R) -> bool) -> R {
    let mut known = INDEX.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(result) = known.as_ref().map(&look).filter(|result| is_found(result)) {
        return result;
    }
    look(known.insert(index()))
}

/// The sorted names of a namespace's operators, those whose handles `is_wanted` accepts.
pub(crate) fn names(namespace: &str, is_wanted: impl Fn(&[OperatorHandle]) -> bool) -> Vec<&'static str> {
    let names = |index: &Index| {
        let all = index.get(namespace).into_iter().flatten();
        all.filter(|(_, handles)| is_wanted(handles)).map(|(name, _)| *name).collect()
    };
    with_index(names, |_| true)
}

/// The overloads of a name, in the order in which calls try them.
fn overloads(py: Python<'_>, namespace: &str, name: &str) -> PyResult<Vec<&'static Overload>> {
    let look = |index: &Index| index.get(namespace)?.get(name).cloned();
    let mut handles = with_index(look, Option::is_some).unwrap_or_default();
    handles.sort_by_key(|handle| {
        let declared = (handle.place().file(), handle.place().line);
        (place(namespace, name, handle.overload()), declared)
    });
    let overload = |handle| Overload::new(py, handle).map(|overload| &*Box::leak(Box::new(overload)));
    handles.into_iter().map(overload).collect::<torch_library::Result<_>>().map_err(exception)
}

fn made<'py>(py: Python<'py>, name: &str) -> Option<Bound<'py, Operator>> {
    let made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.as_ref()?.get(name).map(|operator| operator.bind(py).clone())
}

/// The operator with a name, `aten::add`; always the same object.
pub(crate) fn operator<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, Operator>> {
    if let Some(operator) = made(py, name) {
        return Ok(operator);
    }
    let operator = Operator::object(py, name)?;
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(made
        .get_or_insert_default()
        .entry(name.to_owned())
        .or_insert_with(|| operator.unbind())
        .bind(py)
        .clone())
}

#[pymethods]
impl Operator {
    /// The operator with a name, `aten::add`, or one overload of it, `aten::add.Tensor`.
    #[new]
    #[pyo3(signature = (name), text_signature = None)]
    fn of_name(py: Python<'_>, name: &str) -> PyResult<Operator> {
        // The dispatcher's message has the nearest names.
        let unknown = || match Dispatcher::global().find(name) {
            Ok(_) => PyAttributeError::new_err(format!("there is no operator {name:?}")),
            Err(error) => PyAttributeError::new_err(error.to_string()),
        };
        if let Some((all, overload)) = name.split_once('.') {
            return operator(py, all)?.get().one(overload).ok_or_else(unknown);
        }
        if let Some(operator) = made(py, name) {
            return Ok(Operator::new(name.to_owned(), operator.get().overloads().to_vec()));
        }
        let (namespace, short) = name.split_once("::").ok_or_else(unknown)?;
        match overloads(py, namespace, short)? {
            overloads if overloads.is_empty() => Err(unknown()),
            overloads => Ok(Operator::new(name.to_owned(), overloads)),
        }
    }
}

/// All namespaces: `torch_library.ops`.
#[pyclass(frozen, name = "Operators", module = "torch_library", dict)]
#[derive(Debug)]
pub(crate) struct Operators;

#[pymethods]
impl Operators {
    #[new]
    fn new() -> Self {
        Operators
    }

    fn __getattr__<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, Namespace>> {
        if !with_index(|index| index.contains_key(name), |is_known| *is_known) {
            let known = slf.get().__dir__().join(", ");
            return Err(PyAttributeError::new_err(format!(
                "no operator has the namespace {name:?}, there are {known}"
            )));
        }
        let namespace = Bound::new(slf.py(), Namespace { name: name.to_owned() })?;
        slf.setattr(name, &namespace)?;
        Ok(namespace)
    }

    fn __dir__(&self) -> Vec<&'static str> {
        namespaces()
    }

    fn __repr__(&self) -> &'static str {
        "torch_library.ops"
    }
}

/// All namespaces, sorted.
pub(crate) fn namespaces() -> Vec<&'static str> {
    with_index(|index| index.keys().copied().collect(), |_| true)
}

/// The operators of one namespace: `torch_library.ops.aten`.
#[pyclass(frozen, name = "Namespace", module = "torch_library", dict)]
#[derive(Debug)]
pub(crate) struct Namespace {
    name: String,
}

#[pymethods]
impl Namespace {
    fn __getattr__<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, Operator>> {
        let operator = operator(slf.py(), &format!("{}::{name}", slf.get().name))?;
        slf.setattr(name, &operator)?;
        Ok(operator)
    }

    fn __dir__(&self) -> Vec<&'static str> {
        names(&self.name, |_| true)
    }

    fn __repr__(&self) -> String {
        format!("torch_library.ops.{}", self.name)
    }
}
