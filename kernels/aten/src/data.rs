//! Import and export: `.npy` files, safetensors, `ndarray` arrays, and DLPack, to share memory with other libraries.
//!
//! | to … | see |
//! |---|---|
//! | exchange a tensor with NumPy | [`npy`] |
//! | load and save the weights of a model | `safetensors`, with the feature of that name |
//! | take and give arrays of `ndarray` | `ndarray`, with the feature of that name |
//! | hand memory to another library, or take it from one, without a copy | [`dlpack`] |

use torch_library::geometry::numel;
use torch_library::prelude::*;

use crate::aten;

pub mod dlpack;
#[cfg(feature = "ndarray")]
pub mod ndarray;
pub mod npy;
#[cfg(feature = "safetensors")]
pub mod safetensors;

/// The bytes of the elements in row-major order, each in little-endian byte order.
fn bytes(tensor: &Tensor) -> Result<Vec<u8>> {
    check_order()?;
    let dense =
        aten::_to_copy::with(tensor).device(Device::CPU).memory_format(MemoryFormat::Contiguous).call()?;
    if dense.numel() == 0 {
        return Ok(Vec::new());
    }
    Ok(dense.storage().bytes()?.to_vec())
}

/// The largest number of dimensions that is read from a file, as in NumPy.
const MAX_DIMS: usize = 64;

/// A tensor of the given bytes. A file may claim any sizes: memory is only allocated if the number of bytes matches
/// them.
fn from_bytes(dtype: DType, sizes: &[i64], bytes: &[u8]) -> Result<Tensor> {
    check_order()?;
    ensure!(
        nbytes(dtype, sizes)? == bytes.len() as u64,
        Shape,
        "{} bytes do not fit sizes {sizes:?} of {dtype}",
        bytes.len()
    );
    if dtype == DType::Bool
        && let Some(byte) = bytes.iter().find(|byte| **byte > 1)
    {
        bail!(Argument, "the byte {byte} is not a bool, expected 0 or 1");
    }
    let tensor = Tensor::empty(sizes, dtype, Device::CPU)?;
    if !bytes.is_empty() {
        tensor.storage().bytes_mut()?.copy_from_slice(bytes);
    }
    Ok(tensor)
}

/// The size of a tensor's elements in bytes.
fn nbytes(dtype: DType, sizes: &[i64]) -> Result<u64> {
    ensure!(sizes.len() <= MAX_DIMS, Shape, "{} dimensions, at most {MAX_DIMS} are supported", sizes.len());
    let nbytes = numel(sizes)?.unsigned_abs().checked_mul(dtype.size() as u64);
    nbytes.ok_or_else(|| {
        Error::new(ErrorKind::Shape, format!("sizes {sizes:?} of {dtype} exceed the address space"))
    })
}

/// The beginning of a text from a file, for error messages.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn check_order() -> Result<()> {
    ensure!(cfg!(target_endian = "little"), NotSupported, "files are little-endian, this machine is not");
    Ok(())
}
