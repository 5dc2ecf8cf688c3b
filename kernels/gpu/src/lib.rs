//! The parts of GPU kernels that do not depend on the kernel language: element-wise operators as [expressions](Expression), the
//! [order](Layout) in which elements are visited, the [arguments](Arguments) of a boxed call, and the host side of kernels: the arguments
//! that they accept, the sizes and types of results, and the launches.
//!
//! Each backend makes kernels from these in its own language: `torch-library-wgpu` in WGSL, `torch-library-cuda` in CUDA C. An expression
//! is text that means the same in both languages; a function such as `select` is built into WGSL, and the CUDA backend declares it.
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
//! A backend implements [`GpuBackend`] for a type of its own: memory, copies, and a [`KernelBuilder`] that launches kernels. The type also
//! implements [`Language`], with the [pieces](text) of kernels in the backend's language for each family of operators, and matrix products
//! ([`Products`]) and convolutions ([`Convolutions`]), which every backend computes in its own way. [`shared_kernels!`] then registers all
//! shared kernels. Only the element-wise operators are left to the backend, which makes them from the expressions.
//!
//! Indices are checked before a launch, but another stream may write them before the kernel runs. So in a language that does not check
//! bounds, the pieces compare each index before they follow it.

mod arguments;
mod backend;
mod call;
#[doc(hidden)]
pub mod convolution;
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
pub mod pooling;
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

pub use arguments::{Arguments, all_on_meta, on_meta, row_major};
pub use backend::{GpuBackend, Kernel, Tensors, index_of};
pub use call::{held, on_the_cpu, run};
pub use convolution::{Convolutions, Window};
pub use expression::{Expression, Over, SAME};
pub use kernel::{KernelBuilder, computed};
pub use language::Language;
pub use layout::{DIMS, Layout, Steps};
pub use product::{Products, Summand};
pub use returns::{First, Nothing, Returns};

/// The pieces of kernels that a language has for each family of operators.
pub mod text {
    pub use crate::create::Create;
    pub use crate::extreme::Extreme;
    pub use crate::index::Within;
    pub use crate::index::put::Put;
    pub use crate::index::take::Take;
    pub use crate::loss::Loss;
    pub use crate::norm::Norm;
    pub use crate::optimizer::{Adam, Counted, Optimizer, Sgd};
    pub use crate::pooling::Pooling;
    pub use crate::random::Random;
    pub use crate::reduce::{Fold, Reduce};
    pub use crate::scan::Scan;
    pub use crate::softmax::Softmax;
}
