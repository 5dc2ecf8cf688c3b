//! The operators of Hugging Face's transformers for [`torch_library`]: the namespace
//! [`transformers`](mod@transformers).
//!
//! Its mixtures of experts call them, unless they are made with another `experts_implementation`, so a model that
//! `torch.export` wrote has them. A program that runs such a model needs `use torch_library_transformers as _;`.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_transformers::transformers;
//!
//! // Of three rows, the first one is for the first expert, and the others for the second.
//! let rows = Tensor::from([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
//! let experts = Tensor::from([[[1.0f32], [0.0]], [[0.0], [10.0]]]);
//! let products = transformers::grouped_mm_fallback(&rows, &experts, &Tensor::from([1i64, 3]))?;
//! assert_eq!(products.to_vec::<f32>()?, [1.0, 40.0, 60.0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! The operators are composed of those of `aten`, so they run on every backend.
//!
//! PyTorch: `torch.ops.transformers`.

// The modules are listed bottom-up: each uses only those above it.

mod ops;

mod groups;

mod derivatives;
mod experts;

#[doc(inline)]
pub use ops::transformers;
