//! Kernels that compute elements in host memory.

use torch_library_aten::cpu::{exponentials, folds, matmul, output_mask};

mod loss;
mod norm;
mod optimizer;
mod window;
