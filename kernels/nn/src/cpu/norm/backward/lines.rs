//! Gradients of the normalisations along dense lines: each line is read into the cache once.
#![expect(
    unsafe_code,
    reason = "promises that kernels write every element, and lends lines of tensors as slices"
)]

use std::mem::MaybeUninit;
use std::ops::Range;

use num_traits::Float;
use torch_library::Element;
use torch_library::geometry::contiguous_strides;
use torch_library::prelude::*;

use super::Normal;
use crate::inlined::{from_fn, zip};
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::reduce::LANES;
use crate::loops::{self, on_vectors, parallel};
use crate::number::Number;

/// The number of lines whose parameter gradients are summed up in one block; it does not depend on the number of
/// threads, so neither does the result.
const BLOCK: usize = 64;

/// The lanes of lines of a few elements: one vector of `f32`.
const FEW: usize = 8;

/// The longest lines of which a block fits the L1 cache.
const SHORT: usize = 128;

/// The gradients of a range of lines, which one thread computes.
pub(crate) trait Lines: Sync {
    fn run(&self, lines: Range<usize>);
}

/// Computes `count` lines of `len` elements, in ranges that start at a multiple of `step`, with the widest vectors that
/// the processor has.
pub(crate) fn run(lines: &impl Lines, count: usize, len: usize, step: usize) {
    parallel::shares(count.div_ceil(step), (parallel::GRAIN / (len * step)).max(1), |range| {
        run_range(lines, range.start * step..(range.end * step).min(count));
    });
}

on_vectors! {
    fn run_range<L: Lines>(lines: &L, range: Range<usize>) {
        lines.run(range);
    }
}

/// An uninitialised contiguous tensor, all of whose elements the caller writes next.
pub(crate) fn uninit<T: Element>(like: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    // SAFETY: `run` writes every element, since it goes through all lines, before any is read; if it is not reached,
    // the tensor is dropped.
    unsafe { Tensor::uninit_strided(sizes, &contiguous_strides(sizes), T::DTYPE, like.device()) }
}

/// The parts of a gradient that the output mask wants.
fn parts<T: Element>(gradient: &Option<Tensor>, len: usize) -> Result<Option<PartsMut<T>>> {
    gradient.as_ref().map(|gradient| PartsMut::of(gradient, len)).transpose()
}

/// Sums, over all places, of the `K` numbers that a function computes from the elements of some slices of equal length.
#[inline(always)]
pub(crate) fn sums<T: Number, const N: usize, const K: usize>(
    from: [&[T]; N],
    f: impl Fn([T; N]) -> [T; K],
) -> [T; K] {
    if from[0].len() < LANES / 2 {
        return few_sums(from, f);
    }
    let mut lanes = [[T::ZERO; LANES]; K];
    let chunks: [_; N] = from_fn(|n| from[n].as_chunks::<LANES>());
    for n in 0..chunks[0].0.len() {
        let chunks: [_; N] = from_fn(|i| &chunks[i].0[n]);
        for lane in 0..LANES {
            let terms = f(from_fn(|i| chunks[i][lane]));
            for k in 0..K {
                lanes[k][lane] = lanes[k][lane].plus(terms[k]);
            }
        }
    }
    let rest: [_; N] = from_fn(|n| chunks[n].1);
    if !rest[0].is_empty() {
        // In an array of their own, since an array that is indexed by a variable does not stay in registers.
        let mut more = [[T::ZERO; LANES]; K];
        for lane in 0..rest[0].len() {
            let terms = f(from_fn(|i| rest[i][lane]));
            for k in 0..K {
                more[k][lane] = terms[k];
            }
        }
        for lane in 0..LANES {
            for k in 0..K {
                lanes[k][lane] = lanes[k][lane].plus(more[k][lane]);
            }
        }
    }
    joined(&lanes)
}

