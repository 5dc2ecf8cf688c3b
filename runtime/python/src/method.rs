//! Operators as methods of tensors: `x.sum(dim=0)`, also `x.view(2, 3)` for a list of sizes.

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyInt, PyList, PyTuple, PyType};
use torch_library::schema::Type;

use crate::namespace::{names, operator};
use crate::operator::{Operator, arguments};
use crate::tensor::PyTensor;

// An operator of `aten` whose first argument is `self`. The class `Tensor` gets one when it is first asked for. It
// has no text
// of its own, which would stand before that of the operator.
#[pyclass(frozen, name = "Method", module = "torch_library")]
#[derive(Debug)]
pub(crate) struct Method(Py<Operator>);

#[pymethods]
impl Method {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let (mut positional, named) = arguments(args, kwargs)?;
        let operator = self.0.get();
        // `x.permute(1, 0)`: sizes one by one stand for their list.
        let is_spread = positional.len() > 1
            && positional[1..].iter().all(|object| object.is_exact_instance_of::<PyInt>());
        if is_spread && takes_list(operator, positional.len()) {
            let list = PyList::new(py, &positional[1..])?;
            positional.truncate(1);
            positional.push(list.into_any());
        }
        operator.invoke(py, &positional, &named)
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
        self.0.bind(py).getattr("__doc__")
    }

    #[getter]
    fn __name__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.bind(py).getattr("__name__")
    }
}

/// Whether some overload takes a list of whole numbers behind `self`, and none so many single ones.
fn takes_list(operator: &Operator, count: usize) -> bool {
    let arguments = || operator.overloads().iter().map(|overload| &overload.schema.arguments);
    let is_list = |ty: &Type| match ty.without_optional() {
        Type::List(element) => matches!(**element, Type::Int | Type::SymInt),
        _ => false,
    };
    let takes_ints = |ty: &Type| matches!(ty.without_optional(), Type::Int | Type::SymInt | Type::Scalar);
    let has_list = arguments()
        .any(|list| list.get(1).is_some_and(|second| is_list(&second.ty) && second.size.is_none()));
    let has_ints =
        arguments().any(|list| list.len() >= count && list[1..count].iter().all(|one| takes_ints(&one.ty)));
    has_list && !has_ints
}

#[pymethods]
impl PyTensor {
    /// The method of an operator, which the class has from then on.
    fn __getattr__<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let found = operator(py, "aten", name)?.filter(|operator| operator.get().is_method());
        let Some(operator) = found else {
            return Err(PyAttributeError::new_err(format!(
                "'Tensor' has no attribute {name:?}, and aten no operator of that name with an argument `self`"
            )));
        };
        let class: Bound<'py, PyType> = py.get_type::<PyTensor>();
        class.setattr(name, Bound::new(py, Method(operator.unbind()))?)?;
        slf.getattr(name)
    }

    fn __dir__<'py>(slf: &Bound<'py, Self>) -> PyResult<Vec<String>> {
        let own = slf.get_type().dir()?;
        let mut all = own.iter().map(|name| name.extract()).collect::<PyResult<Vec<String>>>()?;
        all.extend(names("aten").into_iter().map(str::to_owned));
        Ok(all)
    }
}
