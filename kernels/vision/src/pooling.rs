//! The operators that pool boxes, on the CPU.

use torch_library::prelude::*;
use torch_library_aten::real::{Real, elements, real, tensor};
use torch_library_kernels::aten;

use crate::linear::{Channels, Pooling, Sum};
use crate::parts::{fill, is_double, zeros};
use crate::regions::{self, Geometry, Region};

/// The smallest side of a box in `roi_align` if boxes are not aligned.
const SMALLEST: f64 = 1.0;

/// Runs code in the precision of the operands.
macro_rules! in_precision {
    ([$($name:literal: $operand:expr),+], $T:ident => $body:expr) => {
        match is_double(&[$(($name, $operand)),+])? {
            true => { type $T = f64; $body }
            false => { type $T = f32; $body }
        }
    };
}

/// The direction of a call: forward or backward.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Pass {
    Forward,
    Backward,
}

impl Pooling {
    pub(crate) fn align(geometry: Geometry, ratio: i64, aligned: bool) -> Pooling {
        let smallest = if aligned { f64::NEG_INFINITY } else { SMALLEST };
        Pooling { geometry, sum: Sum::Points { ratio, aligned, smallest }, channels: Channels::Same }
    }

    pub(crate) fn align_parts(geometry: Geometry, ratio: i64) -> Pooling {
        let sum = Sum::Points { ratio, aligned: true, smallest: f64::NEG_INFINITY };
        Pooling { geometry, sum, channels: Channels::OfParts }
    }

    /// Torchvision's averages leave out the last row and the last column of an image, but its gradients do not.
    pub(crate) fn average_parts(geometry: Geometry, pass: Pass) -> Pooling {
        let edge = if pass == Pass::Forward { 1 } else { 0 };
        Pooling { geometry, sum: Sum::Elements { edge }, channels: Channels::OfParts }
    }

    /// The sizes of a result for `count` boxes.
    pub(crate) fn output_sizes(&self, count: i64) -> Result<[i64; 4]> {
        let Geometry { rows, columns, .. } = self.geometry;
        Ok([count, self.output_channels()? as i64, rows as i64, columns as i64])
    }

    fn pool(&self, input: &Tensor, rois: &Tensor, scale: f64) -> Result<Tensor> {
        let sizes = self.output_sizes(regions::count(rois)?)?;
        in_precision!(["input": input, "rois": rois], T => {
            let regions = regions::read::<T>(rois, scale, self.geometry.images)?;
            tensor(self.forward(&elements(input)?, &regions)?, &sizes, input.dtype())
        })
    }

    fn scatter(&self, grad: &Tensor, rois: &Tensor, scale: f64) -> Result<Tensor> {
        let sizes = self.output_sizes(regions::count(rois)?)?;
        ensure!(grad.sizes() == sizes, Shape, "`grad` has sizes {:?}, expected {sizes:?}", grad.sizes());
        in_precision!(["grad": grad, "rois": rois], T => {
            let regions = regions::read::<T>(rois, scale, self.geometry.images)?;
            tensor(self.backward(&elements(grad)?, &regions)?, &self.geometry.input_sizes(), grad.dtype())
        })
    }

    /// The channel that each element of a result comes from, where each part has channels of its own: their number.
    fn mapping(&self, count: i64) -> Result<Tensor> {
        let sizes @ [_, channels, rows, columns] = self.output_sizes(count)?;
        if sizes.contains(&0) {
            return Tensor::zeros(&sizes, DType::Int32, Device::CPU);
        }
        let one = aten::arange::with((channels * rows * columns).into()).dtype(DType::Int32).call()?;
        aten::contiguous(&aten::expand(&aten::reshape(&one, &[1, channels, rows, columns])?, &sizes)?)
    }
}

#[torch_impl(crate::ops::torchvision, CPU)]
mod cpu {
    use super::*;

