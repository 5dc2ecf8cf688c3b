//! The device of an operator's result.

use torch_library_schema::Schema;

use crate::bail;
use crate::device::{Device, DeviceType};
use crate::error::Result;
use crate::operator::OperatorHandle;
use crate::tensor::Tensor;
use crate::value::Value;

/// The device that a call computes on: the one that it asks for, or that of its tensors. CPU scalars go with any
/// device.
///
/// # Errors
/// Tensors of two devices, in an operator that does not copy between them.
///
/// PyTorch: `FakeTensor._find_common_device`.
pub(super) fn of_result(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Device> {
    let schema = operator.schema()?;
    let asked = schema.argument_index("device").map(|index| &arguments[index]);
    let common = common(operator, schema, arguments)?;
    match asked {
        Some(Value::Device(device)) => Ok(*device),
        _ => Ok(common.unwrap_or(Device::CPU)),
    }
}

fn common(operator: OperatorHandle, schema: &Schema, arguments: &[Value<'_>]) -> Result<Option<Device>> {
    let mut common: Option<&Tensor> = None;
    // An operator with an argument `non_blocking` copies between devices.
    let copies = schema.argument_index("non_blocking").is_some();
    let tensors = arguments.iter().flat_map(Value::all_tensors).filter(|tensor| !tensor.is_wrapped_number());
    for tensor in tensors {
        let goes_along = |tensor: &Tensor| tensor.dim() == 0 && tensor.device().kind == DeviceType::Cpu;
        match common {
            None => common = Some(tensor),
            Some(other) if other.device() == tensor.device() || copies || goes_along(tensor) => {}
            Some(other) if goes_along(other) => common = Some(tensor),
            Some(other) => bail!(
                Device,
                "{operator} got tensors on {} and on {}, expected one device\n  \
                 help: move one of them to the device of the other first",
                other.device(),
                tensor.device()
            ),
        }
    }
    Ok(common.map(Tensor::device))
}
