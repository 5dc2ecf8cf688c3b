//! The same call on `meta`, without values: sizes, strides and dtypes have to be the same.

use super::arguments::{self, on_meta};
use super::call::Outcome;
use super::compare::has_same_strides;
use super::{Check, Session};
use crate::device::Device;
use crate::error::ErrorKind;
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

    pub(super) fn meta(&mut self, values: &[Value<'static>], expected: &[Value<'static>]) {
        if !self.wants(Check::Meta) || self.depends_on_values() {
            return;
        }
        let returns_tensor = expected.iter().any(|value| !value.tensors().is_empty());
        let Some(moved) = self.meta_arguments(values).filter(|_| returns_tensor) else { return };
        let returns = match self.call(moved) {
            Outcome::Returned(returns) => returns,
            Outcome::Panicked => return,
            Outcome::Failed(error) if error.kind() == ErrorKind::MissingKernel => {
                return self.fault(
                    Check::Meta,
                    format!(
                        "has no kernel for Meta, so the sizes and types of its results are unknown without running \
                         it: write one, or let the CPU's kernel serve both, `#[torch_impl({}, CPU, Meta)]`",
                        self.operator.namespace()
                    ),
                );
            }
            Outcome::Failed(error) => {
                return self.fault(
                    Check::Meta,
                    format!("fails on meta with a sample that the CPU accepts: {error}"),
                );
            }
        };
        for (index, (found, expected)) in returns.iter().zip(expected).enumerate() {
            for (found, expected) in found.tensors().iter().zip(expected.tensors()) {
                let same = found.sizes() == expected.sizes()
                    && found.dtype() == expected.dtype()
                    && has_same_strides(found, expected);
                if !same || found.device() != Device::META {
                    let message = format!(
                        "return {index} is {} of sizes {:?}, strides {:?} on {}, and on the CPU {} of sizes {:?}, strides {:?}",
                        found.dtype(),
                        found.sizes(),
                        found.strides(),
                        found.device(),
                        expected.dtype(),
                        expected.sizes(),
                        expected.strides()
                    );
                    self.fault(Check::Meta, message);
                }
            }
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
