//! PyTorch's decomposed quantisation operators for [`torch_library`]: the namespace
//! [`quantized_decomposed`](mod@quantized_decomposed), and [`torchao`](mod@torchao) of the library with this name,
//! which has a scale for each block of a tensor.
//!
//! Programs that a quantiser prepared before `torch.export` wrote them call these operators: a quantised tensor is a plain
//! tensor of integers, and its scale and zero point are arguments of the operators that make it and read it. A program
//! that runs such a model needs `use torch_library_quantized as _;`.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_quantized::quantized_decomposed as quantized;
//!
//! let x = Tensor::from([-1.0f32, 0.0, 0.26, 9.0]);
//! let q = quantized::quantize_per_tensor(&x, 0.1, 10, -128, 127, DType::Int8)?;
//! assert_eq!(q.to_vec::<i8>()?, [0, 10, 13, 100]);
//! let y = quantized::dequantize_per_tensor(&q, 0.1, 10, -128, 127, DType::Int8)?;
//! assert_eq!(y.to_vec::<f32>()?, [-1.0, 0.0, 0.3, 9.0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! The operators are composed of those of `aten`, so they run on every backend, and under every layer.
//!
//! PyTorch: `torch.ops.quantized_decomposed`.

// The modules are listed bottom-up: each uses only those above it.

mod ops;
mod ops_of_torchao;
mod parameters;

mod affine;
mod blocks;
mod choice;

#[doc(inline)]
pub use ops::quantized_decomposed;
#[doc(inline)]
pub use ops_of_torchao::torchao;
