//! Gradients of batch norm by pixels: of matrices, and of images in channels-last memory, where the channels of a pixel
//! are contiguous, and of others whose channels have few pixels, in a copy.
#![expect(
    unsafe_code,
    reason = "promises that kernels write every element, and lends parts of tensors as slices"
)]

use std::ops::Range;

use num_traits::Float;
use torch_library::Element;
use torch_library::prelude::*;

use super::lines::{Lines, run, uninit};
use super::{Normal, rounded};
use crate::inlined::zip;
use crate::loops;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::reduce::LANES;
use crate::number::Number;

/// The fewest channels for which this pays off.
pub(super) const FEWEST: i64 = 8;

/// From this many contiguous pixels of a channel on, it is faster to sum them in lanes.
pub(super) const LONG: usize = LANES;

/// The number of pixels whose sums are added up in registers, which bounds the rounding error.
const TOGETHER: usize = 64;

/// The most blocks of pixels that have sums of their own. Their number does not depend on the number of threads, so
/// neither does the result.
const MOST_BLOCKS: usize = 256;

/// The gradients of batch norm's input, weight and bias, as far as the output mask wants them; that of the input in a
/// memory format.
pub(super) fn batch_norm<T: Float + Number>(
    normal: &Normal<'_>,
    format: MemoryFormat,
    has_statistics: bool,
    output_mask: [bool; 3],
) -> Result<[Option<Tensor>; 3]> {
    let Normal { grad, input, mean, rstd, weight, .. } = *normal;
    let channels = input.sizes()[1] as usize;
    let pixels = Pixels {
        grads: Parts::row_major(&channels_last(grad)?, channels)?,
        inputs: Parts::row_major(&channels_last(input)?, channels)?,
        means: loops::elements::<T>(mean)?,
    };
    let rstd = loops::elements::<T>(rstd)?;
    let weight = weight.map_or_else(|| Ok(vec![T::ONE; channels]), loops::elements::<T>)?;
    let is_summed = has_statistics || output_mask[1] || output_mask[2];
    let [products, sums] =
        if is_summed { pixels.sums(input)? } else { [(); 2].map(|()| vec![T::ZERO; channels]) };
    let of_input = if output_mask[0] {
        let out = uninit::<T>(input, channels_last(input)?.sizes())?;
        let share = if has_statistics { (pixels.inputs.count() as i64).cast::<T>().recip() } else { T::ZERO };
        let gradient = Gradient {
            pixels: &pixels,
            shifts: sums.iter().map(|sum| *sum * share).collect(),
            slopes: zip(&products, &rstd).map(|(product, rstd)| *product * *rstd * *rstd * share).collect(),
            scales: zip(&rstd, &weight).map(|(rstd, weight)| *rstd * *weight).collect(),
            out: PartsMut::of(&out, channels)?,
        };
        run(&gradient, pixels.inputs.count(), channels, 1);
        drop(gradient); // ends its lease
        let of_input = channels_second(&rounded(out, input.dtype())?)?; // rounded in the order of memory
        Some(if format == MemoryFormat::Contiguous { loops::contiguous(&of_input)? } else { of_input })
    } else {
        None
    };
    let of_weight = zip(&products, &rstd).map(|(product, rstd)| *product * *rstd).collect();
    let parameter = |n: usize, gradient: Vec<T>| {
        output_mask[n].then(|| Tensor::from_vec(gradient, &[channels as i64])).transpose()
    };
    Ok([of_input, parameter(1, of_weight)?, parameter(2, sums)?])
}

/// A view whose last dimension is the channels.
fn channels_last(tensor: &Tensor) -> Result<Tensor> {
    let moved = |list: &[i64]| -> Vec<i64> {
        list[..1].iter().chain(&list[2..]).chain(&list[1..2]).copied().collect()
    };
    tensor.strided_view(&moved(tensor.sizes()), &moved(tensor.strides()), tensor.storage_offset())
}

/// A view whose second dimension is the channels, which are the last one.
fn channels_second(tensor: &Tensor) -> Result<Tensor> {
    let moved = |list: &[i64]| -> Vec<i64> {
        let last = list.len() - 1;
        list[..1].iter().chain(&list[last..]).chain(&list[1..last]).copied().collect()
    };
    tensor.strided_view(&moved(tensor.sizes()), &moved(tensor.strides()), tensor.storage_offset())
}

/// The operands: a part for each pixel, with all channels.
struct Pixels<T> {
    grads: Parts<T>,
    inputs: Parts<T>,
    means: Vec<T>,
}

