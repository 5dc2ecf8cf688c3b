//! The in-place and `out` variants of the operator, compared with the functional one.

use torch_library_schema::{Argument, Schema, Type};

use super::arguments::{self, copy_as};
use super::call::Outcome;
use super::compare::{difference, tensors};
use super::{Check, Session};
use crate::operator::OperatorHandle;
use crate::registry;
use crate::tensor::Tensor;
use crate::tensor::geometry::Geometry;
use crate::value::Value;

/// Whether two arguments are the same, apart from being written to.
fn is_like(left: &Argument, right: &Argument) -> bool {
    left.name == right.name && left.ty == right.ty
}

fn are_like<'a>(left: &[&Argument], right: impl IntoIterator<Item = &'a Argument>) -> bool {
    let mut right = right.into_iter();
    left.iter().all(|left| right.next().is_some_and(|right| is_like(left, right))) && right.next().is_none()
}

/// Whether the argument is an option for a new tensor, which an `out` variant does not take.
fn is_option(argument: &Argument) -> bool {
    matches!(argument.ty, Type::Optional(_))
        && ["dtype", "layout", "device", "pin_memory"].contains(&&*argument.name)
}

impl Session<'_> {
    pub(super) fn siblings(&mut self, values: &[Value<'static>], expected: &[Value<'static>]) {
        let Ok(schema) = self.operator.schema() else { return };
        if schema.is_mutable()
            || schema.has_alias_info()
            || expected.iter().all(|value| value.as_tensor().is_none())
        {
            return;
        }
        let (namespace, name) = (self.operator.namespace(), self.operator.name());
        let dispatcher = registry::of(self.operator.operator());
        let others = dispatcher.operators().into_iter().map(|info| info.operator);
        for other in others.filter(|other| other.namespace() == namespace) {
            let Ok(sibling) = other.schema() else { continue };
            let (outs, inputs): (Vec<_>, Vec<_>) =
                sibling.arguments.iter().partition(|argument| argument.is_out());
            if other.name().strip_suffix('_') == Some(name) && are_like(&inputs, &schema.arguments) {
                self.in_place(other, sibling, values, expected);
            } else if other.name() == name && outs.len() == expected.len() {
                let kept: Vec<usize> = match are_like(&inputs, &schema.arguments) {
                    true => (0..values.len()).collect(),
                    false => (0..values.len()).filter(|at| !is_option(&schema.arguments[*at])).collect(),
                };
                if are_like(&inputs, kept.iter().map(|at| &schema.arguments[*at])) {
                    let inputs: Vec<_> = kept.iter().map(|at| values[*at].borrowed().into_owned()).collect();
                    self.out(other, &inputs, expected);
                }
            }
        }
    }

    fn in_place(
        &mut self,
        other: OperatorHandle,
        schema: &Schema,
        values: &[Value<'static>],
        expected: &[Value<'static>],
    ) {
        let Ok(copies) = arguments::copies(values) else { return };
        let written = schema.arguments.iter().position(Argument::is_mutable);
        let (Some(this), [result]) = (written.and_then(|at| copies[at].as_tensor().cloned()), expected)
        else {
            return;
        };
        let Some(result) = result.as_tensor() else { return };
        // A result of another shape or type cannot be written there, so it must be refused.
        if this.sizes() != result.sizes() || this.dtype() != result.dtype() {
            return;
        }
        match self.call_other(other, copies) {
            Outcome::Returned(_) => {
                if let Some(what) = tensors(&this, result) {
                    self.fault(Check::InPlace, format!("{other} gives another result: {what}"));
                }
            }
            Outcome::Failed(error) => {
                self.fault(Check::InPlace, format!("{other} fails where this one does not: {error}"));
            }
            Outcome::Panicked => {}
        }
    }

    fn out(&mut self, other: OperatorHandle, values: &[Value<'static>], expected: &[Value<'static>]) {
        let results: Option<Vec<&Tensor>> = expected.iter().map(Value::as_tensor).collect();
        let Some(results) = results else { return };
        let fresh = |result: &&Tensor| Tensor::zeros(&[0], result.dtype(), result.device());
        let gaps = |result: &&Tensor| {
            let dense = Geometry::contiguous(result.sizes())?;
            let strides: Vec<_> = dense.strides().iter().map(|stride| 2 * stride).collect();
            copy_as(
                &Tensor::zeros(result.sizes(), result.dtype(), result.device())?,
                result.sizes(),
                &strides,
                1,
            )
        };
        let kinds: [(&str, Vec<_>); 2] = [
            ("an empty `out`", results.iter().map(fresh).collect()),
            ("an `out` with gaps", results.iter().map(gaps).collect()),
        ];
        for (what, outs) in kinds {
            let outs: crate::Result<Vec<Tensor>> = outs.into_iter().collect();
            let (Ok(outs), Ok(mut copies)) = (outs, arguments::copies(values)) else { continue };
            copies.extend(outs.iter().map(|out| Value::Tensor(out.clone())));
            match self.call_other(other, copies) {
                Outcome::Returned(returned) => {
                    let are_outs = returned
                        .iter()
                        .zip(&outs)
                        .all(|(value, out)| value.as_tensor().is_some_and(|value| value.is_same(out)));
                    if !are_outs {
                        self.fault(Check::Out, format!("{other} returns another tensor than `out`"));
                    }
                    if outs.iter().any(|out| out.version() == 0) {
                        self.fault(
                            Check::Out,
                            format!("{other} writes to `out` without bumping its version"),
                        );
                    }
                    let written: Vec<_> = outs.iter().map(|out| Value::Tensor(out.clone())).collect();
                    if let Some(difference) = difference(&written, expected) {
                        self.fault(Check::Out, format!("{other} with {what}: {difference}"));
                    }
                }
                Outcome::Failed(error) => {
                    self.fault(Check::Out, format!("{other} with {what} fails: {error}"));
                }
                Outcome::Panicked => {}
            }
        }
    }
}
