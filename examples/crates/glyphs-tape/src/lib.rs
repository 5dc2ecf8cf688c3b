//! A made-up backend: pictures on tape, as runs of equal ink. A third party's crate, which `glyphs` does not know of.
//!
//! It has memory of its own, takes the name `tape` for the key `PrivateUse1`, and has its kernels for the operators of
//! `glyphs`, which work on whole runs instead of pixels.

use torch_library::{
    DType, Device, DeviceType, DispatchKey, DispatchKeySet, Result, Storage, Tensor, geometry,
    register_backend_name,
};

mod kernels;
mod tape;

pub use tape::{Run, Tape};

/// The device; asking for it names the backend, once in a process.
///
/// # Errors
/// Another backend took the key, under another name.
pub fn device() -> Result<Device> {
    register_backend_name(DispatchKey::PrivateUse1, "tape")?;
    Ok(DeviceType::PrivateUse1.into())
}

/// The pictures of a `float32` tensor in the host's memory, on tape. The way back is `glyphs::host`.
///
/// # Errors
/// A tensor of another type or device; another backend under the same key.
pub fn record(images: &Tensor) -> Result<Tensor> {
    device()?;
    tensor(images.to_vec::<f32>()?.into_iter().collect(), images.sizes())
}

/// A tape as a tensor.
fn tensor(tape: Tape, sizes: &[i64]) -> Result<Tensor> {
    let strides = geometry::contiguous_strides(sizes);
    let keys = DispatchKeySet::of_tensor(DispatchKey::PrivateUse1);
    Tensor::from_storage(Storage::new(tape), sizes, &strides, 0, DType::Float32, keys)
}
