//! A backend for [`torch-library`](mod@torch_library) on NVIDIA's GPUs, by CUDA's driver, NVRTC and cuBLAS. All three are loaded when a device
//! is first asked for: the crate builds without CUDA, and programs with it start without CUDA. It uses only the public interfaces of the
//! runtime and of the operators.
//!
//! ```no_run
//! use torch_library::prelude::*;
//! use torch_library_cuda as _; // the linker drops crates that are not named
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
//! Kernels are CUDA C, generated for a call with new types and numbers of dimensions, and compiled by NVRTC once for each device. Element-wise
//! operators are made from the [expressions](mod@torch_library_gpu) that the wgpu backend uses too. Float32, float64, integers and bool are
//! computed in their own type, float16 and bfloat16 in float32, rounded once by each operator. The README of the crate has the table of
//! operators. Everything without a kernel, complex numbers included, runs on the CPU by the runtime's fallback;
//! [`fallback_counts`](torch_library::backend::fallback_counts) lists it.
//!
//! # Errors
//!
//! Running out of device memory is an error of the kind `OutOfMemory`; a missing driver, GPU or compiler is one of the kind `Device`, which
//! says where to get it. When a device is lost, so are its tensors: calls with them are errors, and the next new tensor opens the device
//! again.
//!
//! # How it is tested
//!
//! The tests were run on an NVIDIA H200. Where there is no GPU, they run the crate on an emulated driver, compiler and cuBLAS, which compute
//! on the host; if NVRTC is found, it also has to accept each source that they compile.

mod backend;
mod blas;
mod call;
mod compiler;
mod convolution;
mod copy;
mod driver;
mod functions;
mod gpu;
mod kernel;
mod matmul;
mod memory;
mod pointwise;
mod reduce;
mod text;

pub use gpu::{devices, reset};

use torch_library::DeviceType;
use torch_library::prelude::*;
use torch_library_kernels::autocast::policy_fallback;

/// PyTorch's autocast policies for CUDA.
#[torch_fallback(AutocastCUDA)]
fn autocast(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    policy_fallback(DeviceType::Cuda, operator, keys, stack)
}

/// The fallback for operators without a kernel here.
#[torch_fallback(CUDA)]
fn on_the_cpu(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    torch_library_gpu::on_the_cpu::<call::Cuda>(operator, keys, stack)
}
