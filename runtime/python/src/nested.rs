//! Nested arguments and results of a program, as PyTorch's pytrees: lists of values, and back.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyTuple};
use torch_library::Value;
use torch_library_export::{Input, Kind, Program, Tree};

use crate::argument::items;
use crate::element::number;
use crate::tensor::PyTensor;

/// The maximum nesting depth of arguments, and the maximum number of their members at all depths: a list may contain
/// itself, or others many times.
const DEPTH: usize = 100;
const MEMBERS: usize = 1 << 20;

/// The values of a call's arguments, in the order of a program's: keywords and members of a dictionary are found by
/// name, in whatever order the caller has them. Constants of the export may be among them, or be left out.
pub(crate) fn flatten(
    program: &Program,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<Value<'static>>> {
    let (inputs, arguments) = (program.inputs(), program.arguments());
    let all = Flat::of(program, arguments, args, kwargs);
    if inputs.len() == arguments.len() || all.as_ref().is_ok_and(|all| all.len() == arguments.len()) {
        return all;
    }
    match Flat::of(program, inputs, args, kwargs) {
        Ok(few) if few.len() == inputs.len() => Ok(few),
        few => all.and(few),
    }
}

/// Arguments that are flattened.
struct Flat<'p> {
    program: &'p Program,
    /// The places of values: all arguments of the program, or only its inputs.
    inputs: &'p [Input],
    values: Vec<Value<'static>>,
    members: usize,
}

impl<'p> Flat<'p> {
    /// The values of a call's arguments, in the order of these inputs.
    fn of(
        program: &'p Program,
        inputs: &'p [Input],
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<Value<'static>>> {
        let mut flat = Flat { program, inputs, values: Vec::new(), members: 0 };
        for argument in args {
            // The next input is in this argument, whatever it is called.
            let path = flat.next().map(|path| path[..end_of_name(path)].to_owned());
            flat.add(&argument, path.as_deref(), 0)?;
        }
        if let Some(kwargs) = kwargs {
            flat.add_named(kwargs, |key| vec![key.to_string()], 0)?;
        }
        flat.skip_constants(inputs.len());
        Ok(flat.values)
    }

    /// Adds the values of constants that come next, before this place: the caller left them out.
    fn skip_constants(&mut self, place: usize) {
        while self.values.len() < place
            && let Some(Input { path, kind: Kind::Constant(_), .. }) = self.inputs.get(self.values.len())
            && let Some(constant) = self.program.constant(path)
        {
            self.values.push(constant.borrowed().into_owned());
        }
    }

    /// The path of the input whose value comes next.
    fn next(&self) -> Option<&'p str> {
        self.inputs.get(self.values.len()).map(|input| input.path.as_str())
    }

    /// Adds an object which has the path in the program's arguments, if that is known.
    fn add(&mut self, object: &Bound<'_, PyAny>, path: Option<&str>, depth: usize) -> PyResult<()> {
        self.members += 1;
        if depth > DEPTH || self.members > MEMBERS {
            return Err(PyValueError::new_err(format!(
                "the arguments of a program are nested deeper than {DEPTH} levels, or have more than {MEMBERS} members"
            )));
        }
        if let Ok(tensor) = object.cast_exact::<PyTensor>() {
            self.values.push(Value::Tensor(tensor.get().0.clone()));
        } else if let Some(number) = number(object) {
            self.values.push(number.into());
        } else if object.is_none() {
            self.values.push(Value::None);
        } else if let Ok(text) = object.cast::<PyString>() {
            self.values.push(text.to_cow()?.into_owned().into());
        } else if let Ok(tuple) = object.cast::<PyTuple>() {
            tuple.iter().try_for_each(|member| self.add_member(&member, path, depth))?;
        } else if let Ok(list) = object.cast::<PyList>() {
            list.iter().try_for_each(|member| self.add_member(&member, path, depth))?;
        } else if let Ok(dict) = object.cast::<PyDict>() {
            let path = path.unwrap_or_default();
            // A node of another kind has attributes.
            self.add_named(
                dict,
                |key| vec![format!("{path}[{}]", printed(key)), format!("{path}.{key}")],
                depth,
            )?;
        } else if object.hasattr("__dataclass_fields__")? {
            let path = path.unwrap_or_default();
            self.add_named(&fields(object)?, |name| vec![format!("{path}.{name}")], depth)?;
        } else if let Some(members) = items(object) {
            // Another sequence, such as a deque.
            members.iter().try_for_each(|member| self.add_member(member, path, depth))?;
        } else {
            let text = format!(
                "a program takes tensors, numbers, texts, and sequences, dicts and dataclasses of them, not {}",
                object.get_type()
            );
            return Err(PyTypeError::new_err(text));
        }
        Ok(())
    }

    /// Adds a member of a sequence with this path: the next input is in it.
    fn add_member(&mut self, member: &Bound<'_, PyAny>, path: Option<&str>, depth: usize) -> PyResult<()> {
        let next = path.zip(self.next()).and_then(|(path, next)| {
            let rest = next.strip_prefix(path)?;
            let end =
                if rest.starts_with('[') { rest.find(']')? + 1 } else { 1 + end_of_name(rest.get(1..)?) };
            next.get(..path.len() + end)
        });
        self.add(member, next, depth + 1)
    }

    /// Adds the values of a dictionary in the order of the inputs, which have one of these paths by their key.
    fn add_named(
        &mut self,
        dict: &Bound<'_, PyDict>,
        paths: impl Fn(&Bound<'_, PyAny>) -> Vec<String>,
        depth: usize,
    ) -> PyResult<()> {
        let mut members: Vec<_> = dict
            .iter()
            .map(|(key, member)| {
                let (place, path) = self.place(&paths(&key));
                (place, path, member)
            })
            .collect();
        members.sort_by_key(|(place, ..)| *place);
        for (place, path, member) in members {
            if place != usize::MAX {
                self.skip_constants(place);
            }
            let next = self.values.len();
            self.add(&member, Some(&path), depth + 1)?;
            // What has no values, such as an empty list, is no input.
            if self.values.len() != next && place != next {
                return Err(self.misplaced(&path, place, next));
            }
        }
        Ok(())
    }

    /// The first input that has one of these paths or is within it, and the path; a large number if there is none.
    fn place(&self, paths: &[String]) -> (usize, String) {
        let places = self.inputs.iter().enumerate();
        let mut found = places.filter_map(|(place, input)| {
            let path = paths.iter().find(|path| is_within(&input.path, path))?;
            Some((place, path.clone()))
        });
        found.next().unwrap_or_else(|| (usize::MAX, paths.first().cloned().unwrap_or_default()))
    }

    /// The error of an argument that does not come next.
    fn misplaced(&self, path: &str, place: usize, next: usize) -> PyErr {
        let text = match self.inputs.get(next) {
            _ if place < next => format!("the input `{path}` has two values"),
            Some(next) if place != usize::MAX => format!("the input `{}` has no value", next.path),
            _ => {
                let inputs: Vec<_> = self.inputs.iter().map(|input| format!("`{}`", input.path)).collect();
                format!("the program has no input `{path}`; its inputs are {}", inputs.join(", "))
            }
        };
        PyTypeError::new_err(text)
    }
}

