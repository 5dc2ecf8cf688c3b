//! Batching rules for pooling: examples become more images or volumes.

use torch_library::prelude::*;

use super::boxed::rules;
use super::folding::{images, volumes};
use crate::aten;

rules! {
    pools: images =>
        avg_pool2d max_pool2d_with_indices _adaptive_avg_pool2d avg_pool2d_backward
        max_pool2d_with_indices_backward _adaptive_avg_pool2d_backward adaptive_max_pool2d adaptive_max_pool2d_backward;
    pools_of_volumes: volumes =>
        avg_pool3d max_pool3d_with_indices _adaptive_avg_pool3d avg_pool3d_backward max_pool3d_with_indices_backward
        _adaptive_avg_pool3d_backward adaptive_max_pool3d adaptive_max_pool3d_backward;
}
