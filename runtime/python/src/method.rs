//! Operators as methods of tensors: `x.sum(dim=0)`, also `x.view(2, 3)` for a list of sizes.

use std::ffi::CStr;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyInt, PyList, PyTuple, PyType};
use torch_library::OperatorHandle;
use torch_library::schema::Type;

use crate::arguments::{Arguments, with_packed};
use crate::namespace::{self, operator};
use crate::operator::Operator;
use crate::overload::Overload;
use crate::result::Returned;
use crate::tensor::PyTensor;
use crate::vectorcall::{Callable, Class};

// An operator of `aten` whose first argument is the tensor `self`. The class has no docstring, which would hide that of
// the operator.
#[pyclass(frozen, subclass, name = "Method", module = "torch_library")]
pub(crate) struct Method {
    name: String,
    /// The operator, looked up at the first call.
    found: PyOnceLock<Found>,
}

struct Found {
    operator: Py<Operator>,
    /// Whether some overload takes a list of integers after `self`.
    takes_list: bool,
}

impl Method {
    fn found(&self, py: Python<'_>) -> PyResult<&Found> {
        self.found.get_or_try_init(py, || {
            let operator = operator(py, &format!("aten::{}", self.name))?;
            let takes_list = operator.get().overloads().iter().any(|overload| takes_list(overload));
            Ok(Found { operator: operator.unbind(), takes_list })
        })
    }
}

impl Callable for Method {
    const FULL_NAME: &'static CStr = c"torch_library.Method";
    const IS_METHOD: bool = true;

    fn called<'py>(&self, py: Python<'py>, arguments: Arguments<'_, 'py>) -> Returned {
        let Found { operator, takes_list } = self.found(py)?;
        let operator = operator.get();
        // `x.permute(1, 0)`: sizes that are passed one by one stand for a list.
        if let [this, sizes @ ..] = arguments.positional
            && *takes_list
            && !sizes.is_empty()
            && sizes.iter().all(|object| object.is_exact_instance_of::<PyInt>())
            && !operator.overloads().iter().any(|overload| takes_numbers(overload, sizes.len()))
        {
            let list = PyList::new(py, sizes.iter().copied())?;
            let positional = [*this, list.as_any().as_borrowed()];
            return operator.invoke(py, Arguments { positional: &positional, named: arguments.named });
        }
        operator.invoke(py, arguments)
    }
}

/// Whether an overload takes a list of integers of any length after `self`.
fn takes_list(overload: &Overload) -> bool {
    let is_list = |ty: &Type| match ty.without_optional() {
        Type::List(element) => matches!(**element, Type::Int | Type::SymInt),
        _ => false,
    };
    let second = overload.schema.arguments.get(1);
    second.is_some_and(|second| is_list(&second.ty) && second.size.is_none())
}

/// Whether an overload takes `count` single numbers after `self`.
fn takes_numbers(overload: &Overload, count: usize) -> bool {
    let is_number = |ty: &Type| matches!(ty.without_optional(), Type::Int | Type::SymInt | Type::Scalar);
    let numbers = overload.schema.arguments.get(1..=count);
    numbers.is_some_and(|numbers| numbers.iter().all(|argument| is_number(&argument.ty)))
}

#[pymethods]
impl Method {
    /// The method of an operator of `aten`.
    #[new]
    #[pyo3(signature = (name), text_signature = None)]
    fn new(name: &str) -> Method {
        Method { name: name.to_owned(), found: PyOnceLock::new() }
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        with_packed(args, kwargs, |arguments| self.called(py, arguments).map_err(|error| *error))
    }

    fn __get__<'py>(
        slf: Bound<'py, Self>,
        instance: &Bound<'py, PyAny>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if instance.is_none() {
            return Ok(slf.into_any());
        }
        static METHOD: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        METHOD.import(slf.py(), "types", "MethodType")?.call1((slf, instance))
    }

    #[getter]
    fn __doc__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.found(py)?.operator.bind(py).getattr("__doc__")
    }

    #[getter]
    fn __name__(&self) -> &str {
        &self.name
    }
}

/// The names of operators that are methods of tensors.
pub(crate) fn names() -> Vec<&'static str> {
    namespace::names("aten", |handles| handles.iter().any(is_method))
}

/// Whether the first argument is a tensor `self`. Looking at the text is faster than parsing it, and there are many
/// operators.
fn is_method(handle: &OperatorHandle) -> bool {
    let Some((_, arguments)) = handle.schema_text().split_once('(') else { return false };
    let first = arguments.split(", ").next().and_then(|first| first.split(") ->").next());
    first
        .is_some_and(|first| first.starts_with("Tensor") && !first.contains("[]") && first.ends_with(" self"))
}

/// Adds the methods to the class of tensors, except those that it has already.
pub(crate) fn add_methods(py: Python<'_>) -> PyResult<()> {
    static CLASS: Class<Method> = Class::new();
    let class: Bound<'_, PyType> = py.get_type::<PyTensor>();
    for name in names() {
        if !class.hasattr(name)? {
            class.setattr(name, CLASS.object(py, (name,))?)?;
        }
    }
    Ok(())
}
