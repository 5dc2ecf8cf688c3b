//! One overload of an operator: binding arguments to its parameters, and the call.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};
use torch_library::schema::{self, Schema};
use torch_library::{OperatorHandle, Stack, Tensor, Value};

use crate::argument::{Wanted, value};
use crate::arguments::{Arguments, is_text};
use crate::element::too_many_bits;
use crate::error::exception;
use crate::order::takes_numbers;
use crate::result::{self, Returned};
use crate::tensor::{FEW, PyTensor};

/// A number above this may be a size or a count that makes the call long.
const SMALL: i64 = 4096;

/// An operator with the data that a call needs.
pub(crate) struct Overload {
    pub(crate) handle: OperatorHandle,
    pub(crate) schema: &'static Schema,
    parameters: Vec<Parameter>,
    positional: usize,
    /// For each return, the index of the argument that it is, if any.
    returned: Vec<Option<usize>>,
}

struct Parameter {
    argument: &'static schema::Argument,
    /// The interned name.
    name: Py<PyString>,
    default: Option<Value<'static>>,
    is_tensor: bool,
    /// Whether a number is accepted as a tensor.
    numbers_are_tensors: bool,
}

/// Why the arguments of a call do not fit, with the index of the parameter or of the named argument.
#[derive(Clone, Copy)]
pub(crate) enum Mismatch {
    TooMany,
    WrongType(usize),
    Missing(usize),
    Unknown(usize),
    Twice(usize),
}

impl Overload {
    pub(crate) fn new(py: Python<'_>, handle: OperatorHandle) -> torch_library::Result<Overload> {
        let schema = handle.schema()?;
        let takes_numbers = takes_numbers(handle.namespace(), handle.name());
        let parameter = |argument: &'static schema::Argument| {
            let value = |default| <Value<'static> as schema::Value>::of_default(default, argument);
            Parameter {
                argument,
                name: PyString::intern(py, &argument.name).unbind(),
                default: argument.default.as_ref().map(value),
                is_tensor: *argument.ty.without_optional() == schema::Type::Tensor,
                // A number has no memory to write to.
                numbers_are_tensors: takes_numbers && !argument.is_mutable(),
            }
        };
        Ok(Overload {
            handle,
            schema,
            parameters: schema.arguments.iter().map(parameter).collect(),
            positional: schema.arguments.iter().filter(|argument| !argument.kwarg_only).count(),
            returned: (0..schema.returns.len()).map(|index| schema.returned_argument(index)).collect(),
        })
    }

    /// Pushes the values of a call onto a stack, in the order of the schema.
    #[inline]
    fn bind<'a, 'py>(
        &'a self,
        py: Python<'py>,
        arguments: Arguments<'a, 'py>,
        stack: &mut Stack<'a>,
    ) -> Result<(), Mismatch> {
        let Arguments { positional, named } = arguments;
        if positional.len() > self.positional {
            return Err(Mismatch::TooMany);
        }
        let mut used = 0;
        for (index, parameter) in self.parameters.iter().enumerate() {
            let object = match positional.get(index) {
                Some(object) => Some(&**object),
                None if used < named.len() => {
                    let found = arguments.by_name(parameter.name.bind(py));
                    used += usize::from(found.is_some());
                    found
                }
                None => None,
            };
            let Some(object) = object else {
                stack.push(parameter.default.as_ref().ok_or(Mismatch::Missing(index))?.borrowed());
                continue;
            };
            match parameter.tensor(object) {
                Some(tensor) => stack.push(Value::TensorRef(tensor)),
                None => stack.push(parameter.value(object).ok_or(Mismatch::WrongType(index))?),
            }
        }
        if used < named.len() { Err(self.left_over(py, arguments)) } else { Ok(()) }
    }

    /// A named argument that no parameter took: either there is no such parameter, or it has a value already.
    #[cold]
    fn left_over<'py>(&self, py: Python<'py>, arguments: Arguments<'_, 'py>) -> Mismatch {
        let of_name = |name: &Bound<'_, PyString>| {
            let is_it = |parameter: &Parameter| is_text(name, parameter.name.bind(py));
            self.parameters.iter().position(is_it)
        };
        let places: Vec<_> = arguments.named.iter().map(|(name, _)| of_name(name)).collect();
        if let Some(unknown) = places.iter().position(Option::is_none) {
            return Mismatch::Unknown(unknown);
        }
        let has_value = |at: usize| {
            let place = places[at].unwrap_or_default();
            place < arguments.positional.len() || places[..at].contains(&Some(place))
        };
        Mismatch::Twice((0..places.len()).find(|at| has_value(*at)).unwrap_or_default())
    }

    /// Calls the operator, if the arguments fit.
    #[inline]
    pub(crate) fn call<'py>(
        &self,
        py: Python<'py>,
        arguments: Arguments<'_, 'py>,
    ) -> Result<Returned, Mismatch> {
        let mut stack = Stack::new();
        self.bind(py, arguments, &mut stack)?;
        let handle = self.handle;
        let called = match is_short(&stack, self.parameters.len()) {
            true => handle.call_boxed(&mut stack),
            false => py.detach(|| handle.call_boxed(&mut stack)),
        };
        if let Err(error) = called {
            return Ok(Err(Box::new(exception(error))));
        }
        let given = |index: usize| {
            let argument = (*self.returned.get(index)?)?;
            let object = arguments.at(argument, self.parameters.get(argument)?.name.bind(py))?;
            object.is_exact_instance_of::<PyTensor>().then(|| object.clone().unbind())
        };
        Ok(result::returns(py, &mut stack, self.returned.len(), given))
    }

    /// A line with the parameters of this overload, and the reason why a call does not fit.
    pub(crate) fn explain<'py>(
        &self,
        py: Python<'py>,
        mismatch: Mismatch,
        arguments: Arguments<'_, 'py>,
    ) -> String {
        let name = |parameter: usize| &self.parameters[parameter].argument.name;
        let by_name = |at: usize| arguments.named[at].0.to_string_lossy();
        let why = match mismatch {
            Mismatch::TooMany => {
                let (most, given) = (self.positional, arguments.positional.len());
                format!("takes at most {most} arguments by position, {given} were given")
            }
            Mismatch::WrongType(parameter) => {
                let Parameter { argument, name, .. } = &self.parameters[parameter];
                let found = arguments.at(parameter, name.bind(py)).map_or_else(String::new, type_of);
                format!(
                    "argument {} `{}` is of type {}, not {found}",
                    parameter + 1,
                    argument.name,
                    argument.ty
                )
            }
            Mismatch::Missing(parameter) => format!("argument `{}` is missing", name(parameter)),
            Mismatch::Unknown(at) => format!("there is no argument `{}`", by_name(at)),
            Mismatch::Twice(at) => format!("argument `{}` is given twice", by_name(at)),
        };
        format!("{}\n    {why}", self.schema)
    }
}

