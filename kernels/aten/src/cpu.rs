//! Kernels that compute on elements in host memory.
//!
//! They serve meta tensors too, which have no elements: for these, they only determine the sizes and dtype of the
//! result.

mod activation;
mod arrange;
mod binary;
pub mod bits;
mod bucketization;
mod copy;
mod create;
mod distance;
pub mod folds;
mod histogram;
mod index;
pub mod kept;
mod linear;
pub mod matmul;
pub mod output_mask;
mod pointwise;
mod polynomial;
pub mod random;
mod reduce;
mod scan;
mod scatter;
mod segment;
pub mod softmax;
pub mod sorting;
pub mod special;
mod unary;
mod unique;