/// [`sums`] of slices of a few elements, which would fill less than half of the lanes.
#[inline(always)]
fn few_sums<T: Number, const N: usize, const K: usize>(
    from: [&[T]; N],
    f: impl Fn([T; N]) -> [T; K],
) -> [T; K] {
    let chunks: [_; N] = from_fn(|n| from[n].as_chunks::<FEW>());
    let mut lanes = [[T::ZERO; FEW]; K];
    for i in 0..chunks[0].0.len() {
        let chunks: [_; N] = from_fn(|n| &chunks[n].0[i]);
        for lane in 0..FEW {
            let terms = f(from_fn(|n| chunks[n][lane]));
            for k in 0..K {
                lanes[k][lane] = lanes[k][lane].plus(terms[k]);
            }
        }
    }
    let mut total = [T::ZERO; K];
    for i in 0..chunks[0].1.len() {
        let terms = f(from_fn(|n| chunks[n].1[i]));
        for k in 0..K {
            total[k] = total[k].plus(terms[k]);
        }
    }
    for k in 0..K {
        // One lane after the other: for the sake of a tree, LLVM would keep all lanes in pairs.
        total[k] = lanes[k].iter().fold(total[k], |sum, lane| sum.plus(*lane));
    }
    total
}

/// Adds the second half of the lanes to the first half, until one is left. All sums take each step together: of several
/// such trees, one after the other, LLVM would compute all but the first lane by lane.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "counts the lanes of all sums")]
fn joined<T: Number, const K: usize>(lanes: &[[T; LANES]; K]) -> [T; K] {
    let mut len = LANES / 2;
    let mut sums = [[T::ZERO; K]; LANES / 2];
    for lane in 0..len {
        for k in 0..K {
            sums[lane][k] = lanes[k][lane].plus(lanes[k][len + lane]);
        }
    }
    while len > 1 {
        len /= 2;
        for lane in 0..len {
            for k in 0..K {
                sums[lane][k] = sums[lane][k].plus(sums[len + lane][k]);
            }
        }
    }
    sums[0]
}

/// The gradients of layer norm's input, weight and bias, as far as the output mask wants them.
pub(super) fn layer_norm<T: Float + Number>(
    normal: &Normal<'_>,
    len: usize,
    output_mask: [bool; 3],
) -> Result<[Option<Tensor>; 3]> {
    let Normal { grad, input, mean, rstd, weight, .. } = *normal;
    let count = input.numel() as usize / len;
    let blocks = count.div_ceil(BLOCK);
    let of_input = output_mask[0].then(|| uninit::<T>(input, input.sizes())).transpose()?;
    // Sums over the lines of each block, for the weight and for the bias.
    let of_parameters = (output_mask[1] || output_mask[2])
        .then(|| Tensor::empty(&[blocks as i64, 2, len as i64], T::DTYPE, input.device()))
        .transpose()?;
    let lines = LayerNorm {
        grads: Parts::row_major(grad, len)?,
        inputs: Parts::row_major(input, len)?,
        moments: [loops::elements::<T>(mean)?, loops::elements::<T>(rstd)?],
        weight: weight.map_or_else(|| Ok(vec![T::ONE; len]), loops::elements::<T>)?,
        of_input: parts(&of_input, len)?,
        of_parameters: parts(&of_parameters, 2 * len)?,
    };
    run(&lines, count, len, BLOCK);
    if let Some(parts) = &lines.of_parameters {
        for block in 1..blocks {
            // SAFETY: two different blocks of memory that was zeroed when it was made; the threads that wrote to them
            // are done, and this thread has no other slices of it.
            let (all, more) = unsafe { (parts.get_mut(0), parts.get(block)) };
            for (sum, x) in zip(all, more) {
                *sum = *sum + *x;
            }
        }
    }
    drop(lines);
    let parameter = |n: usize| {
        let sums = of_parameters.as_ref().filter(|_| output_mask[1 + n]);
        let sums = sums.map(|sums| sums.strided_view(&[len as i64], &[1], (n * len) as i64)).transpose()?;
        sums.map(|sums| loops::copy(&sums, T::DTYPE)).transpose()
    };
    Ok([of_input, parameter(0)?, parameter(1)?])
}