/// The fields of an instance of a dataclass, by their names.
fn fields<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let (py, fields) = (object.py(), PyDict::new(object.py()));
    for field in py.import("dataclasses")?.call_method1("fields", (object,))?.try_iter()? {
        let name = field?.getattr("name")?.cast_into::<PyString>()?;
        fields.set_item(&name, object.getattr(&name)?)?;
    }
    Ok(fields)
}

/// The length of the name or attribute with which a path begins.
fn end_of_name(path: &str) -> usize {
    path.find(['[', '.']).unwrap_or(path.len())
}

/// Whether an input's path leads to the node with another path, or further.
fn is_within(path: &str, node: &str) -> bool {
    path.strip_prefix(node).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}

/// A key of a dictionary as a path has it.
fn printed(key: &Bound<'_, PyAny>) -> String {
    if key.is_instance_of::<PyString>() {
        format!("'{key}'")
    } else if key.is_none() {
        "null".into()
    } else if key.is_instance_of::<PyBool>() {
        key.to_string().to_lowercase()
    } else {
        key.to_string()
    }
}

/// The key of a dictionary that a path has in this form.
fn key<'py>(py: Python<'py>, printed: &str) -> PyResult<Bound<'py, PyAny>> {
    if let Some(text) = printed.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        return Ok(PyString::new(py, text).into_any());
    }
    if let Ok(number) = printed.parse::<i64>() {
        return Ok(number.into_pyobject(py)?.into_any());
    }
    Ok(match (printed, printed.parse::<f64>()) {
        ("true", _) | ("false", _) => PyBool::new(py, printed == "true").to_owned().into_any(),
        ("null", _) => py.None().into_bound(py),
        (_, Ok(number)) => number.into_pyobject(py)?.into_any(),
        _ => PyString::new(py, printed).into_any(),
    })
}

/// Whether a member has a number because the archive has no name for it. Names of attributes do not begin with digits.
fn is_number(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_digit())
}

/// The nest of these values.
pub(crate) fn unflatten(
    py: Python<'_>,
    tree: &Tree,
    leaves: &mut impl Iterator<Item = Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let mut all = |children: &[Tree]| {
        children.iter().map(|child| unflatten(py, child, leaves)).collect::<PyResult<Vec<_>>>()
    };
    Ok(match tree {
        Tree::Leaf => leaves.next().unwrap_or_else(|| py.None()),
        Tree::List(children) => PyList::new(py, all(children)?)?.into_any().unbind(),
        Tree::Tuple(children) => PyTuple::new(py, all(children)?)?.into_any().unbind(),
        Tree::Dict(children) => {
            let dict = PyDict::new(py);
            for (name, child) in children {
                dict.set_item(key(py, name)?, unflatten(py, child, leaves)?)?;
            }
            dict.into_any().unbind()
        }
        Tree::Other(kind, children) if kind == "collections.deque" => {
            let members = children.iter().map(|(_, child)| unflatten(py, child, leaves));
            let members = PyList::new(py, members.collect::<PyResult<Vec<_>>>()?)?;
            py.import("collections")?.call_method1("deque", (members,))?.unbind()
        }
        // A named tuple, say: the archive has its members only.
        Tree::Other(_, children) if children.iter().any(|(name, _)| is_number(name)) => {
            let members = children.iter().map(|(_, child)| unflatten(py, child, leaves));
            PyTuple::new(py, members.collect::<PyResult<Vec<_>>>()?)?.into_any().unbind()
        }
        Tree::Other(_, children) => {
            let dict = PyDict::new(py);
            for (name, child) in children {
                dict.set_item(name, unflatten(py, child, leaves)?)?;
            }
            dict.into_any().unbind()
        }
        _ => return Err(PyTypeError::new_err("the program returns a tree of a kind that is not known here")),
    })
}
