//! Batching rules for sampling at the points of a grid: examples become more images.

use torch_library::prelude::*;

use super::boxed::rules;
use super::folding::resized;
use crate::aten;

rules! {
    samples: resized =>
        grid_sampler_2d grid_sampler_2d_backward grid_sampler_3d grid_sampler_3d_backward;
}
