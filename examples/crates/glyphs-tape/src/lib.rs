//! A made-up backend: pictures on tape, as runs of equal ink. A third party's crate, which `glyphs` does not know of.
//!
//! It takes the name `tape` for the key `PrivateUse1`, has memory of its own, kernels for the operators of `glyphs` that
//! work on whole runs instead of pixels, and those kernels for `aten` by which tensors come and go.

use torch_library::{
    DType, Device, DeviceType, DispatchKey, DispatchKeySet, Result, Storage, Tensor, geometry,
    register_backend_name,
};

mod aten;
mod glyphs;
mod tape;

pub use tape::{Run, Tape};

/// The device; asking for it names the backend, once in a process.
///
/// ```
/// use torch_library::{Device, Tensor};
/// use torch_library_kernels::aten;
///
/// let x = Tensor::from([0f32, 0.0, 0.0, 1.0]);
/// let taped = aten::_to_copy::with(&x).device(Some(glyphs_tape::device()?)).call()?;
/// assert_eq!(taped.device().to_string(), "tape");
/// let back = aten::_to_copy::with(&taped).device(Device::CPU).call()?;
/// assert_eq!(back.to_vec::<f32>()?, x.to_vec::<f32>()?);
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// # Errors
/// Another backend took the key, under another name.
pub fn device() -> Result<Device> {
    register_backend_name(DispatchKey::PrivateUse1, "tape")?;
    Ok(DeviceType::PrivateUse1.into())
}

/// A tape as a tensor.
fn tensor(tape: Tape, sizes: &[i64]) -> Result<Tensor> {
    let strides = geometry::contiguous_strides(sizes);
    let keys = DispatchKeySet::of_tensor(DispatchKey::PrivateUse1);
    Tensor::from_storage(Storage::new(tape), sizes, &strides, 0, DType::Float32, keys)
}
