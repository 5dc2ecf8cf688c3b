//! `torch_library.ops`, its namespaces, and the operators in them: looked up when they are first asked for.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use torch_library::{Dispatcher, OperatorHandle};

use crate::operator::Operator;
use crate::order::place;
use crate::overload::Overload;

/// Handles by `namespace::name`, and the names in order of declaration.
type Index = HashMap<(&'static str, &'static str), Vec<OperatorHandle>>;

/// Filled when an operator is first asked for, and again when one is asked for that is not in it.
static INDEX: Mutex<Option<Index>> = Mutex::new(None);
/// By namespace and name.
type Made = HashMap<(String, String), Py<Operator>>;

/// The operators that were made.
static MADE: Mutex<Option<Made>> = Mutex::new(None);

fn index() -> Index {
    let dispatcher = Dispatcher::global();
    dispatcher.rescan();
    let mut index = Index::new();
    for info in dispatcher.operators() {
        let operator = info.operator;
        index.entry((operator.namespace(), operator.name())).or_default().push(operator);
    }
    index
}

/// Looks something up among all operators that there are.
pub(crate) fn with_index<R>(look: impl Fn(&Index) -> R, is_found: impl Fn(&R) -> bool) -> R {
    let mut known = INDEX.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(result) = known.as_ref().map(&look).filter(|result| is_found(result)) {
        return result;
    }
    look(known.insert(index()))
}

fn handles(namespace: &str, name: &str) -> Vec<OperatorHandle> {
    // Keys with shorter lives than those of the map are not taken by `get`.
    let look = |index: &Index| {
        let found = index.iter().find(|((space, known), _)| (*space, *known) == (namespace, name));
        found.map(|(_, handles)| handles.clone()).unwrap_or_default()
    };
    let mut handles = with_index(look, |handles| !handles.is_empty());
    handles.sort_by_key(|handle| {
        let declared = (handle.place().file(), handle.place().line);
        (place(namespace, name, handle.overload()), declared)
    });
    handles
}

/// The operator of a name, the same object each time.
pub(crate) fn operator<'py>(
    py: Python<'py>,
    namespace: &str,
    name: &str,
) -> PyResult<Option<Bound<'py, Operator>>> {
    let key = (namespace.to_owned(), name.to_owned());
    let made = |key: &(String, String)| {
        let made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        made.as_ref().and_then(|made| made.get(key)).map(|made| made.clone_ref(py))
    };
    if let Some(operator) = made(&key) {
        return Ok(Some(operator.into_bound(py)));
    }
    let overloads = handles(namespace, name).into_iter().filter_map(|handle| Overload::new(handle).ok());
    let overloads: Vec<&'static Overload> =
        overloads.map(|overload| &*Box::leak(Box::new(overload))).collect();
    if overloads.is_empty() {
        return Ok(None);
    }
    let operator = Bound::new(py, Operator::new(format!("{namespace}::{name}"), overloads))?;
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.get_or_insert_default().insert(key, operator.clone().unbind());
    Ok(Some(operator))
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
        let is_known = |index: &Index| index.keys().any(|(namespace, _)| *namespace == name);
        if !with_index(is_known, |is_known| *is_known) {
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
        let names = |index: &Index| index.keys().map(|(namespace, _)| *namespace).collect::<BTreeSet<_>>();
        with_index(names, |_| true).into_iter().collect()
    }

    fn __repr__(&self) -> &'static str {
        "torch_library.ops"
    }
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
        match operator(slf.py(), &slf.get().name, name)? {
            Some(operator) => {
                slf.setattr(name, &operator)?;
                Ok(operator)
            }
            None => {
                // Its message has the nearest names.
                let error = Dispatcher::global().find(&format!("{}::{name}", slf.get().name)).err();
                let text = error.map_or_else(|| format!("no operator {name:?}"), |error| error.to_string());
                Err(PyAttributeError::new_err(text))
            }
        }
    }

    fn __dir__(&self) -> Vec<&'static str> {
        names(&self.name)
    }

    fn __repr__(&self) -> String {
        format!("torch_library.ops.{}", self.name)
    }
}

/// The names of the operators of a namespace.
pub(crate) fn names(namespace: &str) -> Vec<&'static str> {
    let names = |index: &Index| {
        let of_namespace = index.keys().filter(|(space, _)| *space == namespace);
        of_namespace.map(|(_, name)| *name).collect::<BTreeSet<_>>()
    };
    with_index(names, |_| true).into_iter().collect()
}
