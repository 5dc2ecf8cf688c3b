//! One overload of an operator: its arguments as a call fills them, and the call.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use smallvec::SmallVec;
use torch_library::schema::{self, Schema};
use torch_library::{OperatorHandle, Stack, Value};

use crate::argument::{Wanted, value};
use crate::error::exception;
use crate::order::takes_numbers;
use crate::result;
use crate::tensor::FEW;

/// The arguments of a call by position.
pub(crate) type Positional<'py> = SmallVec<[Bound<'py, PyAny>; 6]>;
/// Those by name.
pub(crate) type Named<'py> = SmallVec<[(Bound<'py, PyString>, Bound<'py, PyAny>); 4]>;

/// Numbers beyond this may be a size or a count, and the call long.
const SMALL: i64 = 4096;

/// An operator with what a call of it needs to know.
pub(crate) struct Overload {
    pub(crate) handle: OperatorHandle,
    pub(crate) schema: &'static Schema,
    parameters: Vec<Parameter>,
    positional: usize,
    /// For each return the argument that it is, if it is one.
    returned: Vec<Option<usize>>,
    takes_numbers: bool,
}

struct Parameter {
    argument: &'static schema::Argument,
    default: Option<Value<'static>>,
}

/// Why the arguments of a call do not fit.
pub(crate) enum Mismatch {
    TooMany { expected: usize, received: usize },
    WrongType { parameter: usize, found: String },
    Missing { parameter: usize },
    Unknown(String),
    Twice(String),
}

impl Overload {
    pub(crate) fn new(handle: OperatorHandle) -> torch_library::Result<Overload> {
        let schema = handle.schema()?;
        let of_default = |argument| {
            let value = |default| <Value<'static> as schema::Value>::of_default(default, argument);
            argument.default.as_ref().map(value)
        };
        Ok(Overload {
            handle,
            schema,
            parameters: schema
                .arguments
                .iter()
                .map(|argument| Parameter { argument, default: of_default(argument) })
                .collect(),
            positional: schema.arguments.iter().filter(|argument| !argument.kwarg_only).count(),
            returned: (0..schema.returns.len()).map(|index| schema.returned_argument(index)).collect(),
            takes_numbers: takes_numbers(handle.namespace(), handle.name()),
        })
    }

