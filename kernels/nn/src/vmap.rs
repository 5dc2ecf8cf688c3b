//! Batching rules, family by family.

use torch_library_aten::vmap::boxed;

mod convolution;
mod folding;
mod grid_sampler;
mod im2col;
mod loss;
mod norm;
mod optimizer;
mod padding;
mod pooling;
mod upsample;
