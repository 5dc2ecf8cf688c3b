//! Sampling of images and volumes at the points of a grid (`grid_sampler`), and the gradients of both.
//!
//! # How it works
//!
//! 1. In each spatial dimension, a point is interpolated from one, two or four pixels, with a weight (*share*) for
//!    each: [`Axis`](axis::Axis) finds them.
//! 2. A *tap* is one of them in each spatial dimension, with the product of their shares. The value of a point is the
//!    sum over its taps.
//! 3. The taps of a block of points are found together, and then read in one channel after the other.
#![expect(unsafe_code, reason = "shares points among threads")]

use torch_library::geometry::saturating_numel;
use torch_library::prelude::*;

use crate::aten;
use crate::loops;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::pointwise::unsupported;
use crate::loops::{assign, copy, has_elements, opmath_type, parallel};

use axis::{Axis, BLOCK, Interpolation, Outside, Real};
use taps::Taps;

mod axis;
#[cfg(target_arch = "x86_64")]
mod registers;
mod taps;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn grid_sampler_2d(
        input: &Tensor,
        grid: &Tensor,
        interpolation_mode: i64,
        padding_mode: i64,
        align_corners: bool,
    ) -> Result<Tensor> {
        let _lease = loops::frozen([input, grid])?;
        let modes = (interpolation_mode, padding_mode, align_corners);
        Sampling::new(aten::grid_sampler_2d::NAME, 2, input, grid, modes)?.forth(input, grid)
    }

    fn grid_sampler_2d_backward(
        grad_output: &Tensor,
        input: &Tensor,
        grid: &Tensor,
        interpolation_mode: i64,
        padding_mode: i64,
        align_corners: bool,
        output_mask: &[bool],
    ) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([grad_output, input, grid])?;
        let modes = (interpolation_mode, padding_mode, align_corners);
        let sampling = Sampling::new(aten::grid_sampler_2d_backward::NAME, 2, input, grid, modes)?;
        sampling.back(grad_output, input, grid, output_mask)
    }

    fn _grid_sampler_2d_cpu_fallback(
        input: &Tensor,
        grid: &Tensor,
        interpolation_mode: i64,
        padding_mode: i64,
        align_corners: bool,
    ) -> Result<Tensor> {
        let _lease = loops::frozen([input, grid])?;
        const OPERATOR: &str = aten::_grid_sampler_2d_cpu_fallback::NAME;
        let modes = (interpolation_mode, padding_mode, align_corners);
        Sampling::new(OPERATOR, 2, input, grid, modes)?.forth(input, grid)
    }

    fn _grid_sampler_2d_cpu_fallback_backward(
        grad_output: &Tensor,
        input: &Tensor,
        grid: &Tensor,
        interpolation_mode: i64,
        padding_mode: i64,
        align_corners: bool,
    ) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([grad_output, input, grid])?;
        const OPERATOR: &str = aten::_grid_sampler_2d_cpu_fallback_backward::NAME;
        let modes = (interpolation_mode, padding_mode, align_corners);
        Sampling::new(OPERATOR, 2, input, grid, modes)?.back(grad_output, input, grid, &[true, true])
    }

    fn grid_sampler_3d(
        input: &Tensor,
        grid: &Tensor,
        interpolation_mode: i64,
        padding_mode: i64,
        align_corners: bool,
    ) -> Result<Tensor> {
        let _lease = loops::frozen([input, grid])?;
        let modes = (interpolation_mode, padding_mode, align_corners);
        Sampling::new(aten::grid_sampler_3d::NAME, 3, input, grid, modes)?.forth(input, grid)
    }

    fn grid_sampler_3d_backward(
        grad_output: &Tensor,
        input: &Tensor,
        grid: &Tensor,
        interpolation_mode: i64,
        padding_mode: i64,
        align_corners: bool,
        output_mask: &[bool],
    ) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([grad_output, input, grid])?;
        let modes = (interpolation_mode, padding_mode, align_corners);
        let sampling = Sampling::new(aten::grid_sampler_3d_backward::NAME, 3, input, grid, modes)?;
        sampling.back(grad_output, input, grid, output_mask)
    }
}