impl Parameter {
    /// The tensor of an object, if the parameter takes one.
    #[inline]
    fn tensor<'a>(&self, object: &'a Bound<'_, PyAny>) -> Option<&'a Tensor> {
        let tensor = if self.is_tensor { object.cast_exact::<PyTensor>().ok()? } else { return None };
        Some(&tensor.get().0)
    }

    /// The value of an object that is not a tensor.
    fn value<'a>(&self, object: &'a Bound<'_, PyAny>) -> Option<Value<'a>> {
        let schema::Argument { ty, size, .. } = self.argument;
        value(object, Wanted { ty, size: *size, numbers_are_tensors: self.numbers_are_tensors })
    }
}

/// The exception for a call that no overload takes.
#[cold]
pub(crate) fn no_overload(name: &str, arguments: Arguments<'_, '_>, reasons: &[String]) -> PyErr {
    let mut given: Vec<String> = arguments.positional.iter().map(|object| type_of(object)).collect();
    let named = arguments.named.iter();
    given.extend(named.map(|(name, object)| format!("{}={}", name.to_string_lossy(), type_of(object))));
    let overloads = if reasons.len() == 1 { "does not take" } else { "has no overload that takes" };
    PyTypeError::new_err(format!("{name} {overloads} ({}):\n  {}", given.join(", "), reasons.join("\n  ")))
}

/// The name of an object's class, for messages.
fn type_of(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().name();
    let name = name.map_or_else(|_| "an object".to_owned(), |name| name.to_string_lossy().into_owned());
    let bits = if object.is_instance_of::<PyInt>() { too_many_bits(object) } else { None };
    match bits {
        Some(bits) => format!("{name} of {bits} bits"),
        None => name,
    }
}

/// Whether a call takes less time than releasing the GIL would: it has few elements, and no number that may ask for
/// many.
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
