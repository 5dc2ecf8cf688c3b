//! Neural networks for [`torch_library`]: convolutions, pooling, interpolation, normalisation, losses, recurrent
//! networks and optimisers, with CPU kernels, derivatives and batching rules; and initialisation, batches and
//! checkpoints for programs that train.
//!
//! The operators are declared in `torch_library_aten`. A program that calls them has to name this crate (`use
//! torch_library_nn as _;`), or Rust does not link it; `torch_library_kernels` does so.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_aten::aten;
//! use torch_library_nn as _;
//!
//! let image = Tensor::from([[[[1.0, 2.0], [3.0, 4.0]]]]);
//! let kernel = Tensor::from([[[[1.0, 0.0], [0.0, 1.0]]]]);
//! assert_eq!(aten::conv2d::with(&image, &kernel).call()?.to_vec::<f64>()?, [5.0]);
//! # Ok::<(), Error>(())
//! ```

#[cfg(feature = "safetensors")]
use torch_library_aten::data;
use torch_library_aten::{arguments, aten, below_autograd, prelude};
use torch_library_loops::{functions, inlined, loops, number, vector};

mod fixed_point;

mod composite;
mod cpu;

mod autograd;
mod vmap;

mod linear_cross_entropy;

#[cfg(feature = "safetensors")]
pub mod checkpoint;
pub mod init;
pub mod loader;
pub mod optim;

#[doc(inline)]
pub use linear_cross_entropy::ops::torch_nn;
