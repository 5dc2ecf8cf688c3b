//! What windows see of images: pooling and convolutions.

pub mod convolution;
pub mod pool;
