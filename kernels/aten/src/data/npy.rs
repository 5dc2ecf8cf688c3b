//! Reads and writes NumPy's `.npy` files.
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

// By hand: `npyz` 0.9 allocates the length that the header claims, up to 4 GiB, before it reads any of it, reads one
// element type at a time, where a tensor takes the bytes of any, and brings a parser of Python's literals (`pest`,
// `num-bigint`) for a header of three entries.

use std::io::{Read, Write};

use torch_library::geometry::contiguous_strides;
use torch_library::prelude::*;

use super::{bytes, from_bytes, nbytes, shortened};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The longest header that is read: version 1 cannot have a longer one, and later versions need one only for records.
const LONGEST_HEADER: usize = 0xffff;

/// NumPy's names for the dtypes that it has.
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

/// Writes a tensor as an `.npy` file of version 1.
///
/// # Errors
/// A dtype that NumPy lacks (`bfloat16`), memory that the host cannot access, a writer that fails.
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
    // The elements start at a multiple of 64 bytes, after the magic string, the version, the length, the header and a
    // line break.
    let length = (MAGIC.len() + 4 + header.len() + 1).next_multiple_of(64) - MAGIC.len() - 4;
    header.push_str(&" ".repeat(length - header.len() - 1));
    header.push('\n');
    let Ok(length) = u16::try_from(length) else {
        bail!(Shape, "{} dimensions do not fit into the header of an .npy file", tensor.dim())
    };
    let elements = bytes(tensor)?;
    let parts = [&MAGIC[..], &[1, 0], &length.to_le_bytes(), header.as_bytes(), &elements];
    parts.into_iter().try_for_each(|part| writer.write_all(part)).map_err(Error::from)
}

/// Reads an `.npy` file of any version and in either byte order, to its end.
///
/// It reads no more than the header announces, and allocates no more memory than the reader has data: a file may claim
/// more elements than would fit into memory.
///
/// # Errors
/// Input that is not an `.npy` file, a dtype that is not supported, a file that is too short or too long,
/// a reader that fails.
///
/// PyTorch: `torch.from_numpy(numpy.load(...))`.
pub fn read(mut reader: impl Read) -> Result<Tensor> {
    let Some(header) = header(&mut reader)? else {
        bail!(Argument, "this is not an .npy file, or only the beginning of one")
    };
    let Header { dtype, is_swapped, sizes, is_transposed } = Header::parse(&header)?;
    // Reading one more byte shows whether the file is too long.
    let mut elements = Vec::new();
    reader.take(nbytes(dtype, &sizes)?.saturating_add(1)).read_to_end(&mut elements)?;
    if is_swapped {
        // A complex number is two numbers.
        let width = if dtype.is_complex() { dtype.size() / 2 } else { dtype.size() };
        elements.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
    if !is_transposed {
        return from_bytes(dtype, &sizes, &elements);
    }
    let reversed: Vec<i64> = sizes.iter().rev().copied().collect();
    let strides: Vec<i64> = contiguous_strides(&reversed).into_iter().rev().collect();
    from_bytes(dtype, &reversed, &elements)?.strided_view(&sizes, &strides, 0)
}

/// The header of a file, as text.
fn header(reader: &mut impl Read) -> Result<Option<String>> {
    let mut next = |count: usize| {
        let mut bytes = Vec::new();
        reader.by_ref().take(count as u64).read_to_end(&mut bytes)?;
        Ok::<_, Error>((bytes.len() == count).then_some(bytes))
    };
    let Some(start) = next(MAGIC.len() + 2)? else { return Ok(None) };
    let length = match start.strip_prefix(MAGIC) {
        Some([1, _]) => next(2)?,
        Some([2 | 3, _]) => next(4)?,
        Some([version, _]) => bail!(NotSupported, "an .npy file of version {version}, expected 1 to 3"),
        _ => return Ok(None),
    };
    let Some(length) = length else { return Ok(None) };
    let length = length.iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte));
    ensure!(
        length <= LONGEST_HEADER,
        Argument,
        "an .npy file with a header of {length} bytes, at most {LONGEST_HEADER} are read"
    );
    Ok(next(length)?.and_then(|header| String::from_utf8(header).ok()))
}

/// The contents of a header.
struct Header {
    dtype: DType,
    /// Whether the bytes of each number are in the other order, the most significant one first.
    is_swapped: bool,
    sizes: Vec<i64>,
    is_transposed: bool,
}

impl Header {
    fn parse(text: &str) -> Result<Header> {
        let Some(description) = entry(text, "descr").and_then(|text| text.split(['\'', '"']).nth(1)) else {
            bail!(NotSupported, "an .npy file of records or without a type: {:?}", shortened(text))
        };
        let known = |(_, name): &&(DType, &str)| match (name.strip_prefix('<'), description.strip_prefix('>'))
        {
            (Some(name), Some(description)) => name == description,
            _ => *name == description,
        };
        let Some((dtype, _)) = TYPES.iter().find(known) else {
            let description = shortened(description);
            bail!(NotSupported, "an .npy file of elements {description:?}, which are not supported")
        };
        let sizes = entry(text, "shape").and_then(|text| text.strip_prefix('(')?.split_once(')'));
        let sizes: Option<Vec<i64>> = sizes.and_then(|(sizes, _)| {
            let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
            sizes.map(|size| size.parse().ok()).collect()
        });
        let Some(sizes) = sizes else {
            bail!(Argument, "an .npy file without a shape: {:?}", shortened(text))
        };
        let is_transposed = match entry(text, "fortran_order") {
            Some(order) if order.starts_with("True") => true,
            Some(order) if order.starts_with("False") => false,
            _ => bail!(Argument, "an .npy file without an order: {:?}", shortened(text)),
        };
        Ok(Header { dtype: *dtype, is_swapped: description.starts_with('>'), sizes, is_transposed })
    }
}

/// The value of a key in the header, and the text after it.
fn entry<'h>(header: &'h str, name: &str) -> Option<&'h str> {
    let (_, rest) = header.split_once(name)?;
    Some(rest.split_once(':')?.1.trim_start())
}
