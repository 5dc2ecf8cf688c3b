//! Kernels that are written in other operators, or that need no elements: they serve every backend.

mod binary;
mod copy;
mod create;
mod reduce;
mod view;
