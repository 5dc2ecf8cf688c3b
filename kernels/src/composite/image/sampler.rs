//! Images and volumes at the points of a grid.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
fn grid_sampler(
    input: &Tensor,
    grid: &Tensor,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
) -> Result<Tensor> {
    let sample = if input.dim() == 5 { aten::grid_sampler_3d } else { aten::grid_sampler_2d };
    sample(input, grid, interpolation_mode, padding_mode, align_corners)
}