/// The arguments of a sampling operator.
struct Sampling {
    operator: &'static str,
    interpolation: Interpolation,
    outside: Outside,
    align_corners: bool,
    /// Depth, height and width; images have only the last two.
    sizes: [usize; 3],
    ndim: usize,
}

impl Sampling {
    fn new(
        operator: &'static str,
        ndim: usize,
        input: &Tensor,
        grid: &Tensor,
        (interpolation_mode, padding_mode, align_corners): (i64, i64, bool),
    ) -> Result<Self> {
        let interpolation = match interpolation_mode {
            0 => Interpolation::Linear,
            1 => Interpolation::Nearest,
            2 => Interpolation::Cubic,
            mode => bail!(Argument, "{operator}: interpolation mode {mode}, expected 0, 1 or 2"),
        };
        let outside = match padding_mode {
            0 => Outside::Zeros,
            1 => Outside::Border,
            2 => Outside::Reflection,
            mode => bail!(Argument, "{operator}: padding mode {mode}, expected 0, 1 or 2"),
        };
        let (of_input, of_grid) = (input.sizes(), grid.sizes());
        ensure!(
            of_input.len() == ndim + 2
                && of_grid.len() == ndim + 2
                && of_input[0] == of_grid[0]
                && of_grid[ndim + 1] == ndim as i64,
            Shape,
            "{operator}: an input of sizes {of_input:?} and a grid of sizes {of_grid:?}, expected {} dimensions, the \
             same number of examples, and {ndim} coordinates of each point",
            ndim + 2
        );
        ensure!(
            of_input[2..].iter().all(|size| (1..=i64::from(i32::MAX)).contains(size)),
            Shape,
            "{operator}: an input of sizes {of_input:?}, expected from one to {} pixels in each spatial dimension",
            i32::MAX
        );
        ensure!(
            of_input[2..].iter().try_fold(1u32, |all, size| all.checked_mul(*size as u32)).is_some(),
            Shape,
            "{operator}: an input of sizes {of_input:?}, expected at most {} pixels",
            u32::MAX
        );
        ensure!(
            input.dtype() == grid.dtype(),
            DType,
            "{operator}: an input of {} and a grid of {}, expected the same",
            input.dtype(),
            grid.dtype()
        );
        let mut sizes = [1; 3];
        sizes[3 - ndim..].iter_mut().zip(&of_input[2..]).for_each(|(size, own)| *size = *own as usize);
        Ok(Sampling { operator, interpolation, outside, align_corners, sizes, ndim })
    }

    fn forth(&self, input: &Tensor, grid: &Tensor) -> Result<Tensor> {
        let sizes = [&input.sizes()[..2], &grid.sizes()[1..=self.ndim]].concat();
        let (dtype, device) = (input.dtype(), input.device());
        let opmath = opmath_type(dtype);
        // SAFETY: `sample` writes all channels of all points, if there are any; after an error the tensor is dropped
        // here.
        let out = unsafe { Tensor::uninit(&sizes, opmath, device)? };
        match opmath {
            DType::Float32 => self.sample::<f32>(input, grid, &out)?,
            DType::Float64 => self.sample::<f64>(input, grid, &out)?,
            _ => return Err(unsupported(self.operator, dtype)),
        }
        match (opmath == dtype, has_elements(&out)) {
            (true, _) => Ok(out),
            (false, true) => copy(&out, dtype),
            (false, false) => Tensor::empty(&sizes, dtype, device),
        }
    }

