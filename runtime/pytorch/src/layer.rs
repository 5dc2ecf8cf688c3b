//! Kernels at keys above an operator's backend kernels, such as autocast: they run on stand-ins, and their calls go to
//! PyTorch's dispatcher, with their key excluded.

use torch_library::autocast::{self, Autocast};
use torch_library::{DType, DeviceType, DispatchKey, Result, Stack, Value, bail};

use crate::entry::Exported;

/// The devices that PyTorch's C functions know and that have autocast.
const DEVICES: [DeviceType; 5] =
    [DeviceType::Cpu, DeviceType::Cuda, DeviceType::Xpu, DeviceType::Mps, DeviceType::PrivateUse1];

/// Runs the kernel at a key, in an autocast region with the precision of PyTorch's region.
///
/// # Errors
/// The errors of the kernel.
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
    // No cache: casts are cached by tensor, and stand-ins do not outlive the call.
    let _region = match (device, dtype) {
        (Some(device), Value::DType(dtype)) => Some(region(device, *dtype).enter()),
        _ => None,
    };
    exported.operator.call_boxed_for_key(key, stack)
}

/// A region that tells the kernel the precision; the autocast key stays excluded, since its kernel is already running.
fn region(device: DeviceType, dtype: DType) -> Autocast {
    Autocast::on(device).dtype(dtype).enabled(false).cache_enabled(false)
}