    fn roi_align(
        input: &Tensor,
        rois: &Tensor,
        spatial_scale: f64,
        pooled_height: i64,
        pooled_width: i64,
        sampling_ratio: i64,
        aligned: bool,
    ) -> Result<Tensor> {
        let geometry = Geometry::new(input.sizes(), pooled_height, pooled_width)?;
        Pooling::align(geometry, sampling_ratio, aligned).pool(input, rois, spatial_scale)
    }

    fn _roi_align_backward(
        grad: &Tensor,
        rois: &Tensor,
        spatial_scale: f64,
        pooled_height: i64,
        pooled_width: i64,
        batch_size: i64,
        channels: i64,
        height: i64,
        width: i64,
        sampling_ratio: i64,
        aligned: bool,
    ) -> Result<Tensor> {
        let geometry = Geometry::new(&[batch_size, channels, height, width], pooled_height, pooled_width)?;
        Pooling::align(geometry, sampling_ratio, aligned).scatter(grad, rois, spatial_scale)
    }

    fn ps_roi_align(
        input: &Tensor,
        rois: &Tensor,
        spatial_scale: f64,
        pooled_height: i64,
        pooled_width: i64,
        sampling_ratio: i64,
    ) -> Result<(Tensor, Tensor)> {
        let geometry = Geometry::new(input.sizes(), pooled_height, pooled_width)?;
        let pooling = Pooling::align_parts(geometry, sampling_ratio);
        Ok((pooling.pool(input, rois, spatial_scale)?, pooling.mapping(regions::count(rois)?)?))
    }

    fn _ps_roi_align_backward(
        grad: &Tensor,
        rois: &Tensor,
        _channel_mapping: &Tensor,
        spatial_scale: f64,
        pooled_height: i64,
        pooled_width: i64,
        sampling_ratio: i64,
        batch_size: i64,
        channels: i64,
        height: i64,
        width: i64,
    ) -> Result<Tensor> {
        let geometry = Geometry::new(&[batch_size, channels, height, width], pooled_height, pooled_width)?;
        Pooling::align_parts(geometry, sampling_ratio).scatter(grad, rois, spatial_scale)
    }

    fn ps_roi_pool(
        input: &Tensor,
        rois: &Tensor,
        spatial_scale: f64,
        pooled_height: i64,
        pooled_width: i64,
    ) -> Result<(Tensor, Tensor)> {
        let geometry = Geometry::new(input.sizes(), pooled_height, pooled_width)?;
        let pooling = Pooling::average_parts(geometry, Pass::Forward);
        Ok((pooling.pool(input, rois, spatial_scale)?, pooling.mapping(regions::count(rois)?)?))
    }

    fn _ps_roi_pool_backward(
        grad: &Tensor,
        rois: &Tensor,
        _channel_mapping: &Tensor,
        spatial_scale: f64,
        pooled_height: i64,
        pooled_width: i64,
        batch_size: i64,
        channels: i64,
        height: i64,
        width: i64,
    ) -> Result<Tensor> {
        let geometry = Geometry::new(&[batch_size, channels, height, width], pooled_height, pooled_width)?;
        Pooling::average_parts(geometry, Pass::Backward).scatter(grad, rois, spatial_scale)
    }

    fn roi_pool(
        input: &Tensor,
        rois: &Tensor,
        spatial_scale: f64,
        pooled_height: i64,
        pooled_width: i64,
    ) -> Result<(Tensor, Tensor)> {
        let geometry = Geometry::new(input.sizes(), pooled_height, pooled_width)?;
        let sizes = [regions::count(rois)?, geometry.channels as i64, pooled_height, pooled_width];
        in_precision!(["input": input, "rois": rois], T => {
            let regions = regions::read::<T>(rois, spatial_scale, geometry.images)?;
            let found = maxima(&geometry, &elements(input)?, &regions)?;
            let (values, places) = found.into_iter().unzip();
            Ok((tensor::<T>(values, &sizes, input.dtype())?, Tensor::from_vec::<i32>(places, &sizes)?))
        })
    }

