//! Kernels that compute elements in host memory.

use torch_library_aten::cpu::{folds, matmul, output_mask};

mod axis;
mod convolution;
mod grid_sampler;
mod im2col;
mod int4;
mod loss;
mod norm;
mod optimizer;
mod padding;
mod pooling;
mod recurrent;
mod softmax;
mod upsample;
mod volumes;