struct LayerNorm<T> {
    grads: Parts<T>,
    inputs: Parts<T>,
    /// Means, and reciprocal standard deviations.
    moments: [Vec<T>; 2],
    weight: Vec<T>,
    of_input: Option<PartsMut<T>>,
    /// A part for each block of lines.
    of_parameters: Option<PartsMut<T>>,
}

impl<T: Float + Number> Lines for LayerNorm<T> {
    #[inline(always)]
    fn run(&self, lines: Range<usize>) {
        for block in lines.clone().step_by(BLOCK) {
            let sums = match &self.of_parameters {
                // SAFETY: ranges of `run` start at multiples of a block, so this block is only this thread's, which has
                // one slice of it; it was zeroed when it was made.
                Some(parts) => unsafe { parts.get_mut(block / BLOCK) },
                None => &mut [],
            };
            let block = block..(block + BLOCK).min(lines.end);
            let (of_weight, of_bias) = sums.split_at_mut(sums.len() / 2);
            // Lines of a block that fits the L1 cache are read again for each group of columns, whose sums then stay in
            // registers.
            let len = of_weight.len();
            let lanes = if len < LANES / 2 { FEW } else { LANES };
            let summed = if len <= SHORT { len / lanes * lanes } else { 0 };
            for column in (0..summed).step_by(lanes) {
                let to = [&mut of_weight[column..][..lanes], &mut of_bias[column..][..lanes]];
                match lanes {
                    FEW => self.sum_columns::<FEW>(block.clone(), column, to),
                    _ => self.sum_columns::<LANES>(block.clone(), column, to),
                }
            }
            for n in block {
                let (grads, inputs) = (self.grads.get(n), self.inputs.get(n));
                let [mean, rstd] = [self.moments[0][n], self.moments[1][n]];
                let of_parameters = zip(&mut of_weight[summed..], &mut of_bias[summed..]);
                let elements = zip(&grads[summed..], &inputs[summed..]);
                for ((of_weight, of_bias), (grad, x)) in zip(of_parameters, elements) {
                    *of_weight = *of_weight + *grad * ((*x - mean) * rstd);
                    *of_bias = *of_bias + *grad;
                }
                if let Some(of_input) = &self.of_input {
                    // SAFETY: ranges of `run` have no line in common, so this line is only this thread's, which has one
                    // slice of it and writes initialised values.
                    self.line(grads, inputs, [mean, rstd], unsafe { of_input.uninit(n) });
                }
            }
        }
    }
}

impl<T: Float + Number> LayerNorm<T> {
    /// Writes the sums of `W` columns of some lines, as the gradients of the weight and of the bias.
    #[inline(always)]
    fn sum_columns<const W: usize>(
        &self,
        lines: Range<usize>,
        column: usize,
        [of_weight, of_bias]: [&mut [T]; 2],
    ) {
        let mut sums = [[T::ZERO; W]; 2];
        for n in lines {
            let (grads, inputs) = (&self.grads.get(n)[column..][..W], &self.inputs.get(n)[column..][..W]);
            let [mean, rstd] = [self.moments[0][n], self.moments[1][n]];
            for lane in 0..W {
                sums[0][lane] = sums[0][lane] + grads[lane] * ((inputs[lane] - mean) * rstd);
                sums[1][lane] = sums[1][lane] + grads[lane];
            }
        }
        of_weight.copy_from_slice(&sums[0]);
        of_bias.copy_from_slice(&sums[1]);
    }

    #[inline(always)]
    fn line(&self, grads: &[T], inputs: &[T], [mean, rstd]: [T; 2], out: &mut [MaybeUninit<T>]) {
        let [sum, product] = sums([grads, inputs, &self.weight], |[grad, x, weight]| {
            let slope = grad * weight;
            [slope, slope * ((x - mean) * rstd)]
        });
        let count: T = (grads.len() as i64).cast();
        let (sum, product) = (sum / count, product / count); // once for the line, not for each element
        for (out, ((grad, x), weight)) in zip(out, zip(zip(grads, inputs), &self.weight)) {
            out.write((*grad * *weight - (sum + (*x - mean) * rstd * product)) * rstd);
        }
    }
}

