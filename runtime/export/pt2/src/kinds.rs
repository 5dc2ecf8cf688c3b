//! The element types for the numbers in an archive. They are those of PyTorch's `torch/_export/serde`, not of its C++
//! code.

use crate::error::{Result, bail};

/// The name of an element type: `float32`.
///
/// # Errors
/// The number is unknown, or stands for a type that is not supported.
pub fn dtype(number: u64) -> Result<&'static str> {
    Ok(match number {
        1 => "uint8",
        2 => "int8",
        3 => "int16",
        4 => "int32",
        5 => "int64",
        6 => "float16",
        7 => "float32",
        8 => "float64",
        9 => "complex32",
        10 => "complex64",
        11 => "complex128",
        12 => "bool",
        13 => "bfloat16",
        28 => "uint16",
        34 => "uint32",
        35 => "uint64",
        29 => "float8_e4m3fn",
        30 => "float8_e5m2",
        31 => "float8_e4m3fnuz",
        32 => "float8_e5m2fnuz",
        33 => "float8_e8m0fnu",
        _ => {
            bail!(NotSupported, "the archive has an element type with the number {number}, which is unknown")
        }
    })
}
