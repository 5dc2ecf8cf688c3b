//! Devices: where a tensor's memory lives.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};
use crate::key::DispatchKey;
use crate::program::Program;
use crate::text::are_same;

/// The interface to the names that the program's backends take.
pub(crate) trait BackendNames {
    /// Registers all of these names.
    fn register_names();
}

/// A device type, with PyTorch's number and name.
///
/// This list only assigns numbers to names: which backend serves a device follows from its [dispatch
/// key](DeviceType::dispatch_key). The private types are for third parties, and take the name that
/// [`register_backend_name`](crate::register_backend_name) gives their key.
///
/// PyTorch: `c10::DeviceType`, which has only the first of the private ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are PyTorch's; what the devices are is for their vendors to say")]
pub enum DeviceType {
    Cpu = 0,
    Cuda = 1,
    Hip = 6,
    Fpga = 7,
    Maia = 8,
    Xla = 9,
    Vulkan = 10,
    Metal = 11,
    Xpu = 12,
    Mps = 13,
    Meta = 14,
    Hpu = 15,
    Ve = 16,
    Lazy = 17,
    Ipu = 18,
    Mtia = 19,
    PrivateUse1 = 20,
    PrivateUse2 = 21,
    PrivateUse3 = 22,
}

/// Name and dispatch key of every type. PyTorch's deprecated types, which have no tensors, are left out.
const KINDS: [(DeviceType, &str, DispatchKey); 19] = [
    (DeviceType::Cpu, "cpu", DispatchKey::CPU),
    (DeviceType::Cuda, "cuda", DispatchKey::CUDA),
    (DeviceType::Hip, "hip", DispatchKey::HIP),
    (DeviceType::Fpga, "fpga", DispatchKey::FPGA),
    (DeviceType::Maia, "maia", DispatchKey::MAIA),
    (DeviceType::Xla, "xla", DispatchKey::XLA),
    (DeviceType::Vulkan, "vulkan", DispatchKey::Vulkan),
    (DeviceType::Metal, "metal", DispatchKey::Metal),
    (DeviceType::Xpu, "xpu", DispatchKey::XPU),
    (DeviceType::Mps, "mps", DispatchKey::MPS),
    (DeviceType::Meta, "meta", DispatchKey::Meta),
    (DeviceType::Hpu, "hpu", DispatchKey::HPU),
    (DeviceType::Ve, "ve", DispatchKey::VE),
    (DeviceType::Lazy, "lazy", DispatchKey::Lazy),
    (DeviceType::Ipu, "ipu", DispatchKey::IPU),
    (DeviceType::Mtia, "mtia", DispatchKey::MTIA),
    (DeviceType::PrivateUse1, "privateuseone", DispatchKey::PrivateUse1),
    (DeviceType::PrivateUse2, "privateusetwo", DispatchKey::PrivateUse2),
    (DeviceType::PrivateUse3, "privateusethree", DispatchKey::PrivateUse3),
];

impl DeviceType {
    fn row(self) -> &'static (DeviceType, &'static str, DispatchKey) {
        KINDS.iter().find(|(kind, ..)| *kind == self).expect("KINDS has every kind")
    }

    /// The type with this built-in name, as a constant. Names that private backends took are known only at run time.
    pub(crate) const fn of_name(name: &str) -> Option<DeviceType> {
        let mut index = 0;
        while index < KINDS.len() {
            let (kind, known, _) = KINDS[index];
            if are_same(name, known) {
                return Some(kind);
            }
            index += 1;
        }
        None
    }

    /// PyTorch's name: `cuda`. A private type also has the name that its backend took, which is printed.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The key at which kernels for this device type are registered.
    ///
    /// PyTorch: `computeDispatchKey`.
    #[inline]
    pub fn dispatch_key(self) -> DispatchKey {
        self.row().2
    }
}

impl fmt::Display for DeviceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.dispatch_key();
        let taken = key.to_string(); // a private backend's key prints under its new name
        f.pad(if taken == key.name() { self.name() } else { &taken })
    }
}

impl FromStr for DeviceType {
    type Err = Error;

    fn from_str(text: &str) -> Result<DeviceType> {
        let find = || {
            let renamed = DispatchKey::for_device(text).ok();
            KINDS.iter().find(|(_, name, key)| *name == text || Some(*key) == renamed)
        };
        let row = find().or_else(|| {
            <Program as BackendNames>::register_names();
            find()
        });
        match row {
            Some((kind, ..)) => Ok(*kind),
            None => {
                let known: Vec<String> = KINDS.iter().map(|(kind, ..)| kind.to_string()).collect();
                Err(Error::new(
                    ErrorKind::Device,
                    format!(
                        "unknown device type {text:?}, expected one of {}\n  help: a backend has its name once its \
                         crate is linked, `use that_crate as _;`",
                        known.join(", ")
                    ),
                ))
            }
        }
    }
}

/// A device: a type and, where there are several devices of it, an index.
///
/// ```
/// use torch_library::{Device, DeviceType};
///
/// let device: Device = "cuda:1".parse()?;
/// assert_eq!((device.kind, device.index), (DeviceType::Cuda, Some(1)));
/// assert_eq!(Device::CPU.to_string(), "cpu");
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// PyTorch: `c10::Device`, `torch.device`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Device {
    /// The device type.
    pub kind: DeviceType,
    /// The index among devices of its type; `None` is the current device.
    pub index: Option<u8>,
}

impl Device {
    /// The CPU.
    pub const CPU: Device = Device { kind: DeviceType::Cpu, index: None };
    /// The device of tensors without data.
    pub const META: Device = Device { kind: DeviceType::Meta, index: None };

    /// A device of a type.
    pub const fn new(kind: DeviceType, index: Option<u8>) -> Device {
        Device { kind, index }
    }
}

impl From<DeviceType> for Device {
    fn from(kind: DeviceType) -> Device {
        Device { kind, index: None }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "{}:{index}", self.kind),
            None => self.kind.fmt(f),
        }
    }
}

/// Parses `cpu` and `cuda:1`.
impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Device> {
        let Some((kind, index)) = text.split_once(':') else { return Ok(text.parse::<DeviceType>()?.into()) };
        let canonical = index == "0" || !index.starts_with(['0', '+']);
        match index.parse::<i8>() {
            Ok(number @ 0..) if canonical => Ok(Device::new(kind.parse()?, Some(number.unsigned_abs()))),
            _ => Err(Error::new(
                ErrorKind::Device,
                format!("device {text:?} has no valid index, expected 0 to 127 as in \"cuda:1\""),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_devices() {
        for (kind, name, _) in KINDS {
            assert_eq!(name.parse::<Device>().unwrap(), Device::from(kind));
            assert_eq!(format!("{name}:127").parse::<Device>().unwrap().to_string(), format!("{name}:127"));
        }
    }

    #[test]
    fn malformed_devices_say_what_is_expected() {
        for text in ["cuda:", "cuda:01", "cuda:-1", "cuda:128", "cuda:1:2", "cuda:+1", "cpu: 0", ""] {
            assert_eq!(text.parse::<Device>().unwrap_err().kind(), ErrorKind::Device, "{text}");
        }
        let error = "tpu".parse::<Device>().unwrap_err();
        assert!(error.to_string().starts_with("unknown device type \"tpu\", expected one of cpu, cuda, hip"));
        assert!(error.to_string().ends_with("once its crate is linked, `use that_crate as _;`"), "{error}");
    }
}
