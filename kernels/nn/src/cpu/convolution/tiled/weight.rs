//! The gradient of a convolution's weight from `bfloat16`: the product of the places' gradients and the im2col matrix.

use std::ops::Range;

use torch_library::geometry::contiguous_strides;
use torch_library::prelude::*;

use super::{Convolution, Correlation, FEWEST, directions};
use crate::cpu::matmul::pairs;
use crate::loops;

/// The most bytes of an im2col matrix: that of as many images as fit is made at a time.
const MOST_BYTES: i64 = 8 << 20;

impl Convolution<'_> {
    /// The gradient of the weight, row-major, in `float32`, if the instructions that multiply pairs can compute it.
    pub(in super::super) fn tiled_weight_gradient(
        &self,
        image: &Tensor,
        places: &Tensor,
    ) -> Result<Option<Tensor>> {
        let correlation = self.correlation(self.weight);
        let ([channels, kernels], [a, b, c]) = (correlation.channels, self.axes.map(|axis| axis.kernel));
        let (steps, count) = (channels * a * b * c, self.places[0] * self.places[1] * self.places[2]);
        let at_a_time = MOST_BYTES / (2 * self.groups * count).saturating_mul(steps).max(1);
        if !pairs::is_for(image, places)
            || kernels.min(steps) < FEWEST
            || at_a_time == 0
            || !correlation.has_little_padding()
        {
            return Ok(None);
        }
        let sizes = [self.groups, kernels, steps];
        let sums = Tensor::zeros(&sizes, DType::Float32, image.device())?;
        let part = Tensor::zeros(&sizes, DType::Float32, image.device())?;
        let images = correlation.channels_last(image)?;
        for first in (0..self.batch).step_by(at_a_time as usize) {
            let batch = first..self.batch.min(first + at_a_time);
            let columns = correlation.im2col(&images, batch.clone())?;
            pairs::multiply(&part, &correlation.gradients(places, batch)?, &columns)?;
            loops::map(&sums, [&sums, &part], |[sum, x]: [f32; 2]| sum + x)?;
        }
        // From the order of the steps to that of a weight.
        let whole = [self.groups, kernels, channels, a, b, c];
        let strides = [kernels * steps, steps, 1, b * c * channels, c * channels, channels];
        let gradient = loops::contiguous(&sums.strided_view(&whole, &strides, 0)?)?;
        let sizes = [&[self.groups * kernels, channels], &[a, b, c][self.lead..]].concat();
        gradient.strided_view(&sizes, &contiguous_strides(&sizes), 0).map(Some)
    }
}

impl Correlation {
    /// The im2col matrix of each group, for some images: a row for each place, and a column for each tap and channel.
    fn im2col(&self, images: &Tensor, batch: Range<i64>) -> Result<Tensor> {
        let &[of_image, of_group, z, y, x, _] = images.strides() else {
            bail!(Busy, "the strides of images changed to {:?} while they were read", images.strides())
        };
        let (channels, count) = (self.channels[0], batch.end - batch.start);
        let ([a, b, c], [d, h, w]) = (self.axes.map(|axis| axis.kernel), self.places);
        let [[sz, dz], [sy, dy], [sx, dx]] = self.axes.map(|axis| [axis.stride, axis.dilation]);
        let sizes = [self.groups, count, d, h, w, a, b, c, channels];
        let strides = [of_group, of_image, z * sz, y * sy, x * sx, z * dz, y * dy, x * dx, 1];
        let windows =
            images.strided_view(&sizes, &strides, images.storage_offset() + batch.start * of_image)?;
        let (rows, steps) = (count * d * h * w, a * b * c * channels);
        let columns = loops::copy(&windows, DType::BFloat16)?;
        columns.strided_view(&[self.groups, rows, steps], &[rows * steps, steps, 1], 0)
    }

    /// The gradients of the places of some images, as matrices: group by group, a row for each output channel.
    fn gradients(&self, places: &Tensor, batch: Range<i64>) -> Result<Tensor> {
        let (kernels, count) = (self.channels[1], batch.end - batch.start);
        let ([d, h, w], [z, y, x]) = (self.places, directions(self.lead, places));
        let (of_image, of_channel) = (places.strides()[0], places.strides()[1]);
        let sizes = [self.groups, kernels, count, d, h, w];
        let strides = [kernels * of_channel, of_channel, of_image, z, y, x];
        let offset = places.storage_offset() + batch.start * of_image;
        let rows = loops::contiguous(&places.strided_view(&sizes, &strides, offset)?)?;
        let columns = count * d * h * w;
        rows.strided_view(
            &[self.groups, kernels, columns],
            &[kernels * columns, columns, 1],
            rows.storage_offset(),
        )
    }
}
