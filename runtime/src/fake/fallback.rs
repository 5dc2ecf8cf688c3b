//! The fallback at `Fake`, which runs every operator on `meta`.

use super::device;
use super::is_fake;
use super::memory::{self, fake_of_result, twin};
use crate::device::Device;
use crate::dtype::DType;
use crate::ensure;
use crate::error::{Error, ErrorKind, Result};
use crate::guard::{ExcludeDispatchKeyGuard, LocalDispatchKeySet};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::OperatorHandle;
use crate::registry;
use crate::tensor::{Counterparts, Tensor};
use crate::value::{Stack, Value};

/// The fallback.
///
/// PyTorch: `FakeTensorMode.__torch_dispatch__`.
pub(crate) fn fallback(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    // The call belongs to another layer, whose wrappers stand for fake tensors.
    if operator.arguments(stack)?.iter().flat_map(Value::all_tensors).any(Tensor::is_wrapper) {
        return operator.redispatch_boxed(keys & DispatchKeySet::full_after(DispatchKey::Fake), stack);
    }
    const PARTS: DispatchKey = DispatchKey::CompositeImplicitAutograd;
    if registry::kernel_for_key(operator.operator(), PARTS).is_ok() {
        return operator.call_boxed_for_key(PARTS, stack);
    }
    for tag in ["data_dependent_output", "dynamic_output_shape"] {
        if operator.tags().contains(&tag) && !picks_by_number(operator.arguments(stack)?) {
            return Err(looks_at_elements(operator));
        }
    }
    let mut arguments = operator.take_arguments(stack)?;
    refuse_real_targets(operator, &arguments)?;
    let device = device::of_result(operator, &arguments)?;
    let mut twins = Twins::default();
    let returns = twins.call(operator, &arguments)?;
    twins.follow(operator, &mut arguments)?;
    let mut arguments: Vec<_> = arguments.into_iter().map(Some).collect();
    for (index, value) in returns.into_iter().enumerate() {
        let written = operator.operator().returned_argument(index);
        stack.push(match written.and_then(|argument| arguments[argument].take()) {
            Some(argument) => argument,
            None => value.map_tensors(|result| twins.fake_of(result, device))?.into_owned(),
        });
    }
    Ok(())
}

/// Refuses a call that would write elements that nobody computes to a real tensor. In fake mode, where nothing is
/// written, it stands for what a program would write.
///
/// # Errors
/// A real tensor for an argument that the operator writes to, outside of fake mode.
fn refuse_real_targets(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<()> {
    if LocalDispatchKeySet::current().included.has(DispatchKey::Fake) {
        return Ok(());
    }
    for (argument, value) in operator.schema()?.arguments.iter().zip(arguments) {
        ensure!(
            !argument.is_mutable() || value.tensors().iter().all(is_fake),
            NotSupported,
            "{operator} would write to `{}`, which is a real tensor, but another argument is fake and has no elements\n  \
             help: make it fake as well (`to_fake`), or enter `FakeMode`, in which nothing is written",
            argument.name
        );
    }
    Ok(())
}

/// The tensors of a call, each with its twin on `meta`.
#[derive(Default)]
struct Twins(Counterparts);

impl Twins {
    fn of(&mut self, tensor: &Tensor) -> Result<Tensor> {
        if let Some(twin) = self.0.of(tensor) {
            return Ok(twin.clone());
        }
        let twin = twin(tensor)?;
        self.0.add(tensor, &twin);
        Ok(twin)
    }

    /// Runs an operator on `meta`.
    fn call(&mut self, operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Vec<Value<'static>>> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(match argument {
                Value::Device(_) => Value::Device(Device::META),
                Value::Generator(_) => Value::None, // no number is drawn
                argument => argument.map_tensors(|tensor| self.of(tensor))?.into_owned(),
            });
        }
        if self.0.originals().next().is_none()
            && let Some(index) = operator.schema()?.argument_index("device")
        {
            values[index] = Value::Device(Device::META);
        }
        let _below = ExcludeDispatchKeyGuard::new(
            DispatchKeySet::AUTOGRAD_AND_AD_INPLACE_OR_VIEW.add(DispatchKey::Fake),
        );
        let mut stack = Stack::from_iter(values);
        match operator.call_boxed(&mut stack) {
            Ok(()) => Ok(stack.into_iter().map(Value::into_owned).collect()),
            Err(error) if error.kind() == ErrorKind::MissingKernel => {
                Err(no_kernel(operator).with_source(error))
            }
            // On `meta`, a device error comes from a kernel that reads elements.
            Err(error) if error.kind() == ErrorKind::Device => {
                Err(looks_at_elements(operator).with_source(error))
            }
            Err(error) => Err(error),
        }
    }

    /// Gives arguments the geometry that the operator gave their twins in place.
    fn follow(&self, operator: OperatorHandle, arguments: &mut [Value<'_>]) -> Result<()> {
        let written = operator.schema()?.arguments.iter().zip(arguments);
        for (_, value) in written.filter(|(argument, _)| argument.is_mutable()) {
            for tensor in value.tensors_mut() {
                let twin = self.0.of(tensor).filter(|twin| twin.geometry() != tensor.geometry());
                if let Some(twin) = twin {
                    memory::move_to(operator, tensor, twin)?;
                }
            }
        }
        Ok(())
    }

    /// The fake tensor for a result on `meta`: an argument, a view of one, or new.
    fn fake_of(&self, result: &Tensor, device: Device) -> Result<Tensor> {
        match self.0.original(result) {
            Some(argument) => Ok(argument.clone()),
            None => fake_of_result(result, device, self.0.originals()),
        }
    }
}

/// Whether there is a list of indices without a mask, so that the number of elements is the number of indices.
fn picks_by_number(arguments: &[Value<'_>]) -> bool {
    let is_mask = |index: &Tensor| matches!(index.dtype(), DType::Bool | DType::UInt8);
    let is_list = |value: &Value<'_>| match value {
        Value::OptionalTensors(list) => !list.iter().flatten().any(is_mask),
        _ => false,
    };
    arguments.iter().any(is_list)
}

#[cold]
fn no_kernel(operator: OperatorHandle) -> Error {
    let (namespace, name, place) = (operator.namespace(), operator.name(), operator.place());
    Error::new(
        ErrorKind::MissingKernel,
        format!(
            "{operator} has no kernel for Meta, so the sizes and types of its results are unknown in fake mode\n  \
             declared at {place}\n  \
             help: write `#[torch_impl({namespace}, Meta)] fn {name}(…)`, which returns tensors of `Device::META` \
             with the sizes, strides and types of the result"
        ),
    )
}

#[cold]
fn looks_at_elements(operator: OperatorHandle) -> Error {
    Error::new(
        ErrorKind::NotSupported,
        format!(
            "{operator} depends on the values of elements, which fake tensors do not have\n  \
             help: call it outside of fake mode, or use an operator whose result has the same sizes for all values"
        ),
    )
}
