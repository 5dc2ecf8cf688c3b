//! The same call on `meta`, without values: all that is known without them has to be the same.

use super::arguments::{self, TensorArgument, on_meta};
use super::call::{Called, Outcome};
use super::compare::has_same_strides;
use super::{Check, Session};
use crate::device::Device;
use crate::error::{Error, ErrorKind};
use crate::tensor::Tensor;
use crate::value::Value;

impl Session<'_> {
    /// Whether the operator's tags say that its result depends on values.
    pub(super) fn depends_on_values(&self) -> bool {
        self.has_tag("data_dependent_output") || self.has_tag("dynamic_output_shape")
    }

    /// The arguments on `meta`: tensors, and the device argument of a factory function.
    fn meta_arguments(&self, values: &[Value<'static>]) -> Option<Vec<Value<'static>>> {
        let mut moved = arguments::map(values, |_, tensor| on_meta(tensor)).ok()?;
        let has_tensor = !arguments::tensors(self.operator, values).is_empty();
        if !has_tensor {
            let device = self.operator.schema().ok()?.argument_index("device")?;
            moved[device] = Value::Device(Device::META);
        }
        Some(moved)
    }

    pub(super) fn meta(&mut self, values: &[Value<'static>], expected: &Called) {
        if !self.wants(Check::Meta) || self.depends_on_values() {
            return;
        }
        let Some(moved) = self.meta_arguments(values) else { return };
        let arguments = arguments::tensors(self.operator, &moved);
        let message = match self.call(moved) {
            Outcome::Returned(returns) => differs(&Called { arguments, returns }, expected),
            Outcome::Panicked => None,
            Outcome::Failed(error) => self.fails_on_meta(&error, expected),
        };
        if let Some(message) = message {
            self.fault(Check::Meta, message);
        }
    }

    /// What is wrong with an operator that fails on `meta`. Without a kernel for it, an operator that returns no tensor
    /// is fine: if it writes, no size is unknown, and a value may be one of elements.
    fn fails_on_meta(&self, error: &Error, expected: &Called) -> Option<String> {
        let returns_tensor = expected.returns.iter().any(|value| !value.tensors().is_empty());
        match error.kind() {
            ErrorKind::MissingKernel if returns_tensor => Some(format!(
                "has no kernel for Meta, so the sizes and types of its results are unknown without running \
                 it: write one, or let the CPU's kernel serve both, `#[torch_impl({}, CPU, Meta)]`",
                self.operator.namespace()
            )),
            ErrorKind::MissingKernel => None,
            _ if returns_tensor || self.operator.schema().is_ok_and(|schema| schema.is_mutable()) => {
                Some(format!("fails on meta with a sample that the CPU accepts: {error}"))
            }
            _ => None,
        }
    }

    /// Tensors without elements must be treated in the same way on the CPU and on `meta`.
    pub(super) fn empty(&mut self, values: &[Value<'static>]) {
        if !self.wants(Check::Empty) {
            return;
        }
        let emptied = |values: &[Value<'static>]| {
            arguments::map(values, |_, tensor| {
                let mut sizes = tensor.sizes().to_vec();
                sizes.iter_mut().take(1).for_each(|size| *size = 0);
                let copy = crate::tensor::Tensor::zeros(&sizes, tensor.dtype(), tensor.device())?;
                if sizes.is_empty() { arguments::copy_as(tensor, &[], &[], 0) } else { Ok(copy) }
            })
        };
        let (Ok(on_cpu), Ok(again)) = (emptied(values), emptied(values)) else { return };
        let outcome = self.call(on_cpu);
        let Some(moved) =
            self.meta_arguments(&again).filter(|_| self.wants(Check::Meta) && !self.depends_on_values())
        else {
            return;
        };
        match (outcome, self.call(moved)) {
            (Outcome::Returned(cpu), Outcome::Returned(meta)) => {
                let sizes = |values: &[Value<'static>]| -> Vec<Vec<i64>> {
                    values
                        .iter()
                        .flat_map(|value| value.tensors())
                        .map(|tensor| tensor.sizes().to_vec())
                        .collect()
                };
                if sizes(&cpu) != sizes(&meta) {
                    let message = format!(
                        "without elements gives sizes {:?} on the CPU, {:?} on meta",
                        sizes(&cpu),
                        sizes(&meta)
                    );
                    self.fault(Check::Empty, message);
                }
            }
            (Outcome::Failed(error), Outcome::Returned(_)) => {
                self.fault(
                    Check::Empty,
                    format!("tensors without elements are accepted on meta, and not on the CPU: {error}"),
                );
            }
            _ => {}
        }
    }
}

/// Describes where a call on `meta` differs from one with values.
fn differs(found: &Called, expected: &Called) -> Option<String> {
    let counts = [found.returns.len(), expected.returns.len()];
    if counts[0] != counts[1] {
        return Some(format!("leaves {} returns on meta, and on the CPU {}", counts[0], counts[1]));
    }
    let mut returns = found.returns.iter().zip(&expected.returns).enumerate();
    returns
        .find_map(|(index, (found, expected))| return_differs(index, found, expected))
        .or_else(|| {
            let mut arguments = found.arguments.iter().zip(&expected.arguments);
            arguments.find_map(|(found, expected)| {
                tensor_differs(&format!("`{}` after the call", found.name), &found.tensor, &expected.tensor)
            })
        })
        .or_else(|| sharing_differs(found, expected))
}

fn return_differs(index: usize, found: &Value<'_>, expected: &Value<'_>) -> Option<String> {
    let what = |found, expected| format!("return {index} is {found} on meta, and on the CPU {expected}");
    match (found.tensors(), expected.tensors()) {
        ([], []) => {
            let (found, expected) = (format!("{found:?}"), format!("{expected:?}"));
            (found != expected).then(|| what(found, expected))
        }
        (found, expected) if found.len() != expected.len() => {
            let counted = |count| format!("{count} tensor{}", if count == 1 { "" } else { "s" });
            Some(what(counted(found.len()), counted(expected.len())))
        }
        (found, expected) => {
            let mut pairs = found.iter().zip(expected);
            pairs.find_map(|(found, expected)| tensor_differs(&format!("return {index}"), found, expected))
        }
    }
}

fn tensor_differs(name: &str, found: &Tensor, expected: &Tensor) -> Option<String> {
    let same = found.dtype() == expected.dtype()
        && found.sizes() == expected.sizes()
        && has_same_strides(found, expected)
        && (found.storage_offset() == expected.storage_offset() || expected.numel() == 0);
    let described = |tensor: &Tensor| {
        let (dtype, sizes, strides) = (tensor.dtype(), tensor.sizes(), tensor.strides());
        let offset = match tensor.storage_offset() {
            0 => String::new(),
            offset => format!(", offset {offset}"),
        };
        format!("{dtype} of sizes {sizes:?}, strides {strides:?}{offset}")
    };
    (!same || found.device() != Device::META).then(|| {
        let device = found.device();
        format!("{name} is {} on {device}, and on the CPU {}", described(found), described(expected))
    })
}

/// How a tensor is related to another, in words.
fn relation(tensor: &Tensor, other: &Tensor) -> &'static str {
    match (tensor.is_same(other), tensor.shares_storage_with(other)) {
        (true, _) => "is",
        (_, true) => "shares memory with",
        _ => "shares no memory with",
    }
}

/// Describes a result that is related to an argument, or to an earlier result, as it is not on the CPU.
fn sharing_differs(found: &Called, expected: &Called) -> Option<String> {
    let named = |called: &Called| {
        let argument =
            |TensorArgument { name, tensor, .. }: &TensorArgument| (format!("`{name}`"), tensor.clone());
        let returns = called.returns.iter().enumerate().flat_map(|(index, value)| {
            value.tensors().iter().map(move |tensor| (format!("return {index}"), tensor.clone()))
        });
        called.arguments.iter().map(argument).chain(returns).collect::<Vec<(String, Tensor)>>()
    };
    let (found_all, expected_all) = (named(found), named(expected));
    let pairs: Vec<_> = found_all.iter().zip(&expected_all).collect();
    (found.arguments.len()..pairs.len()).find_map(|at| {
        let ((name, found), (_, expected)) = pairs[at];
        // Without elements, it makes no difference.
        let mut others = pairs[..at].iter().filter(|_| expected.numel() > 0);
        others.find_map(|((other, found_other), (_, expected_other))| {
            let (on_meta, on_cpu) = (relation(found, found_other), relation(expected, expected_other));
            (on_meta != on_cpu)
                .then(|| format!("{name} {on_meta} {other} on meta, and {on_cpu} it on the CPU"))
        })
    })
}
