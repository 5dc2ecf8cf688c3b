//! Defaults of arguments as constants: what the numbers and names in a schema stand for.
//!
//! `torch_library!` passes only what there is, so none of these fails.

use crate::device::{Device, DeviceType};
use crate::dtype::DType;
use crate::layout::{Layout, MemoryFormat};

/// The dtype of a PyTorch number.
pub const fn dtype(number: u8) -> DType {
    DType::from_number(number).expect("a dtype of this version")
}

/// The layout of a PyTorch number.
pub const fn layout(number: u8) -> Layout {
    Layout::from_number(number).expect("a layout")
}

/// The memory format of a PyTorch number.
pub const fn memory_format(number: u8) -> MemoryFormat {
    MemoryFormat::from_number(number).expect("a memory format")
}

/// A device, by the stock name of its kind.
pub const fn device(kind: &str, index: Option<u8>) -> Device {
    Device::new(DeviceType::of_name(kind).expect("a kind of device"), index)
}
