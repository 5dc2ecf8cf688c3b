//! Pooling: the largest element or the mean under the window.
#![expect(unsafe_code, reason = "shares planes of images among threads")]

use torch_library::Element;
use torch_library::prelude::*;

use super::{Axis, Images, plane, planes};
use crate::aten;
use crate::cpu::loops::parts::Parts;
use crate::cpu::loops::{self, match_computing};
use crate::cpu::number::Number;
use crate::pointwise::unsupported;

use largest::Largest;

mod backward;
mod largest;
mod volumes;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn max_pool2d_with_indices(
        this: &Tensor,
        kernel_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        ceil_mode: bool,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = "aten::max_pool2d_with_indices";
        let axes = Axis::both(OPERATOR, kernel_size, stride, padding, dilation)?;
        let grid = Grid::new(OPERATOR, this, axes, ceil_mode)?;
        let (out, indices) = (grid.output(this, this.dtype())?, grid.output(this, DType::Int64)?);
        match_computing!(this.dtype(), T: Integer | Float => {
            let places = Tensor::empty(indices.sizes(), DType::Int64, indices.device())?;
            let room = match loops::has_elements(&places) {
                true => Some((Largest::new(OPERATOR, &grid)?, Parts::<i64>::of(&places, plane(&places))?)),
                false => None,
            };
            planes(this, &out, |n, plane: &[T], out: &mut [T]| {
                let Some((largest, parts)) = &room else { return };
                // SAFETY: this plane is this thread's alone.
                largest.plane(plane, out, unsafe { parts.get_mut(n) });
            })?;
            match indices.strides() == places.strides() {
                true => return Ok((out, places)),
                false => loops::map(&indices, [&places], |[x]: [i64; 1]| x)?,
            }
        }, else => return Err(unsupported(OPERATOR, this.dtype())));
        Ok((out, indices))
    }

    fn avg_pool2d(
        this: &Tensor,
        kernel_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: Option<i64>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = "aten::avg_pool2d";
        ensure!(divisor_override != Some(0), Argument, "{OPERATOR}: the divisor is 0");
        let axes = Axis::both(OPERATOR, kernel_size, stride, padding, &[1])?;
        let grid = Grid::new(OPERATOR, this, axes, ceil_mode)?;
        let out = grid.output(this, this.dtype())?;
        ensure!(
            !this.dtype().is_integer() || this.dtype() == DType::Int64,
            DType,
            "{OPERATOR} is not implemented for {}",
            this.dtype()
        );
        let divisor = grid.divisor(count_include_pad, divisor_override);
        match_computing!(this.dtype(), T: Integer | Float => {
            planes(this, &out, |_, plane: &[T], out: &mut [T]| {
                grid.places(|place, window| {
                    let mut sum = T::ZERO;
                    grid.cover(window, |pixel| sum = sum.plus(plane[pixel]));
                    out[place] = if sum == T::ZERO { sum } else { sum / divisor(window).cast::<T>() };
                });
            })?;
        }, else => return Err(unsupported(OPERATOR, this.dtype())));
        Ok(out)
    }

    fn _adaptive_avg_pool2d(this: &Tensor, output_size: &[i64]) -> Result<Tensor> {
        const OPERATOR: &str = "aten::_adaptive_avg_pool2d";
        let [height, width] = super::super::pair(OPERATOR, "output_size", output_size)?;
        ensure!(height >= 0 && width >= 0, Argument, "{OPERATOR}: output_size {output_size:?} is negative");
        let images = Images::of(OPERATOR, this)?;
        let out = like(this, &images.resized(height, width), this.dtype())?;
        if out.numel() == 0 {
            return Ok(out);
        }
        match_computing!(this.dtype(), T: Float => {
            planes(this, &out, |_, plane: &[T], out: &mut [T]| {
                for (place, mean) in out.iter_mut().enumerate() {
                    let (pixels, count) = images.share(place as i64, [height, width]);
                    *mean = pixels.fold(T::ZERO, |sum, pixel| sum.plus(plane[pixel])) / count.cast::<T>();
                }
            })?;
        }, else => return Err(unsupported(OPERATOR, this.dtype())));
        Ok(out)
    }
}

/// A tensor for results in the memory format of the input.
fn like(input: &Tensor, sizes: &[i64], dtype: DType) -> Result<Tensor> {
    let strides = torch_library::geometry::strides_for(sizes, input.suggest_memory_format())?;
    Tensor::empty_strided(sizes, &strides, dtype, input.device())
}

