//! What kernels for GPUs compute, in no language yet: element-wise operators as [expressions](Expression), the
//! [order](Layout) in which elements are visited, and the [arguments](Arguments) of a call that comes boxed.
//!
//! Backends write kernels from these in a language of their own: `torch-library-wgpu` in WGSL, `torch-library-cuda` in
//! CUDA C. An expression is text that both languages read alike, where a function such as `select` is WGSL's, and one
//! that the other declares.
//!
//! ```
//! use torch_library_gpu::{Expression, Over};
//!
//! let relu = Expression::named("relu").unwrap();
//! assert_eq!((relu.text, relu.over), ("select(a, T(0), a < T(0))", Over::Numbers));
//! ```

mod arguments;
mod expression;
mod layout;

pub use arguments::{Arguments, all_on_meta, on_meta, row_major};
pub use expression::{Expression, Over, SAME};
pub use layout::{DIMS, Layout, Steps};
