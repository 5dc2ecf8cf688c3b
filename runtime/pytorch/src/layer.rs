//! Kernels between PyTorch and an operator's own kernels, on stand-ins: what they call goes to PyTorch's dispatcher, which
//! has left their key out by then.

use torch_library::autocast::{self, Autocast};
use torch_library::{DType, DeviceType, DispatchKey, Result, Stack, Value, bail};

use crate::entry::Exported;

/// The devices that PyTorch's C functions know, in whose regions there are casts.
const DEVICES: [DeviceType; 5] =
    [DeviceType::Cpu, DeviceType::Cuda, DeviceType::Xpu, DeviceType::Mps, DeviceType::PrivateUse1];

/// Runs the kernel at a key, in a region of the precision that PyTorch's region has.
///
/// # Errors
/// Those of the kernel.
pub(crate) fn run(
    exported: &Exported,
    key: &Value<'_>,
    dtype: &Value<'_>,
    stack: &mut Stack<'static>,
) -> Result<()> {
    let key: DispatchKey = match key {
        Value::Str(name) => name.parse()?,
        other => bail!(Type, "a key was expected, not {}", other.type_name()),
    };
    let device = DEVICES.into_iter().find(|device| autocast::key(*device) == Some(key));
    // Casts are remembered by tensors, and stand-ins are gone after the call.
    let _region = match (device, dtype) {
        (Some(device), Value::DType(dtype)) => Some(region(device, *dtype).enter()),
        _ => None,
    };
    exported.operator.call_boxed_for_key(key, stack)
}

/// What the kernel asks is the precision; its key stays excluded, since the kernel runs already.
fn region(device: DeviceType, dtype: DType) -> Autocast {
    Autocast::on(device).dtype(dtype).enabled(false).cache_enabled(false)
}
