//! An operator as an object that is called: all overloads of a name, or one of them.

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::overload::{Named, Overload, Positional, no_overload};

// All overloads of one name, or one overload: PyTorch's `OpOverloadPacket` and `OpOverload`. The class has no text of
// its
// own, which would stand before that of each operator.
#[pyclass(frozen, name = "Operator", module = "torch_library", dict)]
pub(crate) struct Operator {
    /// `aten::add`, or `aten::add.Tensor` of one overload.
    name: String,
    overloads: Vec<&'static Overload>,
}

impl Operator {
    pub(crate) fn new(name: String, overloads: Vec<&'static Overload>) -> Operator {
        Operator { name, overloads }
    }

    /// Calls the first overload that takes these arguments.
    pub(crate) fn invoke<'py>(
        &self,
        py: Python<'py>,
        positional: &[Bound<'py, PyAny>],
        named: &Named<'py>,
    ) -> PyResult<Py<PyAny>> {
        let mut mismatches = Vec::new();
        for overload in &self.overloads {
            match overload.call(py, positional, named) {
                Ok(result) => return result,
                Err(mismatch) => mismatches.push((overload, mismatch)),
            }
        }
        let reasons: Vec<_> = mismatches.iter().map(|(overload, why)| overload.explain(why)).collect();
        Err(no_overload(&self.name, positional, named, &reasons))
    }

    pub(crate) fn overloads(&self) -> &[&'static Overload] {
        &self.overloads
    }

    pub(crate) fn is_method(&self) -> bool {
        let first = |overload: &&Overload| {
            overload.schema.arguments.first().is_some_and(|first| first.name == "self")
        };
        self.overloads.iter().any(first)
    }

    fn one(&self, name: &str) -> Option<Operator> {
        let overload = if name == "default" { "" } else { name };
        let found = self.overloads.iter().find(|known| known.handle.overload() == overload)?;
        (self.overloads.len() > 1 || !self.name.contains('.'))
            .then(|| Operator::new(found.handle.to_string(), vec![found]))
    }
}

/// The arguments of a call as this module looks at them.
pub(crate) fn arguments<'py>(
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Positional<'py>, Named<'py>)> {
    let positional = args.iter().collect();
    let Some(kwargs) = kwargs else { return Ok((positional, Named::new())) };
    let named = kwargs.iter().map(|(name, object)| Ok((name.cast_into()?, object)));
    Ok((positional, named.collect::<PyResult<_>>()?))
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
        let (positional, named) = arguments(args, kwargs)?;
        self.invoke(py, &positional, &named)
    }

    /// One overload, by its name; `default` is the one without a name.
    fn __getattr__<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, Operator>> {
        match slf.get().one(name) {
            Some(operator) => {
                let operator = Bound::new(slf.py(), operator)?;
                slf.setattr(name, &operator)?;
                Ok(operator)
            }
            None => {
                let known = slf.get().overload_names();
                Err(PyAttributeError::new_err(format!(
                    "{} has no overload {name:?}, it has {}",
                    slf.get().name,
                    known.join(", ")
                )))
            }
        }
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

    /// The schemas, one for each overload.
    #[getter]
    fn schemas(&self) -> Vec<String> {
        self.overloads.iter().map(|overload| overload.schema.to_string()).collect()
    }

    #[getter]
    fn __name__(&self) -> &str {
        self.name.rsplit("::").next().unwrap_or(&self.name)
    }

    /// What the declaration says, where the package has it, and the schemas.
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