impl Images {
    /// The pixels of one of so many shares in each direction, and their number; shares overlap where they do not divide.
    fn share(&self, place: i64, [height, width]: [i64; 2]) -> (impl Iterator<Item = usize>, i64) {
        let part = |i: i64, parts: i64, size: i64| i * size / parts..((i + 1) * size + parts - 1) / parts;
        let (rows, columns) =
            (part(place / width, height, self.height), part(place % width, width, self.width));
        let count = (rows.end - rows.start) * (columns.end - columns.start);
        let line = self.width;
        (rows.flat_map(move |y| columns.clone().map(move |x| (y * line + x) as usize)), count)
    }
}

/// The places of a window on images.
struct Grid {
    images: Images,
    axes: [Axis; 2],
    height: i64,
    width: i64,
}

impl Grid {
    fn new(operator: &str, input: &Tensor, axes: [Axis; 2], over_edge: bool) -> Result<Self> {
        let images = Images::of(operator, input)?;
        let [rows, columns] = axes;
        let channels = input.sizes()[input.dim() - 3];
        ensure!(channels > 0, Shape, "{operator}: sizes {:?} have no channels", input.sizes());
        ensure!(
            axes.iter().all(|axis| axis.padding <= axis.kernel / 2),
            Argument,
            "{operator}: padding {:?} is more than half the window, {:?}",
            [rows.padding, columns.padding],
            [rows.kernel, columns.kernel]
        );
        let places = if over_edge { Axis::places_over_edge } else { Axis::places };
        let (height, width) = (places(rows, images.height), places(columns, images.width));
        ensure!(
            height > 0 && width > 0,
            Shape,
            "{operator}: a window of {:?} does not fit images of {:?} with padding {:?}",
            [rows.extent(), columns.extent()],
            [images.height, images.width],
            [rows.padding, columns.padding]
        );
        Ok(Grid { images, axes, height, width })
    }

    fn output(&self, input: &Tensor, dtype: DType) -> Result<Tensor> {
        like(input, &self.images.resized(self.height, self.width), dtype)
    }

    /// Calls a closure with every place, by number and by row and column.
    fn places(&self, mut f: impl FnMut(usize, [i64; 2])) {
        for y in 0..self.height {
            for x in 0..self.width {
                f((y * self.width + x) as usize, [y, x]);
            }
        }
    }

    /// What a sum is divided by to be the mean under the window at a place.
    fn divisor(
        &self,
        count_include_pad: bool,
        divisor_override: Option<i64>,
    ) -> impl Fn([i64; 2]) -> i64 + Sync {
        move |window| match divisor_override {
            Some(divisor) => divisor,
            None if count_include_pad => self.padded_pixels(window),
            None => {
                let mut count = 0;
                self.cover(window, |_| count += 1);
                count
            }
        }
    }

    /// How many pixels and pixels of padding lie under the window; what hangs over the padding does not count.
    fn padded_pixels(&self, [y, x]: [i64; 2]) -> i64 {
        let along = |axis: Axis, place: i64, size: i64| {
            let start = place * axis.stride - axis.padding;
            (start + axis.kernel).min(size + axis.padding) - start
        };
        along(self.axes[0], y, self.images.height) * along(self.axes[1], x, self.images.width)
    }

    /// Calls a closure with the pixels under the window at a place, in order.
    #[inline(always)]
    fn cover(&self, [y, x]: [i64; 2], mut f: impl FnMut(usize)) {
        let [rows, columns] = self.axes;
        let (width, (start, end)) = (self.images.width, columns.reach(x, self.images.width));
        let (mut row, last_row) = rows.reach(y, self.images.height);
        while row < last_row {
            let mut column = start;
            while column < end {
                f((row * width + column) as usize);
                column += columns.dilation;
            }
            row += rows.dilation;
        }
    }

    /// Where the window starts, if that is not in front of the image: what PyTorch names where no pixel is covered.
    fn start(&self, [y, x]: [i64; 2]) -> i64 {
        let first = |axis: Axis, place: i64| {
            let start = place * axis.stride - axis.padding;
            if start < 0 { start.rem_euclid(axis.dilation) } else { start }
        };
        first(self.axes[0], y) * self.images.width + first(self.axes[1], x)
    }
}
