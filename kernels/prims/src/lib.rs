//! PyTorch's primitives for [`torch_library`]: the namespace [`prims`](mod@prims).
//!
//! `run_decompositions` makes them of other operators if it is given a table that has them, such as the whole
//! `torch._decomp.decomposition_table` or that of the compiler Inductor. A strict export has one without any
//! decomposition: `x.add_(y, alpha=tensor)` is [`fma`](fn@prims::fma). A program that runs such a model needs
//! `use torch_library_prims as _;`.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_prims::prims;
//!
//! let numbers = prims::iota(3, 1, 2, DType::Float32, Device::CPU, false)?;
//! let rows = prims::broadcast_in_dim(&numbers, &[2, 3], &[1])?;
//! assert_eq!(prims::sum(&rows, Some(&[0]))?.to_vec::<f32>()?, [2.0, 6.0, 10.0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! The operators are composed of those of `aten`, so they run on every backend and have derivatives. In PyTorch they
//! have none.
//!
//! PyTorch: `torch.ops.prims`.

// The modules are listed bottom-up: each uses only those above it.

mod ops;

mod create;
mod elementwise;
mod pool;
mod reduce;
mod shapes;

#[doc(inline)]
pub use ops::prims;
