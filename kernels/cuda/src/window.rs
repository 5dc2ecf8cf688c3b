//! Windows that slide over images: convolutions and pooling.

mod convolution;
mod pool;
