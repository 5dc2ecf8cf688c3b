//! Batching rules, family by family.

use torch_library_aten::vmap::boxed;

mod folding;
mod loss;
mod norm;
mod optimizer;
mod window;
