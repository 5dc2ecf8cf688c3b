//! The meaning of the numbers of an archive's enumerations. They are those of PyTorch's `torch/_export/serde`, not of
//! its C++ code.

use torch_library::prelude::*;
use torch_library::{DType, Layout, MemoryFormat};

use crate::refused;

/// The element type with a number.
///
/// # Errors
/// The number is unknown, or stands for a type that this version does not support.
pub(crate) fn dtype(number: u64) -> Result<DType> {
    torch_library_pt2::kinds::dtype(number).map_err(refused)?.parse()
}

/// The layout with a number.
///
/// # Errors
/// Any layout but the strided one.
pub(crate) fn layout(number: u64) -> Result<Layout> {
    match number {
        7 => Ok(Layout::Strided),
        1..=6 => bail!(NotSupported, "the archive has sparse tensors, which are not supported"),
        _ => bail!(NotSupported, "the archive has a layout with the number {number}, which is unknown"),
    }
}

/// The memory format with a number.
///
/// # Errors
/// The number is unknown.
pub(crate) fn memory_format(number: u64) -> Result<MemoryFormat> {
    Ok(match number {
        1 => MemoryFormat::Contiguous,
        2 => MemoryFormat::ChannelsLast,
        3 => MemoryFormat::ChannelsLast3d,
        4 => MemoryFormat::Preserve,
        _ => {
            bail!(NotSupported, "the archive has a memory format with the number {number}, which is unknown")
        }
    })
}
