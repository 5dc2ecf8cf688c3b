//! A backend for [`torch-library`](mod@torch_library) on GPUs, by [wgpu](https://docs.rs/wgpu): Vulkan, Metal and Direct3D 12, without a
//! toolkit to install. It is written against the public face of the runtime and of the operators alone.
//!
//! ```no_run
//! use torch_library::prelude::*;
//! use torch_library_kernels::prelude::*;
//! use torch_library_wgpu as _; // the linker leaves out what nobody names
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
//! Every dtype is *held* at its full width, as on the host. Kernels *compute* with float32: element-wise operators,
//! reductions, products of matrices, convolutions, pooling, norms, losses, look-ups by index, random numbers, steps of
//! optimisers; with 16-bit floats as float32, rounded once by each operator; and element by element with int32, uint8,
//! bool, and with int64 where pairs of words can do it. Copies go between
//! strides and among these types. The README of the crate has the table. All else, operators without a kernel and those
//! of other dtypes (float64, complex numbers) included, runs on the CPU by the runtime's fallback,
//! exactly and at the cost of two copies; [`fallback_counts`](torch_library::backend::fallback_counts) says what that
//! was. Nothing is narrowed.
//!
//! # Errors
//!
//! What does not fit into the memory of the device is an error of the kind `OutOfMemory`. A device that is lost takes
//! its tensors with it: calls on these are errors, and the next tensor is made on the device that is there then.
//!
//! The devices are the adapters of the machine in wgpu's order, GPUs before software. The key is `PrivateUse2`, so that
//! another backend may have the first.

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

/// What has no kernel here.
#[torch_fallback(PrivateUse2)]
fn on_the_cpu(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    torch_library_gpu::on_the_cpu::<call::Wgpu>(operator, keys, stack)
}
