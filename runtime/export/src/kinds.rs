//! What the numbers of an archive's enumerations stand for. They are those of PyTorch's `torch/_export/serde`, not of
//! its C++.

use torch_library::prelude::*;
use torch_library::{DType, Layout, MemoryFormat};

use crate::refused;

/// An element type.
///
/// # Errors
/// One that is unknown, or that this version does not carry.
pub(crate) fn dtype(number: u64) -> Result<DType> {
    torch_library_pt2::kinds::dtype(number).map_err(refused)?.parse()
}

/// A layout.
///
/// # Errors
/// Any but the strided one.
pub(crate) fn layout(number: u64) -> Result<Layout> {
    match number {
        7 => Ok(Layout::Strided),
        1..=6 => bail!(NotSupported, "the archive has sparse tensors, which there are none of here"),
        _ => bail!(NotSupported, "the archive has a layout of number {number}, which is unknown"),
    }
}

/// A memory format.
///
/// # Errors
/// One that is unknown.
pub(crate) fn memory_format(number: u64) -> Result<MemoryFormat> {
    Ok(match number {
        1 => MemoryFormat::Contiguous,
        2 => MemoryFormat::ChannelsLast,
        3 => MemoryFormat::ChannelsLast3d,
        4 => MemoryFormat::Preserve,
        _ => bail!(NotSupported, "the archive has a memory format of number {number}, which is unknown"),
    })
}
