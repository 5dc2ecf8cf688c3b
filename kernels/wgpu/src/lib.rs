//! A backend for [`torch-library`](mod@torch_library) on GPUs, by [wgpu](https://docs.rs/wgpu): Vulkan, Metal and Direct3D 12, without a
//! toolkit to install. It uses only the public interfaces of the runtime and of the operators.
//!
//! ```no_run
//! use torch_library::prelude::*;
//! use torch_library_kernels::prelude::*;
//! use torch_library_wgpu as _; // the linker drops crates that are not named
//!
//! fn main() -> Result<()> {
//!     let x = Tensor::from([[1f32, 2.0], [3.0, 4.0]]).to("wgpu".parse::<Device>()?)?;
//!     println!("{}", x.mm(&x)?.softmax(1)?);
//!     Ok(())
//! }
//! ```
//!
//! # What runs where
//!
//! Every dtype is *stored* at its full width, as on the host. Kernels *compute* in float32: element-wise operators, reductions, matrix
//! products, convolutions, pooling, norms, losses, indexing, random numbers and steps of optimisers. 16-bit floats are computed in
//! float32 and rounded once by each operator. Element-wise operators also support int32, uint8, bool, and int64 as far as pairs of words
//! allow. Copies convert between strides and among these types. The README of the crate has the table. Everything else, operators
//! without a kernel and other dtypes (float64, complex numbers) included, runs on the CPU by the runtime's fallback, exactly and at the
//! cost of two copies; [`fallback_counts`](torch_library::backend::fallback_counts) lists it. No number is narrowed to a smaller type.
//!
//! # Errors
//!
//! Running out of device memory is an error of the kind `OutOfMemory`. When a device is lost, so are its tensors: calls with them are
//! errors, and the next new tensor opens the device again.
//!
//! The devices are the adapters of the machine in wgpu's order, GPUs before software. The dispatch key is `PrivateUse2`, so that another
//! backend may have `PrivateUse1`.

mod backend;
mod call;
mod commands;
mod convolution;
mod copy;
mod fold;
mod fuse;
mod gpu;
mod halves;
mod launch;
mod matmul;
mod memory;
mod pointwise;
mod product;
mod reduce;
mod shader;
mod text;

pub use fuse::{Fused, fuse};
pub use gpu::{adapters, reset};

use torch_library::prelude::*;

/// The fallback for operators without a kernel here.
#[torch_fallback(PrivateUse2)]
fn on_the_cpu(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    torch_library_gpu::on_the_cpu::<call::Wgpu>(operator, keys, stack)
}
