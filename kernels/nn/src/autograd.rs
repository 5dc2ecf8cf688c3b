//! Derivatives, family by family.

use torch_library_aten::autograd::binary;

mod activation;
mod loss;
mod norm;
mod window;
