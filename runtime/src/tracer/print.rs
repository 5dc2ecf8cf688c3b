//! A graph as text, which reads like a program and can be parsed.

use std::fmt::{self, Write as _};

use crate::dtype::element::Complex64;
use crate::dtype::{DType, Element};
use crate::match_dtype;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::value::Value;

use super::argument::{Argument, Id, Output};
use super::graph::{Graph, Node, TensorType};

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.dtype, self.sizes)
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inputs: Vec<_> = self.inputs.iter().map(|id| self.typed(*id)).collect();
        writeln!(f, "graph({}) {{", inputs.join(", "))?;
        for (id, tensor) in &self.constants {
            writeln!(f, "  {} = constant {}", self.typed(*id), elements(tensor))?;
        }
        for node in &self.nodes {
            writeln!(f, "  {}", self.line(node))?;
        }
        let outputs: Vec<_> = self.outputs.iter().map(|id| format!("%{id}")).collect();
        writeln!(f, "  return {}", outputs.join(", "))?;
        writeln!(f, "}}")
    }
}

impl Graph {
    /// A value with its type, as in `%3: float32[2, 3]`.
    pub(super) fn typed(&self, id: Id) -> String {
        format!("%{id}: {}", self.values[id])
    }

    /// The line of a call, as in `%3: float32[2] = aten::relu(self=%2)`.
    pub(super) fn line(&self, node: &Node) -> String {
        let outputs: Vec<_> = node.outputs.iter().map(|output| self.output(output)).collect();
        let equals = if outputs.is_empty() { "" } else { " = " };
        format!("{}{equals}{}", outputs.join(", "), call(node))
    }

    fn output(&self, output: &Output) -> String {
        match output {
            Output::Tensor(id) => self.typed(*id),
            Output::Tensors(ids) => {
                let ids: Vec<_> = ids.iter().map(|id| self.typed(*id)).collect();
                format!("[{}]", ids.join(", "))
            }
            Output::None => "none".to_owned(),
        }
    }
}

/// A call, as in `aten::add.Tensor(self=%0, other=%1, alpha=1)`.
pub(super) fn call(node: &Node) -> String {
    let schema = node.operator.schema();
    let names = schema.map(|schema| schema.arguments.as_slice()).unwrap_or_default();
    let arguments = node.arguments.iter().zip(names);
    let arguments: Vec<_> =
        arguments.map(|(argument, name)| format!("{}={}", name.name, self::argument(argument))).collect();
    format!("{}({})", node.operator, arguments.join(", "))
}

fn argument(argument: &Argument) -> String {
    let name = |id: &Option<Id>| id.map_or_else(|| "none".to_owned(), |id| format!("%{id}"));
    match argument {
        Argument::Tensor(id) => format!("%{id}"),
        Argument::Tensors(ids) => list(ids, |id| format!("%{id}")),
        Argument::OptionalTensors(ids) => list(ids, name),
        Argument::Constant(value) => constant(value),
    }
}

fn list<T>(elements: &[T], print: impl Fn(&T) -> String) -> String {
    format!("[{}]", elements.iter().map(print).collect::<Vec<_>>().join(", "))
}

/// A value that is not a tensor. Numbers show their type: floating-point ones have a point or an exponent.
fn constant(value: &Value<'_>) -> String {
    let number = |value: Scalar| match value {
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => format!("{value:?}"),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Complex(Complex64 { re, im }) => format!("complex({re:?}, {im:?})"),
    };
    match value {
        Value::Int(value) => number((*value).into()),
        Value::Float(value) => number((*value).into()),
        Value::Bool(value) => number((*value).into()),
        Value::Complex(value) => number((*value).into()),
        Value::Str(text) => format!("{text:?}"),
        Value::DType(dtype) => dtype.to_string(),
        Value::Layout(layout) => layout.to_string(),
        Value::MemoryFormat(format) => format.to_string(),
        Value::Device(device) => device.to_string(),
        Value::Generator(_) => "generator".to_owned(),
        Value::Ints(values) => list(values, |value| number((*value).into())),
        Value::Floats(values) => list(values, |value| number((*value).into())),
        Value::Bools(values) => list(values, |value| number((*value).into())),
        Value::Scalars(values) => list(values, |value| number(*value)),
        Value::Strs(values) => list(values, |value| format!("{value:?}")),
        _ => "none".to_owned(),
    }
}

fn scalar<T: Element>(element: T) -> Scalar {
    match T::DTYPE {
        DType::Bool => Scalar::Bool(element.cast()),
        dtype if dtype.is_complex() => Scalar::Complex(element.cast()),
        dtype if dtype.is_floating_point() => Scalar::Float(element.cast()),
        _ => Scalar::Int(element.cast()),
    }
}

/// All elements of a constant, in row-major order, without omissions.
fn elements(tensor: &Tensor) -> String {
    let text = match_dtype!(tensor.dtype(), T => tensor.to_vec::<T>().map(|elements| {
        let mut text = String::new();
        for (index, element) in elements.into_iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            // Writing to a string does not fail.
            let _ = write!(text, "{comma}{}", constant(&Value::from(scalar(element))));
        }
        text
    }));
    text.map_or_else(|_| "...".to_owned(), |text| format!("[{text}]"))
}
