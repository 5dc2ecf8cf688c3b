//! Operators with windows over images: pooling and convolutions.

pub mod convolution;
pub mod pool;
