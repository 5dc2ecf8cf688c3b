//! Batching rules for resizing: examples become more images.

use torch_library::prelude::*;

use super::boxed::rules;
use super::folding::resized;
use crate::aten;

rules! {
    resizes: resized =>
        upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_nearest1d_backward upsample_nearest2d_backward
        upsample_nearest3d_backward _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d
        _upsample_nearest_exact1d_backward _upsample_nearest_exact2d_backward _upsample_nearest_exact3d_backward
        upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d upsample_linear1d_backward
        upsample_bilinear2d_backward upsample_trilinear3d_backward upsample_bicubic2d_backward;
}
