//! Data in and out: `.npy` files, safetensors, arrays, and DLPack for memory that other libraries share.
//!
//! | to … | see |
//! |---|---|
//! | exchange a tensor with NumPy | [`npy`] |
//! | load and save the weights of a model | `safetensors`, with the feature of that name |
//! | take and give arrays of `ndarray` | `ndarray`, with the feature of that name |
//! | hand memory to another library, or take it from one, without a copy | [`dlpack`] |

use torch_library::Storage;
use torch_library::prelude::*;

use crate::aten;

pub mod dlpack;
#[cfg(feature = "ndarray")]
pub mod ndarray;
pub mod npy;
#[cfg(feature = "safetensors")]
pub mod safetensors;

/// The bytes of the elements in row-major order, the lowest byte of each first.
fn bytes(tensor: &Tensor) -> Result<Vec<u8>> {
    check_order()?;
    let dense = aten::_to_copy::with(tensor)
        .device(Some(Device::CPU))
        .memory_format(Some(MemoryFormat::Contiguous))
        .call()?;
    if dense.numel() == 0 {
        return Ok(Vec::new());
    }
    as_bytes(dense.storage())?.to_vec()
}

/// A tensor of such bytes.
fn from_bytes(dtype: DType, sizes: &[i64], bytes: &[u8]) -> Result<Tensor> {
    check_order()?;
    let tensor = Tensor::empty(sizes, dtype, Device::CPU)?;
    ensure!(
        usize::try_from(tensor.numel()).ok().and_then(|count| count.checked_mul(dtype.size()))
            == Some(bytes.len()),
        Shape,
        "{} bytes are not those of sizes {sizes:?} of {dtype}",
        bytes.len()
    );
    if !bytes.is_empty() {
        as_bytes(tensor.storage())?.copy_from_slice(bytes)?;
    }
    Ok(tensor)
}

/// The same memory, byte by byte.
fn as_bytes(storage: &Storage) -> Result<Tensor> {
    let keys = DispatchKeySet::from_key(DispatchKey::CPU);
    Tensor::from_storage(storage.clone(), &[storage.nbytes() as i64], &[1], 0, DType::UInt8, keys)
}

fn check_order() -> Result<()> {
    ensure!(
        cfg!(target_endian = "little"),
        NotSupported,
        "files have the lowest byte first, this machine has not"
    );
    Ok(())
}
