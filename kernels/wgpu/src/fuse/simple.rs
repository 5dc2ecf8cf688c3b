//! A recorded call as the table of expressions has it: with numbers as tensors where a composite makes them that.

use torch_library::Dispatcher;
use torch_library::prelude::*;
use torch_library::tracer::{Argument, Id, Node};

use crate::{pointwise, reduce};

/// A call with its arguments.
pub(super) struct Simple<'g> {
    operator: OperatorHandle,
    parts: Vec<Part<'g>>,
}

/// What a call computes.
pub(super) enum Computes {
    Elements(pointwise::Known),
    /// One element of each row.
    Rows(reduce::Known),
}

/// An argument.
enum Part<'g> {
    Of(&'g Argument),
    /// A number that is a tensor without dimensions.
    Number(Scalar),
}

/// Where an operand of an expression comes from.
#[derive(Clone, Copy)]
pub(super) enum Source {
    Value(Id),
    Number(Scalar),
}

impl<'g> Simple<'g> {
    /// Nothing of a call that no expression could be for.
    pub(super) fn of(node: &'g Node) -> Option<Simple<'g>> {
        let arguments = node.arguments();
        let is_list = |argument: &Argument| !matches!(argument, Argument::Tensor(_) | Argument::Constant(_));
        if arguments.iter().any(is_list) {
            return None;
        }
        let full = node.operator().to_string();
        let name = full.strip_prefix("aten::")?;
        let all = || arguments.iter().map(Part::Of).collect::<Vec<_>>();
        // What the composites of the core families call.
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

    /// What is computed for such tensors; nothing where there is no kernel for that.
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

    /// What the letters of the expression stand for.
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
