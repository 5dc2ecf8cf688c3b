//! Derivatives, family by family.

use torch_library_aten::autograd::binary;

mod convolution;
mod grid_sampler;
mod im2col;
mod loss;
mod norm;
mod padding;
mod pooling;
mod recurrent;
mod softmax;
mod transformer;
mod upsample;
