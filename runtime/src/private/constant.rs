//! Defaults of arguments as constants: the values of the numbers and names in a schema.
//!
//! `torch_library!` passes only valid numbers and names, so none of these fails.

use crate::device::{Device, DeviceType};
use crate::dtype::DType;
use crate::layout::{Layout, MemoryFormat};

/// The dtype with this PyTorch number.
pub const fn dtype(number: u8) -> DType {
    DType::from_number(number).expect("a dtype of this version")
}

/// The layout with this PyTorch number.
pub const fn layout(number: u8) -> Layout {
    Layout::from_number(number).expect("a layout")
}

/// The memory format with this PyTorch number.
pub const fn memory_format(number: u8) -> MemoryFormat {
    MemoryFormat::from_number(number).expect("a memory format")
}

/// A device, by the built-in name of its type.
pub const fn device(kind: &str, index: Option<u8>) -> Device {
    Device::new(DeviceType::of_name(kind).expect("a kind of device"), index)
}