impl<T: Float + Number> Pixels<T> {
    /// For each channel the sums, over all pixels, of the gradient times the distance from the mean, and of the
    /// gradient.
    fn sums(&self, input: &Tensor) -> Result<[Vec<T>; 2]> {
        let (count, channels) = (self.inputs.count(), self.means.len());
        let height = count.div_ceil(MOST_BLOCKS).next_multiple_of(TOGETHER);
        let blocks = count.div_ceil(height);
        let memory = Tensor::zeros(&[blocks as i64, 2, channels as i64], T::DTYPE, input.device())?;
        let sums = Sums { pixels: self, height, sums: PartsMut::of(&memory, 2 * channels)? };
        run(&sums, count, channels, height);
        drop(sums); // ends its lease
        let (mut all, of_blocks) = (vec![T::ZERO; 2 * channels], Parts::<T>::of(&memory, 2 * channels)?);
        for block in 0..blocks {
            for (sum, x) in zip(&mut all, of_blocks.get(block)) {
                *sum = *sum + *x;
            }
        }
        let of_grads = all.split_off(channels);
        Ok([all, of_grads])
    }
}

/// The sums of blocks of `height` pixels.
struct Sums<'a, T> {
    pixels: &'a Pixels<T>,
    height: usize,
    /// A part for each block.
    sums: PartsMut<T>,
}

impl<T: Float + Number> Lines for Sums<'_, T> {
    #[inline(always)]
    fn run(&self, pixels: Range<usize>) {
        for block in pixels.clone().step_by(self.height) {
            // SAFETY: ranges of `run` start at multiples of a block, so this block is only this thread's, which has one
            // slice of it; it was zeroed when it was made.
            let sums = unsafe { self.sums.get_mut(block / self.height) };
            let (products, sums) = sums.split_at_mut(self.pixels.means.len());
            for start in (block..pixels.end.min(block + self.height)).step_by(TOGETHER) {
                let together = start..pixels.end.min(start + TOGETHER);
                let mut first = 0;
                while first < sums.len() {
                    let left = sums.len() - first;
                    let to = [&mut products[first..], &mut sums[first..]];
                    first += match left {
                        LANES.. => self.pixels.add::<LANES>(together.clone(), first, to),
                        16.. => self.pixels.add::<16>(together.clone(), first, to),
                        8.. => self.pixels.add::<8>(together.clone(), first, to),
                        _ => self.pixels.add::<1>(together.clone(), first, to),
                    };
                }
            }
        }
    }
}

impl<T: Float + Number> Pixels<T> {
    /// Adds up `N` channels of some pixels, from `first` on, and returns `N`.
    #[inline(always)]
    fn add<const N: usize>(&self, pixels: Range<usize>, first: usize, to: [&mut [T]; 2]) -> usize {
        let channels =
            |slice: &[T]| -> [T; N] { *slice[first..].first_chunk().expect("there are N channels") };
        let (means, mut products, mut sums) = (channels(&self.means), [T::ZERO; N], [T::ZERO; N]);
        for pixel in pixels {
            let (grads, inputs) = (channels(self.grads.get(pixel)), channels(self.inputs.get(pixel)));
            for i in 0..N {
                products[i] = products[i] + grads[i] * (inputs[i] - means[i]);
                sums[i] = sums[i] + grads[i];
            }
        }
        for (to, more) in zip(&mut *to[0], &products) {
            *to = *to + *more;
        }
        for (to, more) in zip(&mut *to[1], &sums) {
            *to = *to + *more;
        }
        N
    }
}

/// The gradient of the input, with some numbers for each channel.
struct Gradient<'a, T> {
    pixels: &'a Pixels<T>,
    shifts: Vec<T>,
    slopes: Vec<T>,
    scales: Vec<T>,
    out: PartsMut<T>,
}

impl<T: Float + Number> Lines for Gradient<'_, T> {
    #[inline(always)]
    fn run(&self, pixels: Range<usize>) {
        for pixel in pixels {
            let (grads, inputs) = (self.pixels.grads.get(pixel), self.pixels.inputs.get(pixel));
            // SAFETY: ranges of `run` have no pixel in common, so this one is only this thread's, which has one slice
            // of it and writes initialised values.
            let out = unsafe { self.out.uninit(pixel) };
            let (statistics, scales) =
                (zip(zip(&self.pixels.means, &self.slopes), &self.shifts), &self.scales);
            for ((out, (grad, x)), (((mean, slope), shift), scale)) in
                zip(zip(out, zip(grads, inputs)), zip(statistics, scales))
            {
                out.write((*grad - *shift - (*x - *mean) * *slope) * *scale);
            }
        }
    }
}
