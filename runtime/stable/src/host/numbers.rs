//! Types, devices, layouts and formats for the ABI's numbers, which are PyTorch's.

use torch_library::{DType, Device, DeviceType, Error, ErrorKind, Layout, MemoryFormat, Result};

/// The device types that have numbers in the ABI.
const DEVICES: [DeviceType; 6] = [
    DeviceType::Cpu,
    DeviceType::Cuda,
    DeviceType::Meta,
    DeviceType::Xpu,
    DeviceType::Mps,
    DeviceType::PrivateUse1,
];

/// The element type with a number.
///
/// # Errors
/// No tensor here has this type.
pub(crate) fn dtype(number: i32) -> Result<DType> {
    let unknown = || Error::new(ErrorKind::DType, format!("no tensor here has the element type {number}"));
    DType::all().find(|dtype| *dtype as i32 == number).ok_or_else(unknown)
}

/// The layout with a number.
///
/// # Errors
/// No layout has this number.
pub(crate) fn layout(number: i32) -> Result<Layout> {
    let known = u8::try_from(number).ok().and_then(Layout::from_number);
    known.ok_or_else(|| Error::new(ErrorKind::Argument, format!("{number} is no layout")))
}

/// The memory format with a number.
///
/// # Errors
/// No memory format has this number.
pub(crate) fn memory_format(number: i32) -> Result<MemoryFormat> {
    let known = u8::try_from(number).ok().and_then(MemoryFormat::from_number);
    known.ok_or_else(|| Error::new(ErrorKind::Argument, format!("{number} is no memory format")))
}

/// The device with two numbers; a negative index stands for none.
///
/// # Errors
/// The device type is unknown, or the index larger than any.
pub(crate) fn device(kind: i32, index: i32) -> Result<Device> {
    let unknown = || Error::new(ErrorKind::Device, format!("no device here is of type {kind}"));
    let kind = DEVICES.into_iter().find(|known| *known as i32 == kind).ok_or_else(unknown)?;
    if kind == DeviceType::Cpu {
        return Ok(Device::CPU);
    }
    let too_large = |_| Error::new(ErrorKind::Device, format!("no device here has the index {index}"));
    let place = (index >= 0).then(|| u8::try_from(index)).transpose().map_err(too_large)?;
    Ok(Device::new(kind, place))
}

/// The type and the device for a new tensor.
///
/// # Errors
/// One of the numbers is unknown.
pub(crate) fn dtype_and_device(dtype_number: i32, kind: i32, index: i32) -> Result<(DType, Device)> {
    Ok((dtype(dtype_number)?, device(kind, index)?))
}

/// The index of a device, or -1.
pub(crate) fn index(device: Device) -> i32 {
    device.index.map_or(-1, i32::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_both_ways() {
        for known in DType::all() {
            assert_eq!(dtype(known as i32).unwrap(), known);
        }
        let kinds = [(0, 0, "cpu"), (1, 1, "cuda:1"), (14, -1, "meta")];
        for (kind, given, text) in kinds {
            assert_eq!(device(kind, given).unwrap().to_string(), text);
        }
        assert_eq!(index(Device::CPU), -1);
        assert_eq!(layout(3).unwrap().name(), "_mkldnn");
        assert_eq!(memory_format(2).unwrap(), MemoryFormat::ChannelsLast);
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        assert_eq!(dtype(45).unwrap_err().to_string(), "no tensor here has the element type 45");
        assert_eq!(device(1, 256).unwrap_err().to_string(), "no device here has the index 256");
        assert_eq!(device(99, 0).unwrap_err().to_string(), "no device here is of type 99");
        assert_eq!(layout(-1).unwrap_err().to_string(), "-1 is no layout");
        assert_eq!(memory_format(300).unwrap_err().to_string(), "300 is no memory format");
    }
}
