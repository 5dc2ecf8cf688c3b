//! A backend for [`torch-library`](mod@torch_library) on NVIDIA's GPUs, by CUDA's driver, NVRTC and cuBLAS. All three are loaded when a device
//! is first asked for: the crate builds, and programs with it start, where there is no CUDA. It is written against the
//! public face of the runtime and of the operators alone.
//!
//! ```no_run
//! use torch_library::prelude::*;
//! use torch_library_cuda as _; // the linker leaves out what nobody names
//! use torch_library_kernels::prelude::*;
//!
//! fn main() -> Result<()> {
//!     let x = Tensor::from([[1f32, 2.0], [3.0, 4.0]]).to("cuda".parse::<Device>()?)?;
//!     println!("{}", x.mm(&x)?.softmax(1)?);
//!     Ok(())
//! }
//! ```
//!
//! # What runs where
//!
//! Kernels are CUDA C, written when a call of new types and dimensions comes, and compiled by NVRTC once for each device.
//! Element-wise operators are made from the [expressions](mod@torch_library_gpu) that the backend on wgpu has too. Float32,
//! float64, float16, bfloat16, whole numbers and bool are computed as they are, those of 16 bits in float32, rounded once by
//! each operator. The README of the crate has the table of operators. What has no kernel, complex numbers included, runs on
//! the CPU by the runtime's fallback; [`fallback_counts`](torch_library::backend::fallback_counts) says what that was.
//!
//! # Errors
//!
//! What does not fit into the memory of the device is an error of the kind `OutOfMemory`; no driver, no GPU, no compiler one
//! of the kind `Device`, which says where they come from. A device that is lost takes its tensors with it: calls on these are
//! errors, and the next tensor is made on the device as it is then.
//!
//! # How it is tested
//!
//! The tests ran on an NVIDIA H200. Where there is no GPU they run the crate on a driver, a compiler and a cuBLAS of their own,
//! which compute on the host; each source that they compile has to pass NVRTC too where it is found.

mod backend;
mod blas;
mod call;
mod compiler;
mod convolution;
mod copy;
mod driver;
mod gpu;
mod kernel;
mod matmul;
mod memory;
mod pointwise;
mod reduce;
mod text;

pub use gpu::{devices, reset};

use torch_library::prelude::*;

/// What has no kernel here.
#[torch_fallback(CUDA)]
fn on_the_cpu(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    torch_library_gpu::on_the_cpu::<call::Cuda>(operator, keys, stack)
}
