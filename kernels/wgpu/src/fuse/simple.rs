//! A recorded call in the form of the table of expressions, in which a composite's numbers become tensors.

use torch_library::Dispatcher;
use torch_library::prelude::*;
use torch_library::tracer::{Argument, Id, Node};

use crate::{pointwise, reduce};

/// A call with its arguments.
pub(super) struct Simple<'g> {
    operator: OperatorHandle,
    parts: Vec<Part<'g>>,
}

/// The kind of computation of a call.
pub(super) enum Computes {
    Elements(pointwise::Known),
    /// One element for each row: a reduction.
    Rows(reduce::Known),
}

/// An argument of the call.
enum Part<'g> {
    Of(&'g Argument),
    /// A number that becomes a tensor without dimensions.
    Number(Scalar),
}

/// The source of an expression's operand.
#[derive(Clone, Copy)]
pub(super) enum Source {
    Value(Id),
    Number(Scalar),
}

impl<'g> Simple<'g> {
    /// The call of a node; `None` if there cannot be an expression for it.
    pub(super) fn of(node: &'g Node) -> Option<Simple<'g>> {
        let arguments = node.arguments();
        let is_list = |argument: &Argument| !matches!(argument, Argument::Tensor(_) | Argument::Constant(_));
        if arguments.iter().any(is_list) {
            return None;
        }
        let full = node.operator().to_string();
        let name = full.strip_prefix("aten::")?;
        let all = || arguments.iter().map(Part::Of).collect::<Vec<_>>();
        // The operators that the composites of the core families call.
        let (operator, parts) = match name {
            "add.Scalar" | "sub.Scalar" | "mul.Scalar" | "div.Scalar" => {
                let mut parts = all();
                parts[1] = Part::Number(number(arguments.get(1)?)?);
                (full.replace(".Scalar", ".Tensor"), parts)
            }
            "rsub.Scalar" | "rsub.Tensor" => {
                let other = match arguments.get(1)? {
                    tensor @ Argument::Tensor(_) => Part::Of(tensor),
                    other => Part::Number(number(other)?),
                };
                let (this, alpha) = (Part::Of(&arguments[0]), Part::Of(arguments.get(2)?));
                ("aten::sub.Tensor".to_owned(), vec![other, this, alpha])
            }
            _ => return Some(Simple { operator: node.operator(), parts: all() }),
        };
        Some(Simple { operator: Dispatcher::global().find(&operator).ok()?, parts })
    }

    /// The computation for these tensors; `None` if there is no kernel for it.
    pub(super) fn computes(&self, tensor: &dyn Fn(Id) -> Result<Tensor>) -> Result<Option<Computes>> {
        let arguments = self.parts.iter().map(|part| match part {
            Part::Of(argument) => argument.value(tensor),
            Part::Number(number) => Ok(Tensor::wrapped_number(*number).into()),
        });
        let arguments = arguments.collect::<Result<Vec<_>>>()?;
        if let Some(known) = pointwise::known(self.operator, &arguments)? {
            return Ok(Some(Computes::Elements(known)));
        }
        Ok(reduce::known(self.operator, &arguments)?.map(Computes::Rows))
    }

    /// The sources of the expression's operands, in the order of its letters.
    pub(super) fn sources(&self) -> Vec<Source> {
        let source = |part: &Part<'_>| match part {
            Part::Of(Argument::Tensor(id)) => Some(Source::Value(*id)),
            Part::Of(_) => None,
            Part::Number(number) => Some(Source::Number(*number)),
        };
        self.parts.iter().filter_map(source).collect()
    }
}

fn number(argument: &Argument) -> Option<Scalar> {
    match argument {
        Argument::Constant(Value::Int(x)) => Some(Scalar::Int(*x)),
        Argument::Constant(Value::Float(x)) => Some(Scalar::Float(*x)),
        Argument::Constant(Value::Bool(x)) => Some(Scalar::Bool(*x)),
        _ => None,
    }
}
