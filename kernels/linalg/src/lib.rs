//! Linear algebra for [`torch_library`]: CPU kernels, built on `faer`, that solve linear systems, factorise matrices,
//! and find eigenvalues and singular values. Small matrices have algorithms of their own, which give vectors the signs,
//! and values the order, that LAPACK gives them.
//!
//! The operators are declared in `torch_library_aten`. A program that calls them has to name this crate (`use
//! torch_library_linalg as _;`), or Rust does not link it; `torch_library_kernels` does so.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_aten::aten;
//! use torch_library_linalg as _;
//!
//! let a = Tensor::from([[2.0, 0.0], [0.0, 4.0]]);
//! assert_eq!(aten::linalg_solve(&a, &Tensor::from([2.0, 8.0]))?.to_vec::<f64>()?, [1.0, 2.0]);
//! # Ok::<(), Error>(())
//! ```

use torch_library_aten::{arguments, aten, composite};
use torch_library_loops::{inlined, loops, number, vector};

mod kept;
mod linalg;
