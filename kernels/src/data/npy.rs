//! NumPy's `.npy` files.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_kernels::data::npy;
//!
//! let mut file = Vec::new();
//! npy::write(&Tensor::from([[1.5f32, 2.5]]), &mut file)?;
//! let x = npy::read(&file[..])?;
//! assert_eq!((x.sizes(), x.to_vec::<f32>()?), (&[1, 2][..], vec![1.5, 2.5]));
//! # Ok::<(), Error>(())
//! ```

use std::io::{Read, Write};

use torch_library::geometry::contiguous_strides;
use torch_library::prelude::*;

use super::{bytes, from_bytes};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// NumPy's names for the types that it has.
const TYPES: [(DType, &str); 14] = [
    (DType::Bool, "|b1"),
    (DType::UInt8, "|u1"),
    (DType::Int8, "|i1"),
    (DType::Int16, "<i2"),
    (DType::Int32, "<i4"),
    (DType::Int64, "<i8"),
    (DType::UInt16, "<u2"),
    (DType::UInt32, "<u4"),
    (DType::UInt64, "<u8"),
    (DType::Float16, "<f2"),
    (DType::Float32, "<f4"),
    (DType::Float64, "<f8"),
    (DType::Complex64, "<c8"),
    (DType::Complex128, "<c16"),
];

/// Writes a tensor as a file of version 1.
///
/// # Errors
/// A type that NumPy has not (`bfloat16`), memory that the host does not reach, a failing writer.
///
/// PyTorch: `numpy.save` of `Tensor.numpy()`.
pub fn write(tensor: &Tensor, mut writer: impl Write) -> Result<()> {
    let dtype = tensor.dtype();
    let Some((_, name)) = TYPES.iter().find(|(known, _)| *known == dtype) else {
        bail!(DType, "NumPy has no {dtype}, convert to another type first")
    };
    let sizes: String = tensor.sizes().iter().map(|size| format!("{size}, ")).collect();
    let mut header =
        format!("{{'descr': '{name}', 'fortran_order': False, 'shape': ({}), }}", sizes.trim_end());
    // The elements start at a multiple of 64 bytes, behind magic, version, length and a line break.
    let length = (MAGIC.len() + 4 + header.len() + 1).next_multiple_of(64) - MAGIC.len() - 4;
    header.push_str(&" ".repeat(length - header.len() - 1));
    header.push('\n');
    let elements = bytes(tensor)?;
    let parts = [&MAGIC[..], &[1, 0], &(length as u16).to_le_bytes(), header.as_bytes(), &elements];
    parts.into_iter().try_for_each(|part| writer.write_all(part)).map_err(Error::from)
}

/// Reads a file of any version.
///
/// # Errors
/// What is no such file, one of a type or byte order that is not supported, one that ends too early.
///
/// PyTorch: `torch.from_numpy(numpy.load(...))`.
pub fn read(mut reader: impl Read) -> Result<Tensor> {
    let mut file = Vec::new();
    reader.read_to_end(&mut file).map_err(Error::from)?;
    let Some((header, elements)) = parts(&file) else {
        bail!(Argument, "this is no .npy file, or the beginning of one")
    };
    let Some(description) = entry(header, "descr").and_then(|text| text.split(['\'', '"']).nth(1)) else {
        bail!(NotSupported, "an .npy file of records or without a type: {header}")
    };
    let Some((dtype, _)) = TYPES.iter().find(|(_, name)| *name == description) else {
        bail!(NotSupported, "an .npy file of elements {description:?}, which are not supported")
    };
    let sizes = entry(header, "shape").and_then(|text| text.strip_prefix('(')?.split_once(')'));
    let sizes: Option<Vec<i64>> = sizes.and_then(|(sizes, _)| {
        let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
        sizes.map(|size| size.parse().ok()).collect()
    });
    let Some(sizes) = sizes else { bail!(Argument, "an .npy file without a shape: {header}") };
    let is_transposed = entry(header, "fortran_order").is_some_and(|text| text.starts_with("True"));
    if !is_transposed {
        return from_bytes(*dtype, &sizes, elements);
    }
    let reversed: Vec<i64> = sizes.iter().rev().copied().collect();
    let strides: Vec<i64> = contiguous_strides(&reversed).into_iter().rev().collect();
    from_bytes(*dtype, &reversed, elements)?.strided_view(&sizes, &strides, 0)
}

/// The header and the elements of a file.
fn parts(file: &[u8]) -> Option<(&str, &[u8])> {
    let rest = file.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_at_checked(2)?;
    let (length, rest) = match version[0] {
        1 => rest.split_first_chunk().map(|(length, rest)| (u16::from_le_bytes(*length).into(), rest))?,
        _ => rest.split_first_chunk().map(|(length, rest)| (u32::from_le_bytes(*length), rest))?,
    };
    let (header, elements) = rest.split_at_checked(length as usize)?;
    Some((std::str::from_utf8(header).ok()?, elements))
}

/// What stands behind a name in the header.
fn entry<'h>(header: &'h str, name: &str) -> Option<&'h str> {
    let (_, rest) = header.split_once(name)?;
    Some(rest.split_once(':')?.1.trim_start())
}
