//! Operators with windows over images: convolutions.

pub mod convolution;
