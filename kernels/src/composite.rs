//! Kernels that are written in other operators, or that need no elements: they serve every backend.

mod binary;
mod compare;
mod copy;
mod create;
mod index;
mod loss;
mod matmul;
mod norm;
mod reduce;
mod view;
mod window;
