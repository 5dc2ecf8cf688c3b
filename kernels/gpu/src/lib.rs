//! What kernels for GPUs compute, in no language yet: element-wise operators as [expressions](Expression), the
//! [order](Layout) in which elements are visited, the [arguments](Arguments) of a call that comes boxed; and the heads of
//! kernels that are written once: which arguments they take, what sizes and types results have, what is launched.
//!
//! Backends write kernels from these in a language of their own: `torch-library-wgpu` in WGSL, `torch-library-cuda` in
//! CUDA C. An expression is text that both languages read alike, where a function such as `select` is WGSL's, and one
//! that the other declares.
//!
//! ```
//! use torch_library_gpu::{Expression, Over};
//!
//! let product = Expression::named("mul.Tensor").unwrap();
//! assert_eq!((product.text, product.over), ("a * b", Over::Numbers));
//! ```
//!
//! # A backend of its own
//!
//! A type of a backend's is its [`GpuBackend`]: memory, copies, and a [`KernelBuilder`] that launches. It has a [`Language`]: for each
//! family of operators the [pieces](text) of kernels in that; and it multiplies matrices ([`Products`]) and what windows see
//! ([`Convolutions`]) in its own way. [`shared_kernels!`] then registers all of them. What is left to a backend are element-wise operators,
//! of the expressions.

mod arguments;
mod backend;
mod call;
#[doc(hidden)]
pub mod create;
mod expression;
#[doc(hidden)]
pub mod extreme;
#[doc(hidden)]
pub mod index;
mod kernel;
mod language;
mod layout;
#[doc(hidden)]
pub mod loss;
#[doc(hidden)]
pub mod norm;
#[doc(hidden)]
pub mod optimizer;
#[doc(hidden)]
pub mod product;
#[doc(hidden)]
pub mod random;
#[doc(hidden)]
pub mod reduce;
mod returns;
#[doc(hidden)]
pub mod scan;
mod shared;
#[doc(hidden)]
pub mod softmax;
#[doc(hidden)]
pub mod window;

pub use arguments::{Arguments, all_on_meta, on_meta, row_major};
pub use backend::{GpuBackend, Kernel, Tensors, index_of};
pub use call::{on_the_cpu, run};
pub use expression::{Expression, Over, SAME};
pub use kernel::{KernelBuilder, computed};
pub use language::Language;
pub use layout::{DIMS, Layout, Steps};
pub use product::{Products, Summand};
pub use returns::{First, Nothing, Returns};
pub use window::convolution::{Convolutions, Window};

/// What a language says for each family of operators.
pub mod text {
    pub use crate::create::Create;
    pub use crate::extreme::Extreme;
    pub use crate::index::Within;
    pub use crate::index::put::Put;
    pub use crate::index::take::Take;
    pub use crate::loss::Loss;
    pub use crate::norm::Norm;
    pub use crate::optimizer::{Adam, Counted, Optimizer, Sgd};
    pub use crate::random::Random;
    pub use crate::reduce::{Fold, Reduce};
    pub use crate::scan::Scan;
    pub use crate::softmax::Softmax;
    pub use crate::window::pool::Pool;
}
