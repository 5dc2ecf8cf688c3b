//! A list of all operators, for the stubs.

use pyo3::prelude::*;
use torch_library::schema::{Argument, Type};

use crate::method;
use crate::namespace::{names, namespaces, operator};

/// An argument: its name, its type in the schema language, whether it has a default, whether it is keyword-only.
type Parameter = (String, String, bool, bool);

fn parameter(argument: &Argument) -> Parameter {
    let fits_one = argument.size.is_some() && matches!(argument.ty.without_optional(), Type::List(_));
    let ty = if fits_one { format!("{}#", argument.ty) } else { argument.ty.to_string() };
    (argument.name.clone(), ty, argument.default.is_some(), argument.kwarg_only)
}

/// For each overload of each operator: namespace, name, overload, arguments, types of the returns. Overloads of one
/// name are in the order in which calls try them. The type of a list that accepts a single number is followed by `#`.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "a table, for one reader")]
pub(crate) fn catalogue(
    py: Python<'_>,
) -> PyResult<Vec<(String, String, String, Vec<Parameter>, Vec<String>)>> {
    let mut rows = Vec::new();
    for namespace in namespaces() {
        for name in names(namespace, |_| true) {
            for overload in operator(py, &format!("{namespace}::{name}"))?.get().overloads() {
                let (handle, schema) = (overload.handle, overload.schema);
                rows.push((
                    namespace.to_owned(),
                    name.to_owned(),
                    handle.overload().to_owned(),
                    schema.arguments.iter().map(parameter).collect(),
                    schema.returns.iter().map(|ret| ret.ty.to_string()).collect(),
                ));
            }
        }
    }
    Ok(rows)
}

/// The names of operators that are methods of tensors.
#[pyfunction]
pub(crate) fn methods() -> Vec<&'static str> {
    method::names()
}
