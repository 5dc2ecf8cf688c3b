//! Derivatives, family by family: one row for each operator that has one, and for each that has none.
//!
//! The rows name operators and nothing else, so gradients run through all layers below autograd, and through autograd
//! again where a second derivative is asked for. The names of nodes are PyTorch's.

mod activation;
mod analysis;
mod arrange;
pub mod binary;
mod copy;
mod factor;
mod fourier;
mod index;
mod linalg;
mod math;
mod matmul;
mod pieces;
mod polynomial;
mod reduce;
mod scatter;
mod segment;
mod special;
mod statistics;
mod storage;
mod unary;
mod view;
mod view_copy;
