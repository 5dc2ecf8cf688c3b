//! A made-up backend: pictures on tape, as runs of equal ink. A third-party crate, which `glyphs` does not know of.
//!
//! It takes the name `tape` for the key `PrivateUse1`, has memory of its own, implements the core's hooks for making
//! and copying tensors, and has kernels for those operators of `glyphs` that work on whole runs instead of pixels. All
//! other operators fall back to the CPU.

use torch_library::{
    DType, Device, DeviceType, DispatchKey, DispatchKeySet, Result, Storage, Tensor, backend, geometry,
};

mod device;
mod glyphs;
mod tape;

pub use tape::{Run, Tape};

/// The device of this backend.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_aten::prelude::*;
///
/// let x = Tensor::from([0f32, 0.0, 0.0, 1.0]);
/// let taped = x.to(glyphs_tape::device()?)?;
/// assert_eq!(taped.to_string(), "tensor([0., 0., 0., 1.], device='tape:0')");
/// assert_eq!(taped.to(Device::CPU)?.to_vec::<f32>()?, x.to_vec::<f32>()?);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Another backend has registered the key under another name.
pub fn device() -> Result<Device> {
    backend::current_device(DeviceType::PrivateUse1)
}

/// Makes a tensor of a tape.
fn tensor(tape: Tape, sizes: &[i64]) -> Result<Tensor> {
    let strides = geometry::contiguous_strides(sizes);
    let keys = DispatchKeySet::of_tensor(DispatchKey::PrivateUse1);
    Tensor::from_storage(Storage::new(tape), sizes, &strides, 0, DType::Float32, keys)
}
