//! Batching rules, family by family.

use torch_library_aten::vmap::boxed;

mod loss;
mod norm;
mod optimizer;
mod window;
