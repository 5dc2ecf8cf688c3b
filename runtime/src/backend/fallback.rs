//! The CPU fallback: every operator works on every device, with copies to the CPU and back.

use std::borrow::Cow;

use torch_library_schema::{Argument, Type};

use super::policy;
use super::staging::Staging;
use crate::bail;
use crate::device::{Device, DeviceType};
use crate::error::Result;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::OperatorHandle;
use crate::tensor::Tensor;
use crate::tensor::backend::{default_generator, resolve};
use crate::value::{Stack, Value};

/// Runs an operator on the CPU for tensors of a device. A backend registers this for all operators that it has no
/// kernel for.
///
/// Tensors are copied to the host, each storage once, so that arguments which share memory still share it. Arguments
/// that the schema marks as written are copied back, including new sizes and new memory that the operator gave them;
/// results are copied to the device, where views of arguments become views of them. Lists, optional tensors, devices
/// and generators are handled too: the CPU's kernel draws its random numbers from the generator of the device.
///
/// Tensors of the host among the arguments are used as they are: it is up to the kernels of a backend to refuse them.
///
/// Each call is [counted](super::fallback_counts); the first call of each operator [warns](super::FallbackPolicy).
///
/// ```standalone_crate
/// use torch_library::prelude::*;
///
/// #[torch_fallback(PrivateUse1)]
/// fn on_the_cpu(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
///     torch_library::backend::cpu_fallback(operator, keys, stack)
/// }
/// # fn main() {}
/// ```
///
/// # Errors
/// The device has no [`Backend`](super::Backend), the [policy](super::FallbackPolicy) is to refuse, a copy fails, or
/// the operator fails on the CPU.
///
/// PyTorch: `at::native::cpu_fallback`.
pub fn cpu_fallback(operator: OperatorHandle, _keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let mut arguments = operator.take_arguments(stack)?;
    let device = device_of(operator, &arguments)?;
    policy::count_call(device.kind, operator)?;
    let mut staging = Staging::new(device)?;
    let schema = operator.schema()?;
    let mut on_cpu = Stack::new();
    let mut goes_to_host = false;
    for (index, value) in arguments.iter().enumerate() {
        on_cpu.push(match value {
            Value::Device(asked) if asked.kind == device.kind => Value::Device(Device::CPU),
            Value::Device(asked) => {
                goes_to_host |= asked.kind == DeviceType::Cpu;
                Value::Device(*asked)
            }
            Value::Generator(generator) if generator.device().kind == device.kind => {
                Value::Generator(Cow::Owned(generator.on_cpu()))
            }
            Value::None if schema.arguments.get(index).is_some_and(takes_generator) => {
                Value::Generator(Cow::Owned(default_generator(device)?.on_cpu()))
            }
            value => value.map_tensors(|tensor| staging.host_of(tensor))?.into_owned(),
        });
    }
    operator.redispatch_boxed(DispatchKeySet::from_key(DispatchKey::CPU), &mut on_cpu)?;
    let returns: Vec<Value<'_>> = on_cpu.into_iter().collect();
    for (value, argument) in arguments.iter_mut().zip(&schema.arguments) {
        if is_written(argument) {
            write_back(&mut staging, value)?;
        }
    }
    let mut arguments: Vec<_> = arguments.into_iter().map(Some).collect();
    for (index, value) in returns.into_iter().enumerate() {
        let written = operator.operator().returned_argument(index);
        stack.push(match written.and_then(|argument| arguments.get_mut(argument)?.take()) {
            Some(argument) => argument,
            None if goes_to_host => value.into_owned(),
            None => value.map_tensors(|result| staging.remote_of(result))?.into_owned(),
        });
    }
    Ok(())
}

/// The device of a call: that of its tensors, or the one that it asks for.
fn device_of(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Device> {
    let is_remote = |device: &Device| !matches!(device.kind, DeviceType::Cpu | DeviceType::Meta);
    let of_tensors = arguments.iter().flat_map(Value::all_tensors).map(Tensor::device).find(is_remote);
    let asked = arguments.iter().find_map(|value| match value {
        Value::Device(device) => Some(*device),
        Value::Generator(generator) => Some(generator.device()),
        _ => None,
    });
    match of_tensors.or(asked.filter(is_remote)) {
        Some(device) => resolve(device),
        None => bail!(Device, "{operator} fell back to the CPU, but none of its arguments names a device"),
    }
}

fn takes_generator(argument: &Argument) -> bool {
    *argument.ty.without_optional() == Type::Generator
}

/// Whether an operator writes to an argument. Batch norm updates its running statistics although its schema does not
/// say so, as in PyTorch.
fn is_written(argument: &Argument) -> bool {
    argument.is_mutable() || matches!(&*argument.name, "running_mean" | "running_var")
}

fn write_back(staging: &mut Staging, value: &mut Value<'_>) -> Result<()> {
    let tensors: Vec<Tensor> = value.all_tensors().cloned().collect(); // other handles of the same tensors
    tensors.into_iter().try_for_each(|mut tensor| staging.write_back(&mut tensor))
}
