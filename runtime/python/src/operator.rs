//! Operators as callable objects: all overloads of a name, or one of them.

use std::ffi::CStr;

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;

use crate::arguments::{Arguments, with_packed};
use crate::overload::{Mismatch, Overload, no_overload};
use crate::result::Returned;
use crate::vectorcall::{Callable, Class};

// All overloads of a name, or one overload: PyTorch's `OpOverloadPacket` and `OpOverload`. The class has no docstring,
// which would hide that of each operator.
#[pyclass(frozen, subclass, name = "Operator", module = "torch_library", dict)]
pub(crate) struct Operator {
    /// `aten::add`, or `aten::add.Tensor` for one overload.
    name: String,
    overloads: Vec<&'static Overload>,
}

impl Operator {
    pub(crate) fn new(name: String, overloads: Vec<&'static Overload>) -> Operator {
        Operator { name, overloads }
    }

    /// An object with a fast call: `aten::add`, or `aten::add.Tensor`.
    pub(crate) fn object<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, Operator>> {
        static CLASS: Class<Operator> = Class::new();
        CLASS.object(py, (name,))
    }

    /// Calls the first overload that takes these arguments.
    #[inline]
    pub(crate) fn invoke<'py>(&self, py: Python<'py>, arguments: Arguments<'_, 'py>) -> Returned {
        let mut mismatches = SmallVec::<[Mismatch; 8]>::new();
        for overload in &self.overloads {
            match overload.call(py, arguments) {
                Ok(result) => return result,
                Err(mismatch) => mismatches.push(mismatch),
            }
        }
        Err(Box::new(self.refuse(py, arguments, &mismatches)))
    }

    #[cold]
    fn refuse<'py>(&self, py: Python<'py>, arguments: Arguments<'_, 'py>, mismatches: &[Mismatch]) -> PyErr {
        let both = self.overloads.iter().zip(mismatches);
        let reasons: Vec<_> = both.map(|(overload, why)| overload.explain(py, *why, arguments)).collect();
        no_overload(&self.name, arguments, &reasons)
    }

    pub(crate) fn overloads(&self) -> &[&'static Overload] {
        &self.overloads
    }

    /// One overload, by name, as an operator object.
    pub(crate) fn one(&self, name: &str) -> Option<Operator> {
        let overload = if name == "default" { "" } else { name };
        let found = self.overloads.iter().find(|known| known.handle.overload() == overload)?;
        (self.overloads.len() > 1 || !self.name.contains('.'))
            .then(|| Operator::new(found.handle.to_string(), vec![found]))
    }
}

impl Callable for Operator {
    const FULL_NAME: &'static CStr = c"torch_library.Operator";
    const IS_METHOD: bool = false;

    #[inline]
    fn called<'py>(&self, py: Python<'py>, arguments: Arguments<'_, 'py>) -> Returned {
        self.invoke(py, arguments)
    }
}

#[pymethods]
impl Operator {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        with_packed(args, kwargs, |arguments| self.invoke(py, arguments).map_err(|error| *error))
    }

    /// One overload, by its name; `default` is the one without a name.
    fn __getattr__<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, Operator>> {
        let operator = slf.get();
        if operator.one(name).is_none() {
            let known = operator.overload_names().join(", ");
            let text = format!("{} has no overload {name:?}, it has {known}", operator.name);
            return Err(PyAttributeError::new_err(text));
        }
        let one = Operator::object(slf.py(), &format!("{}.{name}", operator.name))?;
        slf.setattr(name, &one)?;
        Ok(one)
    }

    /// The names of the overloads, in the order in which a call tries them.
    #[pyo3(name = "overloads")]
    fn overload_names(&self) -> Vec<&'static str> {
        let name = |overload: &&'static Overload| match overload.handle.overload() {
            "" => "default",
            name => name,
        };
        self.overloads.iter().map(name).collect()
    }

    /// The schemas of all overloads.
    #[getter]
    fn schemas(&self) -> Vec<String> {
        self.overloads.iter().map(|overload| overload.schema.to_string()).collect()
    }

    #[getter]
    fn __name__(&self) -> &str {
        self.name.rsplit("::").next().unwrap_or(&self.name)
    }

    /// The documentation of the declaration, if the package has it, and the schemas.
    #[getter]
    fn __doc__(&self, py: Python<'_>) -> String {
        let said = py.import("torch_library._docs").and_then(|docs| docs.call_method1("of", (&self.name,)));
        let said = said.and_then(|said| said.extract::<String>()).unwrap_or_default();
        let schemas = self.schemas().join("\n");
        if said.is_empty() { schemas } else { format!("{schemas}\n\n{said}") }
    }

    fn __dir__(&self) -> Vec<&'static str> {
        let mut names = self.overload_names();
        names.extend(["overloads", "schemas"]);
        names
    }

    fn __repr__(&self) -> String {
        format!("<operator {:?}, overloads {}>", self.name, self.overload_names().join(", "))
    }
}
