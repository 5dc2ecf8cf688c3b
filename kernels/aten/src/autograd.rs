//! Derivatives, family by family: one entry for each operator that has one, and for each that is not differentiable.
//!
//! The formulas use operators and nothing else, so that gradients run through all layers below autograd, and through
//! autograd again for second derivatives. The names of autograd nodes are PyTorch's.

mod activation;
mod arrange;
pub mod binary;
mod bits;
mod copy;
mod create;
mod distance;
mod factor;
mod fake_quantize;
mod fourier;
mod histogram;
mod index;
mod linalg;
mod linear;
mod matmul;
mod pixel_shuffle;
mod pointwise;
mod polynomial;
mod random;
mod reduce;
mod scan;
mod scatter;
mod segment;
mod sorting;
mod special;
mod storage;
mod unary;
mod unique;
mod view;
mod view_copy;