/// The smallest length of channel planes for which this pays off.
pub(super) const LONG: usize = 16;

/// The gradients of batch norm's input, weight and bias, for an input whose channels are contiguous planes of `len`
/// elements, as far as the output mask wants them.
pub(super) fn batch_norm<T: Float + Number>(
    normal: &Normal<'_>,
    plane: usize,
    has_statistics: bool,
    output_mask: [bool; 3],
) -> Result<[Option<Tensor>; 3]> {
    let Normal { grad, input, mean, rstd, weight, .. } = *normal;
    let channels = input.sizes()[1] as usize;
    let of_input = output_mask[0].then(|| uninit::<T>(input, input.sizes())).transpose()?;
    let parameter = |n: usize| output_mask[n].then(|| uninit::<T>(input, &[channels as i64])).transpose();
    let of_parameters = [parameter(1)?, parameter(2)?];
    let planes = BatchNorm {
        grads: Parts::row_major(grad, plane)?,
        inputs: Parts::row_major(input, plane)?,
        moments: [loops::elements::<T>(mean)?, loops::elements::<T>(rstd)?],
        weight: weight.map_or_else(|| Ok(vec![T::ONE; channels]), loops::elements::<T>)?,
        of_input: parts(&of_input, plane)?,
        of_parameters: [parts(&of_parameters[0], 1)?, parts(&of_parameters[1], 1)?],
        has_statistics,
    };
    run(&planes, channels, planes.inputs.count() / channels * plane, 1);
    let [of_weight, of_bias] = of_parameters;
    Ok([of_input, of_weight, of_bias])
}

struct BatchNorm<T> {
    grads: Parts<T>,
    inputs: Parts<T>,
    /// Means, and reciprocal standard deviations.
    moments: [Vec<T>; 2],
    weight: Vec<T>,
    of_input: Option<PartsMut<T>>,
    of_parameters: [Option<PartsMut<T>>; 2],
    /// Whether the moments are statistics of the input, and not constants.
    has_statistics: bool,
}

impl<T: Float + Number> Lines for BatchNorm<T> {
    #[inline(always)]
    fn run(&self, channels: Range<usize>) {
        for channel in channels {
            let [mean, rstd] = [self.moments[0][channel], self.moments[1][channel]];
            let planes = || (channel..self.inputs.count()).step_by(self.weight.len());
            let (mut sum, mut product) = (T::ZERO, T::ZERO);
            let is_summed = self.has_statistics || self.of_parameters.iter().any(Option::is_some);
            for plane in planes().take_while(|_| is_summed) {
                let from = [self.grads.get(plane), self.inputs.get(plane)];
                let [more, further] = sums(from, |[grad, x]| [grad, grad * (x - mean)]);
                (sum, product) = (sum + more, product + further);
            }
            for (to, gradient) in self.of_parameters.iter().zip([product * rstd, sum]) {
                let Some(to) = to else { continue };
                // SAFETY: ranges of `run` have no channel in common, so this one is only this thread's, which has one
                // slice of it and writes initialised values.
                let to = unsafe { to.uninit(channel) };
                to[0].write(gradient);
            }
            let count: T = ((self.inputs.count() / self.weight.len() * self.inputs.len()) as i64).cast();
            let (scale, shift, slope) = match self.has_statistics {
                true => (rstd * self.weight[channel], sum / count, product * rstd * rstd / count),
                false => (rstd * self.weight[channel], T::ZERO, T::ZERO),
            };
            let Some(of_input) = &self.of_input else { continue };
            for plane in planes() {
                let (grads, inputs) = (self.grads.get(plane), self.inputs.get(plane));
                // SAFETY: each plane belongs to one channel, and each channel to one thread, which has one slice of it
                // and writes initialised values.
                let out = unsafe { of_input.uninit(plane) };
                for (out, (grad, x)) in zip(out, zip(grads, inputs)) {
                    out.write((*grad - shift - (*x - mean) * slope) * scale);
                }
            }
        }
    }
}
