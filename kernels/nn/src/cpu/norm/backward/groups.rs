//! The gradients of group norm, whose groups are some channels of an item: adjacent planes.
#![expect(
    unsafe_code,
    reason = "promises that kernels write every element, and lends planes of tensors as slices"
)]

use std::ops::Range;

use num_traits::Float;
use torch_library::Element;
use torch_library::prelude::*;

use super::lines::{LONG, Lines, run, sums, uninit};
use super::{or_undefined, rounded};
use crate::arguments::check_groups;
use crate::aten;
use crate::cpu::output_mask;
use crate::inlined::zip;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::pointwise::{common_device, unsupported};
use crate::loops::{self, match_opmath};
use crate::number::Number;

#[torch_impl(aten, CPU)]
fn native_group_norm_backward(
    grad_out: &Tensor,
    input: &Tensor,
    mean: &Tensor,
    rstd: &Tensor,
    weight: Option<&Tensor>,
    n: i64,
    c: i64,
    hx_w: i64,
    group: i64,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor, Tensor)> {
    let _lease = loops::all_frozen([grad_out, input, mean, rstd].into_iter().chain(weight))?;
    const OPERATOR: &str = aten::native_group_norm_backward::NAME;
    let mask = output_mask::output_mask(OPERATOR, output_mask)?;
    let operands = [grad_out, input, mean, rstd];
    check_groups(OPERATOR, [n, c, hx_w, group], operands, weight)?;
    common_device(OPERATOR, &operands)?;
    let of_parameters = weight.map_or(input.dtype(), Tensor::dtype);
    match_opmath!(input.dtype(), T: Float => {
        let [of_input, of_weight, of_bias] = gradients::<T>(operands, weight, [c, hx_w], mask)?;
        let in_format = |gradient| {
            let format = input.suggest_memory_format();
            aten::contiguous::with(&rounded(gradient, input.dtype())?).memory_format(format).call()
        };
        Ok((
            or_undefined(of_input, in_format)?,
            or_undefined(of_weight, |gradient| rounded(gradient, of_parameters))?,
            or_undefined(of_bias, |gradient| rounded(gradient, of_parameters))?,
        ))
    }, else => Err(unsupported(OPERATOR, input.dtype())))
}

/// The gradients of input, weight and bias, as far as the output mask wants them.
fn gradients<T: Float + Number>(
    [grad, input, mean, rstd]: [&Tensor; 4],
    weight: Option<&Tensor>,
    [channels, plane]: [i64; 2],
    output_mask: [bool; 3],
) -> Result<[Option<Tensor>; 3]> {
    let of_input = output_mask[0].then(|| uninit::<T>(input, input.sizes())).transpose()?;
    let mut of_channels = [(); 2].map(|()| vec![T::ZERO; channels as usize]);
    if loops::has_elements(input) {
        let (planes, groups) = (input.numel() / plane, mean.numel());
        // The sums of each plane, for the weight and for the bias.
        let of_planes = uninit::<T>(input, &[planes, 2])?;
        let lines = GroupNorm {
            grads: Parts::row_major(grad, plane as usize)?,
            inputs: Parts::row_major(input, plane as usize)?,
            moments: [loops::elements::<T>(mean)?, loops::elements::<T>(rstd)?],
            weight: weight.map_or_else(|| Ok(vec![T::ONE; channels as usize]), loops::elements::<T>)?,
            width: (planes / groups) as usize,
            of_input: of_input.as_ref().map(|of_input| PartsMut::of(of_input, plane as usize)).transpose()?,
            of_planes: PartsMut::of(&of_planes, 2)?,
        };
        run(&lines, groups as usize, lines.width * plane as usize, 1);
        drop(lines); // ends its leases
        for (n, sums) in of_planes.to_vec::<T>()?.as_chunks::<2>().0.iter().enumerate() {
            for (of_channel, sum) in zip(&mut of_channels, sums) {
                let of_channel = &mut of_channel[n % channels as usize];
                *of_channel = *of_channel + *sum;
            }
        }
    }
    let [of_weight, of_bias] = of_channels;
    let parameter = |n: usize, gradient: Vec<T>| {
        output_mask[n].then(|| Tensor::from_vec(gradient, &[channels])).transpose()
    };
    Ok([of_input, parameter(1, of_weight)?, parameter(2, of_bias)?])
}

/// The operands, with a part for each plane, and the results.
struct GroupNorm<T> {
    grads: Parts<T>,
    inputs: Parts<T>,
    /// Means, and reciprocal standard deviations, of the groups.
    moments: [Vec<T>; 2],
    weight: Vec<T>,
    /// The number of planes of a group.
    width: usize,
    of_input: Option<PartsMut<T>>,
    of_planes: PartsMut<T>,
}

impl<T: Float + Number> Lines for GroupNorm<T> {
    #[inline(always)]
    fn run(&self, groups: Range<usize>) {
        for group in groups {
            let [mean, rstd] = [self.moments[0][group], self.moments[1][group]];
            let planes = group * self.width..(group + 1) * self.width;
            let (mut sum, mut product) = (T::ZERO, T::ZERO);
            for plane in planes.clone() {
                let [of_grad, of_product] = self.sums_of(plane, mean);
                let weight = self.weight[plane % self.weight.len()];
                (sum, product) = (sum + weight * of_grad, product + weight * of_product);
                // SAFETY: ranges of `run` have no group in common, so this plane is only this thread's, which has one
                // slice of it and writes initialised values.
                let to = unsafe { self.of_planes.uninit(plane) };
                to[0].write(of_product * rstd);
                to[1].write(of_grad);
            }
            let Some(of_input) = &self.of_input else { continue };
            let count: T = ((self.width * self.inputs.len()) as i64).cast();
            let (shift, slope) = (sum / count, product * rstd * rstd / count);
            for plane in planes {
                let (grads, inputs) = (self.grads.get(plane), self.inputs.get(plane));
                let weight = self.weight[plane % self.weight.len()];
                // SAFETY: ranges of `run` have no group in common, so this plane of the result is only this thread's,
                // which has one slice of it and writes initialised values.
                let out = unsafe { of_input.uninit(plane) };
                for (out, (grad, x)) in zip(out, zip(grads, inputs)) {
                    out.write((*grad * weight - shift - (*x - mean) * slope) * rstd);
                }
            }
        }
    }
}

impl<T: Float + Number> GroupNorm<T> {
    /// The sums, over a plane, of the gradient, and of the gradient times the distance from the mean.
    #[inline(always)]
    fn sums_of(&self, plane: usize, mean: T) -> [T; 2] {
        let from = [self.grads.get(plane), self.inputs.get(plane)];
        let terms = |[grad, x]: [T; 2]| [grad, grad * (x - mean)];
        if self.inputs.len() >= LONG {
            return sums(from, terms);
        }
        let mut all = [T::ZERO; 2];
        for (grad, x) in zip(from[0], from[1]) {
            let [of_grad, of_product] = terms([*grad, *x]);
            all = [all[0] + of_grad, all[1] + of_product];
        }
        all
    }
}
