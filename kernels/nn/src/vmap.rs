//! Batching rules, family by family.

use torch_library_aten::vmap::{boxed, pointwise};

mod activation;
mod loss;
mod norm;
mod optimizer;
mod window;
