//! Derivatives, family by family.

use torch_library_aten::autograd::binary;

mod attention;
mod loss;
mod norm;
mod recurrent;
mod window;
