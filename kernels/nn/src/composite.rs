//! Composite kernels: written in terms of other operators, or without access to elements, they serve every backend.

use torch_library_aten::composite::crossed;

pub(crate) use torch_library_aten::composite::collected;

mod convolution;
mod four_bits;
mod grid_sampler;
pub(crate) mod loss;
pub(crate) mod norm;
mod optimizer;
mod padding;
mod pooling;
pub(crate) mod recurrent;
mod softmax;
mod transformer;
pub(crate) mod upsample;
