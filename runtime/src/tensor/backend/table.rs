//! The backend of each device type.

use std::sync::{PoisonError, RwLock};

use super::Backend;
use crate::device::{BackendNames, DeviceType};
use crate::error::Result;
use crate::key::register_backend_name;
use crate::program::Program;
use crate::{bail, ensure};

/// The interface to the backends that are linked into the program.
pub(crate) trait Linked {
    /// The backends that [`torch_backend!`](crate::torch_backend) registered.
    fn backends() -> Vec<&'static dyn Backend>;
}

/// The registered backends. There are never more than a few.
static BACKENDS: RwLock<Vec<&'static dyn Backend>> = RwLock::new(Vec::new());

/// Lets the parser of device names find linked backends, too.
impl BackendNames for Program {
    fn register_names() {
        let _ = register_linked(); // a conflict is reported when a device of that backend is requested
    }
}

/// All backends of the program, without the CPU and meta.
pub fn backends() -> Vec<&'static dyn Backend> {
    let _ = register_linked(); // a conflict is reported when a device of that backend is requested
    BACKENDS.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The backend of a device type, if there is one. The CPU and meta have none: they are part of the runtime.
///
/// # Errors
/// Two backends of the program are for this type, or its name is taken.
pub fn of(kind: DeviceType) -> Result<Option<&'static dyn Backend>> {
    if matches!(kind, DeviceType::Cpu | DeviceType::Meta) {
        return Ok(None);
    }
    if let Some(backend) = known(kind) {
        return Ok(Some(backend));
    }
    register_linked()?; // linked before the first use, or loaded since
    Ok(known(kind))
}

fn known(kind: DeviceType) -> Option<&'static dyn Backend> {
    let backends = BACKENDS.read().unwrap_or_else(PoisonError::into_inner);
    backends.iter().copied().find(|backend| backend.device_type() == kind)
}

fn register_linked() -> Result<()> {
    <Program as Linked>::backends().into_iter().try_for_each(register)
}

/// Registers a backend at run time, as [`torch_backend!`](crate::torch_backend) does at the start. Registering a
/// backend again has no effect.
///
/// # Errors
/// Another backend serves the device type, or has the name; the type is the CPU or meta.
pub fn register(backend: &'static dyn Backend) -> Result<()> {
    let (kind, name) = (backend.device_type(), backend.name());
    ensure!(
        !matches!(kind, DeviceType::Cpu | DeviceType::Meta),
        Argument,
        "{name} cannot be the backend of {kind}, which is built in; choose another device type, such as privateuseone"
    );
    let mut backends = BACKENDS.write().unwrap_or_else(PoisonError::into_inner);
    match backends.iter().find(|other| other.device_type() == kind) {
        Some(other) if std::ptr::addr_eq(*other, backend) || other.name() == name => return Ok(()),
        Some(other) => {
            let (other, kind) = (other.name(), kind.name()); // the kind prints under the name of the first backend
            bail!(Conflict, "{name} and {other} are both backends for {kind}, of which a process has one")
        }
        None => {}
    }
    if matches!(kind, DeviceType::PrivateUse1 | DeviceType::PrivateUse2 | DeviceType::PrivateUse3) {
        register_backend_name(kind.dispatch_key(), name)?;
    }
    backends.push(backend);
    Ok(())
}

/// The number of devices of a type; the CPU and meta have one each.
///
/// ```
/// use torch_library::{DeviceType, backend};
///
/// assert_eq!((backend::device_count(DeviceType::Cpu), backend::device_count(DeviceType::Cuda)), (1, 0));
/// ```
///
/// PyTorch: `torch.cuda.device_count`.
pub fn device_count(kind: DeviceType) -> usize {
    match kind {
        DeviceType::Cpu | DeviceType::Meta => 1,
        kind => of(kind).ok().flatten().map_or(0, Backend::device_count),
    }
}
