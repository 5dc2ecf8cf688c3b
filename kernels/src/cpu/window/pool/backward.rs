//! The derivatives of pooling: what each place got goes back to the pixels it came from.
#![expect(unsafe_code, reason = "lends planes of indices as slices")]

use torch_library::Element;
use torch_library::prelude::*;

use super::{Axis, Grid, Images, like};
use crate::aten;
use crate::cpu::loops::parts::Parts;
use crate::cpu::loops::{self, match_computing};
use crate::cpu::number::Number;
use crate::cpu::window::{plane, planes};
use crate::pointwise::unsupported;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn max_pool2d_with_indices_backward(
        grad_output: &Tensor,
        this: &Tensor,
        kernel_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        ceil_mode: bool,
        indices: &Tensor,
    ) -> Result<Tensor> {
        const OPERATOR: &str = "aten::max_pool2d_with_indices_backward";
        let axes = Axis::both(OPERATOR, kernel_size, stride, padding, dilation)?;
        let grid = Grid::new(OPERATOR, this, axes, ceil_mode)?;
        check_sizes(OPERATOR, grad_output, &grid.images.resized(grid.height, grid.width))?;
        check_sizes(OPERATOR, indices, grad_output.sizes())?;
        let out = like(this, this.sizes(), this.dtype())?;
        if !loops::has_elements(&out) {
            return Ok(out);
        }
        match_computing!(this.dtype(), T: Float => {
            let (pixels, indices) = (plane(&out) as i64, Parts::<i64>::row_major(indices, plane(indices))?);
            // SAFETY: nobody writes to the indices.
            let of = |n: usize| unsafe { indices.get(n) };
            ensure!(
                (0..indices.count()).flat_map(of).all(|index| (0..pixels).contains(index)),
                Argument,
                "{OPERATOR}: an index is that of no pixel of {pixels}"
            );
            planes(grad_output, &out, |n, grads: &[T], plane: &mut [T]| {
                for (grad, index) in grads.iter().zip(of(n)) {
                    plane[*index as usize] = plane[*index as usize].plus(*grad);
                }
            })?;
        }, else => return Err(unsupported(OPERATOR, this.dtype())));
        Ok(out)
    }

    fn avg_pool2d_backward(
        grad_output: &Tensor,
        this: &Tensor,
        kernel_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: Option<i64>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = "aten::avg_pool2d_backward";
        ensure!(divisor_override != Some(0), Argument, "{OPERATOR}: the divisor is 0");
        let axes = Axis::both(OPERATOR, kernel_size, stride, padding, &[1])?;
        let grid = Grid::new(OPERATOR, this, axes, ceil_mode)?;
        check_sizes(OPERATOR, grad_output, &grid.images.resized(grid.height, grid.width))?;
        let out = like(this, this.sizes(), this.dtype())?;
        let divisor = grid.divisor(count_include_pad, divisor_override);
        match_computing!(this.dtype(), T: Float => {
            planes(grad_output, &out, |_, grads: &[T], plane: &mut [T]| {
                grid.places(|place, window| {
                    let grad = grads[place] / divisor(window).cast::<T>();
                    grid.cover(window, |pixel| plane[pixel] = plane[pixel].plus(grad));
                });
            })?;
        }, else => return Err(unsupported(OPERATOR, this.dtype())));
        Ok(out)
    }

    fn _adaptive_avg_pool2d_backward(grad_output: &Tensor, this: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = "aten::_adaptive_avg_pool2d_backward";
        let (images, means) = (Images::of(OPERATOR, this)?, Images::of(OPERATOR, grad_output)?);
        check_sizes(OPERATOR, grad_output, &images.resized(means.height, means.width))?;
        let out = like(this, this.sizes(), this.dtype())?;
        match_computing!(this.dtype(), T: Float => {
            planes(grad_output, &out, |_, grads: &[T], plane: &mut [T]| {
                for (place, grad) in grads.iter().enumerate() {
                    let (pixels, count) = images.share(place as i64, [means.height, means.width]);
                    let grad = *grad / count.cast::<T>();
                    pixels.for_each(|pixel| plane[pixel] = plane[pixel].plus(grad));
                }
            })?;
        }, else => return Err(unsupported(OPERATOR, this.dtype())));
        Ok(out)
    }
}

fn check_sizes(operator: &str, tensor: &Tensor, sizes: &[i64]) -> Result<()> {
    ensure!(
        tensor.sizes() == sizes,
        Shape,
        "{operator}: a gradient or index of sizes {:?}, expected those of the result, {sizes:?}",
        tensor.sizes()
    );
    Ok(())
}