    /// The values of a call, in the order of the schema.
    fn bind<'a>(
        &'a self,
        positional: &'a [Bound<'_, PyAny>],
        named: &'a [(Bound<'_, PyString>, Bound<'_, PyAny>)],
    ) -> Result<Stack<'a>, Mismatch> {
        if positional.len() > self.positional {
            return Err(Mismatch::TooMany { expected: self.positional, received: positional.len() });
        }
        let mut stack = Stack::new();
        let mut used = 0;
        for (index, parameter) in self.parameters.iter().enumerate() {
            let object = match positional.get(index) {
                Some(object) => Some(object),
                None if used < named.len() => {
                    let name = parameter.argument.name.as_str();
                    let found =
                        named.iter().find(|(given, _)| given.to_str().is_ok_and(|given| given == name));
                    used += usize::from(found.is_some());
                    found.map(|(_, object)| object)
                }
                None => None,
            };
            stack.push(self.one(index, parameter, object)?);
        }
        if used < named.len() { Err(self.left_over(named)) } else { Ok(stack) }
    }

    #[inline]
    fn one<'a>(
        &'a self,
        index: usize,
        parameter: &'a Parameter,
        object: Option<&'a Bound<'_, PyAny>>,
    ) -> Result<Value<'a>, Mismatch> {
        let Some(object) = object else {
            let default = parameter.default.as_ref().ok_or(Mismatch::Missing { parameter: index })?;
            return Ok(default.borrowed());
        };
        let schema::Argument { ty, size, .. } = parameter.argument;
        // A number has no memory to write to.
        let numbers_are_tensors = self.takes_numbers && !parameter.argument.is_mutable();
        value(object, Wanted { ty, size: *size, numbers_are_tensors })
            .ok_or_else(|| Mismatch::WrongType { parameter: index, found: type_of(object) })
    }

    /// An argument by name that no parameter took: one that has its value by position, or one that there is not.
    #[cold]
    fn left_over(&self, named: &[(Bound<'_, PyString>, Bound<'_, PyAny>)]) -> Mismatch {
        let names = named.iter().map(|(name, _)| name.to_string_lossy().into_owned());
        let (known, unknown): (Vec<_>, Vec<_>) =
            names.partition(|name| self.schema.argument_index(name).is_some());
        match unknown.into_iter().next() {
            Some(name) => Mismatch::Unknown(name),
            None => Mismatch::Twice(known.into_iter().next().unwrap_or_default()),
        }
    }

    /// Calls the operator, if the arguments fit.
    pub(crate) fn call(
        &self,
        py: Python<'_>,
        positional: &[Bound<'_, PyAny>],
        named: &[(Bound<'_, PyString>, Bound<'_, PyAny>)],
    ) -> Result<PyResult<Py<PyAny>>, Mismatch> {
        let mut stack = self.bind(positional, named)?;
        let handle = self.handle;
        let called = match is_short(&stack, self.parameters.len()) {
            true => handle.call_boxed(&mut stack),
            false => py.detach(|| handle.call_boxed(&mut stack)),
        };
        if let Err(error) = called {
            return Ok(Err(exception(error)));
        }
        let given = |index: usize| {
            let argument = (*self.returned.get(index)?)?;
            let name = &self.parameters.get(argument)?.argument.name;
            let by_name = || named.iter().find(|(given, _)| given.to_str().is_ok_and(|given| given == name));
            let object = positional.get(argument).or_else(|| by_name().map(|(_, object)| object))?;
            object.is_exact_instance_of::<crate::tensor::PyTensor>().then(|| object.clone().unbind())
        };
        Ok(result::returns(py, stack, self.returned.len(), given))
    }

    /// A line that says what this overload takes, and why a call is no call of it.
    pub(crate) fn explain(&self, mismatch: &Mismatch) -> String {
        let name = |parameter: usize| &self.parameters[parameter].argument.name;
        let why = match mismatch {
            Mismatch::TooMany { expected, received } => {
                format!("takes at most {expected} arguments by position, {received} were given")
            }
            Mismatch::WrongType { parameter, found } => {
                let ty = &self.parameters[*parameter].argument.ty;
                format!("argument {} `{}` is of type {ty}, not {found}", parameter + 1, name(*parameter))
            }
            Mismatch::Missing { parameter } => format!("argument `{}` is missing", name(*parameter)),
            Mismatch::Unknown(argument) => format!("there is no argument `{argument}`"),
            Mismatch::Twice(argument) => format!("argument `{argument}` is given twice"),
        };
        format!("{}\n    {why}", self.schema)
    }
}

/// The exception of a call that no overload takes.
#[cold]
pub(crate) fn no_overload(
    name: &str,
    positional: &[Bound<'_, PyAny>],
    named: &[(Bound<'_, PyString>, Bound<'_, PyAny>)],
    reasons: &[String],
) -> PyErr {
    let mut given: Vec<String> = positional.iter().map(type_of).collect();
    given
        .extend(named.iter().map(|(name, object)| format!("{}={}", name.to_string_lossy(), type_of(object))));
    let overloads = if reasons.len() == 1 { "does not take" } else { "has no overload that takes" };
    PyTypeError::new_err(format!("{name} {overloads} ({}):\n  {}", given.join(", "), reasons.join("\n  ")))
}

/// The name of an object's class, for messages.
fn type_of(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().name();
    name.map_or_else(|_| "an object".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Whether a call is over in less time than it takes to let other threads of Python run meanwhile: few elements, and no
/// number that may ask for many.
fn is_short(stack: &Stack<'_>, count: usize) -> bool {
    let mut numel = 0i64;
    stack.last(count).iter().all(|value| {
        match value {
            Value::TensorRef(tensor) => numel = numel.saturating_add(tensor.numel()),
            Value::Int(number) => return number.unsigned_abs() <= SMALL as u64,
            Value::Float(number) => return number.abs() <= SMALL as f64,
            Value::None | Value::Bool(_) | Value::DType(_) | Value::Device(_) | Value::Str(_) => {}
            Value::Layout(_) | Value::MemoryFormat(_) => {}
            Value::Ints(list) => {
                let product = list.iter().fold(1i64, |product, size| product.saturating_mul((*size).max(1)));
                return product <= SMALL;
            }
            Value::Tensor(tensor) => numel = numel.saturating_add(tensor.numel()),
            _ => return false,
        }
        numel <= FEW
    })
}
