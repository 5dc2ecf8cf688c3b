//! Kernels that touch elements in host memory.
//!
//! They serve meta tensors too: those have no elements, so all that is done for them is to work out the result.

mod activation;
mod analysis;
mod arrange;
pub(crate) mod attention;
mod binary;
mod compare;
mod copy;
pub(crate) mod create;
mod folds;
mod fourier;
pub(crate) mod functions;
pub(crate) mod index;
mod kept;
pub(crate) mod linalg;
pub(crate) mod loops;
pub(crate) mod loss;
pub(crate) mod math;
mod matmul;
pub(crate) mod norm;
pub(crate) mod number;
mod optimizer;
mod order;
mod output_mask;
mod pieces;
mod polynomial;
mod random;
mod reduce;
mod scatter;
mod segment;
mod special;
mod statistics;
mod unary;
mod window;
