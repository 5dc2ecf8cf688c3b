//! What the numbers of an archive's enumerations stand for. They are those of PyTorch's `torch/_export/serde`, not of
//! its C++.

use torch_library::prelude::*;
use torch_library::{DType, Layout, MemoryFormat};

/// An element type.
///
/// # Errors
/// One that is unknown, or that this version does not carry.
pub(crate) fn dtype(number: u64) -> Result<DType> {
    Ok(match number {
        1 => DType::UInt8,
        2 => DType::Int8,
        3 => DType::Int16,
        4 => DType::Int32,
        5 => DType::Int64,
        6 => DType::Float16,
        7 => DType::Float32,
        8 => DType::Float64,
        9 => DType::Complex32,
        10 => DType::Complex64,
        11 => DType::Complex128,
        12 => DType::Bool,
        13 => DType::BFloat16,
        28 => DType::UInt16,
        34 => DType::UInt32,
        35 => DType::UInt64,
        29..=33 => {
            bail!(NotSupported, "the archive has tensors of eight-bit floats, which there are none of here")
        }
        _ => bail!(NotSupported, "the archive has an element type of number {number}, which is unknown"),
    })
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
