//! The declarations: every operator's schema and documentation, with a file for each family.
//!
//! Each family extends the namespace of the one before, so that the last one has all operators.

pub(crate) mod activation;
pub(crate) mod alias;
pub(crate) mod arrange;
pub(crate) mod autogen;
pub(crate) mod binary;
pub(crate) mod bits;
pub(crate) mod constraints;
pub(crate) mod copy;
pub(crate) mod correlation;
pub(crate) mod create;
pub(crate) mod distance;
pub(crate) mod factor;
pub(crate) mod fake_quantize;
pub(crate) mod foreach;
pub(crate) mod fourier;
pub(crate) mod histogram;
pub(crate) mod im2col;
pub(crate) mod image;
pub(crate) mod index;
pub(crate) mod integration;
pub(crate) mod linalg;
pub(crate) mod linear;
pub(crate) mod loss;
pub(crate) mod matmul;
pub(crate) mod metadata;
pub(crate) mod norm;
pub(crate) mod optimizer;
pub(crate) mod order;
pub(crate) mod pointwise;
pub(crate) mod polynomial;
pub(crate) mod random;
pub(crate) mod recurrent;
pub(crate) mod reduce;
pub(crate) mod scatter;
pub(crate) mod segment;
pub(crate) mod softmax;
pub(crate) mod special;
pub(crate) mod storage;
pub(crate) mod transformer;
pub(crate) mod unary;
pub(crate) mod variants;
pub(crate) mod view;
pub(crate) mod view_copy;
pub(crate) mod window;
