//! Fractional max pooling: the largest element of each of the windows, whose places are drawn at random.

use num_traits::Float;
use torch_library::Element;
use torch_library::element::{bf16, f16};
use torch_library::prelude::*;

use crate::aten;
use crate::loops::pointwise::{common_device, unsupported};
use crate::loops::{self, match_opmath};
use crate::number::Number;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn fractional_max_pool2d(
        this: &Tensor,
        kernel_size: &[i64],
        output_size: &[i64],
        random_samples: &Tensor,
    ) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([this, random_samples])?;
        Regions::<2>::new(aten::fractional_max_pool2d::NAME, this, kernel_size, output_size)?
            .pooled(this, random_samples)
    }

    fn fractional_max_pool3d(
        this: &Tensor,
        kernel_size: &[i64],
        output_size: &[i64],
        random_samples: &Tensor,
    ) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([this, random_samples])?;
        Regions::<3>::new(aten::fractional_max_pool3d::NAME, this, kernel_size, output_size)?
            .pooled(this, random_samples)
    }
}

/// The windows of fractional pooling, over planes or volumes with `D` spatial dimensions.
struct Regions<const D: usize> {
    operator: &'static str,
    input: [usize; D],
    kernel: [usize; D],
    output: [usize; D],
}

/// Checks that a list has one number for each spatial dimension.
fn each<const D: usize>(operator: &str, name: &str, values: &[i64]) -> Result<[i64; D]> {
    match values.try_into() {
        Ok(values) => Ok(values),
        Err(_) => bail!(Argument, "{operator}: {name} is {values:?}, expected {D} numbers"),
    }
}

impl<const D: usize> Regions<D> {
    fn new(operator: &'static str, this: &Tensor, kernel: &[i64], output: &[i64]) -> Result<Self> {
        let sizes = this.sizes();
        let is_fit = matches!(sizes.len(), n if n == D + 1 || n == D + 2);
        ensure!(
            is_fit && sizes[sizes.len() - D - 1..].iter().all(|size| *size > 0),
            Shape,
            "{operator}: sizes {sizes:?}, expected channels and {D} dimensions with elements, with or without a batch"
        );
        let (kernel, output) =
            (each::<D>(operator, "kernel_size", kernel)?, each::<D>(operator, "output_size", output)?);
        let input: [i64; D] = std::array::from_fn(|direction| sizes[sizes.len() - D + direction]);
        for direction in 0..D {
            let (kernel, output, input) = (kernel[direction], output[direction], input[direction]);
            let most = if D == 3 { input - 1 } else { input }; // PyTorch keeps a pixel of volumes free
            ensure!(
                kernel > 0
                    && output >= 0
                    && output.checked_add(kernel - 1).is_some_and(|reach| reach <= most),
                Argument,
                "{operator}: {output} windows of {kernel} do not fit into {input} elements"
            );
        }
        let as_count = |sizes: [i64; D]| sizes.map(|size| size as usize);
        Ok(Regions { operator, input: as_count(input), kernel: as_count(kernel), output: as_count(output) })
    }

    fn pooled(&self, this: &Tensor, samples: &Tensor) -> Result<(Tensor, Tensor)> {
        let operator = self.operator;
        let outer = &this.sizes()[..this.dim() - D];
        let (batch, channels) = if outer.len() == 2 { (outer[0], outer[1]) } else { (1, outer[0]) };
        common_device(operator, &[this, samples])?;
        ensure!(
            samples.dtype() == this.dtype(),
            DType,
            "{operator}: random samples of {} for an input of {}, expected one type",
            samples.dtype(),
            this.dtype()
        );
        let is_fit = match samples.sizes() {
            [items, planes, directions] => *items >= batch && *planes == channels && *directions == D as i64,
            _ => false,
        };
        ensure!(
            is_fit,
            Shape,
            "{operator}: random samples of sizes {:?}, expected [{batch}, {channels}, {D}]",
            samples.sizes()
        );
        let sizes = [outer, &self.output.map(|size| size as i64)[..]].concat();
        match_opmath!(this.dtype(), T: Float => {
            if this.device() == Device::META || sizes.contains(&0) {
                let empty = |dtype| Tensor::empty(&sizes, dtype, this.device());
                return Ok((empty(this.dtype())?, empty(DType::Int64)?));
            }
            let (elements, samples) = (loops::elements::<T>(this)?, loops::elements::<T>(samples)?);
            let volume = self.input.iter().product::<usize>();
            let offsets = self.places(&self.kernel.map(|size| (0..size).collect()));
            let count = elements.len() / volume * self.output.iter().product::<usize>();
            let (mut largest, mut places) = (Vec::with_capacity(count), Vec::with_capacity(count));
            for (plane, sample) in elements.chunks(volume).zip(samples.chunks(D)) {
                for first in self.firsts(this.dtype(), sample) {
                    let (value, place) = largest_of(plane, first, &offsets);
                    largest.push(value);
                    places.push(place as i64);
                }
            }
            let largest = Tensor::from_vec(largest, &sizes)?;
            let largest =
                if T::DTYPE == this.dtype() { largest } else { loops::copy(&largest, this.dtype())? };
            Ok((largest, Tensor::from_vec(places, &sizes)?))
        }, else => Err(unsupported(operator, this.dtype())))
    }

    /// The first place of each window in a plane. The samples are ordered with the last spatial dimension first.
    fn firsts<T: Float + Number>(&self, dtype: DType, samples: &[T]) -> Vec<usize> {
        let reversed = |direction: usize| if D == 2 { D - 1 - direction } else { direction };
        self.places(&std::array::from_fn(|direction| {
            self.starts(dtype, direction, samples[reversed(direction)])
        }))
    }

    /// The places in a plane, row by row, of all combinations of one coordinate for each spatial dimension.
    fn places(&self, coordinates: &[Vec<usize>; D]) -> Vec<usize> {
        coordinates.iter().zip(self.input).fold(vec![0], |places, (coordinates, size)| {
            places
                .iter()
                .flat_map(|place| coordinates.iter().map(move |coordinate| place * size + coordinate))
                .collect()
        })
    }

    /// The starts of the windows in a spatial dimension: equally spaced, shifted by the random sample and rounded down,
    /// the last one at the end. As in PyTorch, each step is rounded to the element type.
    fn starts<T: Float + Number>(&self, dtype: DType, direction: usize, sample: T) -> Vec<usize> {
        let (count, last) = (self.output[direction], self.input[direction] - self.kernel[direction]);
        let rounded = |x: T| match dtype {
            DType::Float16 => x.cast::<f16>().cast::<T>(),
            DType::BFloat16 => x.cast::<bf16>().cast::<T>(),
            _ => x,
        };
        let number = |count: usize| rounded((count as i64).cast());
        let step = if count > 1 { rounded(number(last) / number(count - 1)) } else { T::ZERO };
        let start = |window: usize| {
            if window + 1 == count {
                return last;
            }
            let whole = |x: T| -> i64 { x.cast() };
            let place = rounded(rounded(number(window) + sample) * step);
            let shifted = whole(place).saturating_sub(whole(rounded(sample * step)));
            shifted.clamp(0, last as i64) as usize
        };
        (0..count).map(start).collect()
    }
}

/// The largest element of a window, and its place; NaN counts as the largest number.
#[inline]
fn largest_of<T: Float + Number>(plane: &[T], first: usize, offsets: &[usize]) -> (T, usize) {
    offsets.iter().fold((T::neg_infinity(), first), |(largest, at), offset| {
        let value = plane[first + offset];
        if value > largest || value.is_unordered() { (value, first + offset) } else { (largest, at) }
    })
}