    fn back(&self, grad: &Tensor, input: &Tensor, grid: &Tensor, mask: &[bool]) -> Result<(Tensor, Tensor)> {
        let sizes = [&input.sizes()[..2], &grid.sizes()[1..=self.ndim]].concat();
        ensure!(
            grad.sizes() == sizes && grad.dtype() == input.dtype(),
            Shape,
            "{}: a gradient of {} and sizes {:?}, expected {} and {sizes:?}",
            self.operator,
            grad.dtype(),
            grad.sizes(),
            input.dtype()
        );
        let &[of_input, _] = mask else {
            bail!(Argument, "{}: output_mask is {mask:?}, expected two", self.operator)
        };
        let dtype = input.dtype();
        let opmath = opmath_type(dtype);
        let zeros = |like: &Tensor| Tensor::zeros(like.sizes(), opmath, like.device());
        let grads = (of_input.then(|| zeros(input)).transpose()?, zeros(grid)?);
        match opmath {
            DType::Float32 => self.spread::<f32>(grad, input, grid, &grads)?,
            DType::Float64 => self.spread::<f64>(grad, input, grid, &grads)?,
            _ => return Err(unsupported(self.operator, dtype)),
        }
        let rounded = |grad: Tensor| match opmath == dtype {
            true => Ok(grad),
            false => {
                let out = Tensor::empty(grad.sizes(), dtype, grad.device())?;
                assign(&out, &grad)?;
                Ok::<_, Error>(out)
            }
        };
        Ok((grads.0.map(rounded).transpose()?.unwrap_or_else(Tensor::undefined), rounded(grads.1)?))
    }

    fn sample<T: Real>(&self, input: &Tensor, grid: &Tensor, out: &Tensor) -> Result<()> {
        if !has_elements(out) {
            return Ok(());
        }
        let (images, points) = (self.images::<T>(input)?, self.points::<T>(grid)?);
        let count = points.len() / self.ndim;
        let to = PartsMut::<T>::of(out, count)?;
        let grain = (parallel::GRAIN / (BLOCK * channels(input))).max(1);
        parallel::shares(images.count() * count.div_ceil(BLOCK), grain, |blocks| {
            taps::sample(&mut Taps::new(self), &images, &points, &to, blocks);
        });
        Ok(())
    }

    fn spread<T: Real>(
        &self,
        grad: &Tensor,
        input: &Tensor,
        grid: &Tensor,
        (of_input, of_grid): &(Option<Tensor>, Tensor),
    ) -> Result<()> {
        if !has_elements(grad) {
            return Ok(());
        }
        let (images, points) = (self.images::<T>(input)?, self.points::<T>(grid)?);
        let count = points.len() / self.ndim;
        let grads = Parts::<T>::row_major(grad, channels(input) * count)?;
        let of_points = PartsMut::<T>::of(of_grid, points.len())?;
        let of_images =
            of_input.as_ref().map(|tensor| PartsMut::<T>::of(tensor, images.len())).transpose()?;
        let grain = (parallel::GRAIN / grads.len()).max(1);
        parallel::shares(images.count(), grain, |range| {
            let mut taps = Taps::new(self);
            for n in range {
                let (grads, image, points) = (grads.get(n), images.get(n), points.get(n));
                // SAFETY: these gradients were initialised with zeros, and those of image `n` are this thread's alone,
                // since each image number is.
                let of_image = of_images.as_ref().map(|of_images| unsafe { of_images.get_mut(n) });
                // SAFETY: these gradients were initialised with zeros, and those of the points of image `n` are this
                // thread's alone, since each image number is.
                let of_points = unsafe { of_points.get_mut(n) };
                taps::spread(&mut taps, grads, image, points, of_image, of_points);
            }
        });
        Ok(())
    }

    fn images<T: Real>(&self, input: &Tensor) -> Result<Parts<T>> {
        Parts::row_major(input, saturating_numel(&input.sizes()[1..]) as usize)
    }

    fn points<T: Real>(&self, grid: &Tensor) -> Result<Parts<T>> {
        Parts::row_major(grid, saturating_numel(&grid.sizes()[1..]) as usize)
    }

    fn axes<T: Real>(&self) -> [Axis<T>; 3] {
        let Sampling { outside, align_corners, .. } = *self;
        self.sizes.map(|size| Axis {
            size: T::of(size as f64),
            outside,
            align_corners,
            is_of_image: self.ndim == 2,
        })
    }
}

fn channels(input: &Tensor) -> usize {
    input.sizes()[1] as usize
}