    fn _roi_pool_backward(
        grad: &Tensor,
        rois: &Tensor,
        argmax: &Tensor,
        spatial_scale: f64,
        pooled_height: i64,
        pooled_width: i64,
        batch_size: i64,
        channels: i64,
        height: i64,
        width: i64,
    ) -> Result<Tensor> {
        let geometry = Geometry::new(&[batch_size, channels, height, width], pooled_height, pooled_width)?;
        let sizes = [regions::count(rois)?, channels, pooled_height, pooled_width];
        ensure!(
            grad.sizes() == sizes && argmax.sizes() == sizes,
            Shape,
            "`grad` and `argmax` have sizes {:?} and {:?}, expected {sizes:?}",
            grad.sizes(),
            argmax.sizes()
        );
        let places = argmax.to_vec::<i32>()?;
        in_precision!(["grad": grad, "rois": rois], T => {
            let regions = regions::read::<T>(rois, spatial_scale, geometry.images)?;
            let input = scattered(&geometry, &elements::<T>(grad)?, &places, &regions)?;
            tensor(input, &geometry.input_sizes(), grad.dtype())
        })
    }
}

/// The largest element of each part of each box, and its position in the plane.
fn maxima<T: Real>(geometry: &Geometry, input: &[T], regions: &[Region<T>]) -> Result<Vec<(T, i32)>> {
    let (plane, parts) = (geometry.plane(), geometry.parts());
    let mut found = zeros((T::zero(), -1), &[regions.len(), geometry.channels, parts])?;
    fill(&mut found, geometry.channels * parts, |place, found| {
        let region = &regions[place];
        for (channel, found) in found.chunks_exact_mut(parts).enumerate() {
            let elements = &input[(region.image * geometry.channels + channel) * plane..][..plane];
            for (part, found) in found.iter_mut().enumerate() {
                *found =
                    largest(geometry, region, elements, part / geometry.columns, part % geometry.columns);
            }
        }
        Ok(())
    })?;
    Ok(found)
}

fn largest<T: Real>(
    geometry: &Geometry,
    region: &Region<T>,
    elements: &[T],
    row: usize,
    column: usize,
) -> (T, i32) {
    let span = |from: T, to: T, parts: usize, part: usize, len: usize| {
        let (from, to) = (from.round(), to.round());
        let step = (to - from + T::one()).max(T::one()) / real(parts as f64);
        let edge = |at: T| (at + from).max(T::zero()).min(real(len as f64)).to_usize().unwrap_or_default();
        edge((real::<T>(part as f64) * step).floor())..edge((real::<T>((part + 1) as f64) * step).ceil())
    };
    let rows = span(region.top, region.bottom, geometry.rows, row, geometry.height);
    let columns = span(region.left, region.right, geometry.columns, column, geometry.width);
    if rows.is_empty() || columns.is_empty() {
        return (T::zero(), -1);
    }
    let mut best = (T::min_value(), -1);
    for at in rows.flat_map(|y| columns.clone().map(move |x| y * geometry.width + x)) {
        if elements[at] > best.0 {
            best = (elements[at], i32::try_from(at).unwrap_or(i32::MAX));
        }
    }
    best
}

/// Adds each gradient to the element that was the largest.
fn scattered<T: Real>(
    geometry: &Geometry,
    gradient: &[T],
    places: &[i32],
    regions: &[Region<T>],
) -> Result<Vec<T>> {
    let (plane, parts) = (geometry.plane(), geometry.parts());
    let per_box = geometry.channels * parts;
    let mut input = zeros(T::zero(), &[geometry.images, geometry.channels, plane])?;
    fill(&mut input, geometry.channels * plane, |image, input| {
        for (place, _) in regions.iter().enumerate().filter(|(_, region)| region.image == image) {
            for at in 0..per_box {
                let (gradient, found) = (gradient[place * per_box + at], places[place * per_box + at]);
                let Ok(found) = usize::try_from(found) else { continue }; // a part without elements
                ensure!(found < plane, Argument, "`argmax` has {found}, but an image has {plane} elements");
                let element = &mut input[at / parts * plane + found];
                *element = *element + gradient;
            }
        }
        Ok(())
    })?;
    Ok(input)
}
