//! Kernels that are written in other operators, or that need no elements: they serve every backend.

use torch_library_aten::composite::crossed;

pub(crate) use torch_library_aten::composite::collected;

mod image;
pub(crate) mod loss;
mod norm;
mod optimizer;
mod recurrent;
mod window;
