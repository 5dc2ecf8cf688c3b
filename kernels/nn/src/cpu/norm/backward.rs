//! The gradients of the normalisations.

use num_traits::Float;
use torch_library::Element;
use torch_library::geometry::{contiguous_strides, saturating_numel};
use torch_library::prelude::*;

use super::{along_channels, outer_dims, reciprocal_root, reduced_sizes, rounded};
use crate::arguments::channels_of;
use crate::aten;
use crate::cpu::folds::Sum;
use crate::cpu::output_mask;
use crate::loops::pointwise::{common_device, unsupported};
use crate::loops::reduce::fold;
use crate::loops::{self, match_opmath};
use crate::number::Number;

mod columns;
mod groups;
pub(crate) mod lines;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn native_layer_norm_backward(
        grad_out: &Tensor,
        input: &Tensor,
        normalized_shape: &[i64],
        mean: &Tensor,
        rstd: &Tensor,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        output_mask: &[bool],
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let _lease = loops::all_frozen([grad_out, input, mean, rstd].into_iter().chain(weight).chain(bias))?;
        const OPERATOR: &str = aten::native_layer_norm_backward::NAME;
        let outer = outer_dims(OPERATOR, input, normalized_shape, &[weight, bias])?;
        let is_inner: Vec<bool> = (0..input.dim()).map(|dim| dim >= outer).collect();
        let is_outer: Vec<bool> = is_inner.iter().map(|is_inner| !is_inner).collect();
        let normal = Normal { operator: OPERATOR, grad: grad_out, input, mean, rstd, weight };
        let mask @ [of_input, of_weight, of_bias] = output_mask::output_mask(OPERATOR, output_mask)?;
        let parameter = |parameter: Option<&Tensor>, sums: Tensor| {
            rounded(shaped(&sums, normalized_shape)?, parameter.map_or(input.dtype(), Tensor::dtype))
        };
        normal.check()?;
        let has_moments = |length: &usize| {
            let fits = |moment: &Tensor| (moment.numel() as usize).checked_mul(*length);
            [mean, rstd].iter().all(|moment| fits(moment) == Some(input.numel() as usize))
        };
        let length = line_length(input, &is_inner).filter(has_moments);
        match_opmath!(input.dtype(), T: Float => {
            if let Some(length) = length {
                let [of_x, of_w, of_b] = lines::layer_norm::<T>(&normal, length, mask)?;
                return Ok((
                    or_undefined(of_x, |of_x| rounded(of_x, input.dtype()))?,
                    or_undefined(of_w, |of_w| parameter(weight, of_w))?,
                    or_undefined(of_b, |of_b| parameter(bias, of_b))?,
                ));
            }
            Ok((
                part(of_input, || normal.of_input::<T>(&is_inner, true, MemoryFormat::Contiguous))?,
                part(of_weight, || parameter(weight, normal.of_weight::<T>(&is_outer)?))?,
                part(of_bias, || parameter(bias, sums::<T>(grad_out, &is_outer)?))?,
            ))
        }, else => Err(unsupported(OPERATOR, input.dtype())))
    }

    fn native_batch_norm_backward(
        grad_out: &Tensor,
        input: &Tensor,
        weight: Option<&Tensor>,
        running_mean: Option<&Tensor>,
        running_var: Option<&Tensor>,
        save_mean: Option<&Tensor>,
        save_invstd: Option<&Tensor>,
        train: bool,
        eps: f64,
        output_mask: &[bool],
    ) -> Result<(Tensor, Tensor, Tensor)> {
        const OPERATOR: &str = aten::native_batch_norm_backward::NAME;
        let saved = if train { [save_mean, save_invstd] } else { [running_mean, running_var] };
        let _lease = loops::all_frozen(
            [grad_out, input].into_iter().chain(weight).chain(saved.into_iter().flatten()),
        )?;
        let [Some(mean), Some(scale)] = saved else {
            bail!(
                Argument,
                "{OPERATOR}: {} are needed",
                if train { "save_mean and save_invstd" } else { "running_mean and running_var" }
            );
        };
        channels_of(OPERATOR, input, &[weight, Some(mean), Some(scale)])?;
        let dtype = weight.unwrap_or(mean).dtype(); // 16-bit inputs may have parameters of float32
        let per_channel = |vector: &Tensor| along_channels(vector, input.dim());
        let (mean, scale, weight) =
            (per_channel(mean)?, per_channel(scale)?, weight.map(per_channel).transpose()?);
        let is_reduced: Vec<bool> = (0..input.dim()).map(|dim| dim != 1).collect();
        let mask @ [of_input, of_weight, of_bias] = output_mask::output_mask(OPERATOR, output_mask)?;
        let parameter = |sums: Tensor| rounded(shaped(&sums, &[sums.numel()])?, dtype);
        match_opmath!(input.dtype(), T: Float => {
            let rstd = if train { scale } else { reciprocal_root::<T>(&scale, eps)? };
            let (mean, rstd, weight) = (&mean, &rstd, weight.as_ref());
            let normal = Normal { operator: OPERATOR, grad: grad_out, input, mean, rstd, weight };
            normal.check()?;
            let format = input.suggest_memory_format();
            let plane = saturating_numel(&input.sizes()[2..]) as usize;
            let is_short = format != MemoryFormat::Contiguous || plane < columns::LONG;
            let gradients = match is_short {
                _ if !loops::has_elements(input) => None,
                true if input.sizes()[1] < columns::FEWEST => None,
                true => Some(columns::batch_norm::<T>(&normal, format, train, mask)?),
                false => Some(lines::batch_norm::<T>(&normal, plane, train, mask)?),
            };
            if let Some([of_x, of_w, of_b]) = gradients {
                return Ok((
                    or_undefined(of_x, |of_x| rounded(of_x, input.dtype()))?,
                    or_undefined(of_w, parameter)?,
                    or_undefined(of_b, parameter)?,
                ));
            }
            Ok((
                part(of_input, || normal.of_input::<T>(&is_reduced, train, format))?,
                part(of_weight, || parameter(normal.of_weight::<T>(&is_reduced)?))?,
                part(of_bias, || parameter(sums::<T>(grad_out, &is_reduced)?))?,
            ))
        }, else => Err(unsupported(OPERATOR, input.dtype())))
    }
}

/// The operands of `(input - mean) * rstd * weight`, and the gradient of the result.
struct Normal<'a> {
    operator: &'static str,
    grad: &'a Tensor,
    input: &'a Tensor,
    mean: &'a Tensor,
    rstd: &'a Tensor,
    weight: Option<&'a Tensor>,
}

impl Normal<'_> {
    fn check(&self) -> Result<()> {
        ensure!(
            self.grad.sizes() == self.input.sizes(),
            Shape,
            "{}: a gradient of sizes {:?} for an input of {:?}",
            self.operator,
            self.grad.sizes(),
            self.input.sizes()
        );
        common_device(self.operator, &[self.input, self.grad, self.mean, self.rstd])?;
        Ok(())
    }

    /// The gradient of the input; mean and standard deviation are either statistics of its reduced dimensions, or
    /// constants.
    fn of_input<T: Float + Number>(
        &self,
        is_reduced: &[bool],
        has_statistics: bool,
        format: MemoryFormat,
    ) -> Result<Tensor> {
        let (input, mean, rstd) = (self.input, self.mean, self.rstd);
        let out = input.empty_like(input.dtype(), format)?;
        let grad = match self.weight {
            None => self.grad.clone(),
            Some(weight) => {
                let grad = self.wide::<T>()?;
                loops::map(&grad, [self.grad, weight], |[grad, weight]: [T; 2]| grad * weight)?;
                grad
            }
        };
        if !has_statistics {
            loops::map(&out, [&grad, rstd], |[grad, rstd]: [T; 2]| grad * rstd)?;
            return Ok(out);
        }
        let products = self.wide::<T>()?;
        loops::map(&products, [&grad, input, mean, rstd], |[g, x, m, r]: [T; 4]| g * (x - m) * r)?;
        let (sum, product) = (sums::<T>(&grad, is_reduced)?, sums::<T>(&products, is_reduced)?);
        let count: T = (input.numel() / sum.numel().max(1)).cast();
        loops::map(
            &out,
            [&grad, input, mean, rstd, &sum, &product],
            |[g, x, m, r, sum, product]: [T; 6]| (g - (sum + (x - m) * r * product) / count) * r,
        )?;
        Ok(out)
    }

    fn of_weight<T: Float + Number>(&self, is_reduced: &[bool]) -> Result<Tensor> {
        let products = self.wide::<T>()?;
        let inputs = [self.grad, self.input, self.mean, self.rstd];
        loops::map(&products, inputs, |[g, x, m, r]: [T; 4]| g * (x - m) * r)?;
        sums::<T>(&products, is_reduced)
    }

    fn wide<T: Element>(&self) -> Result<Tensor> {
        Tensor::empty(self.input.sizes(), T::DTYPE, self.input.device())
    }
}

/// The length of the lines that are reduced, if these are the last dimensions and there are any elements.
pub(crate) fn line_length(tensor: &Tensor, is_reduced: &[bool]) -> Option<usize> {
    let outer = is_reduced.iter().take_while(|is_reduced| !**is_reduced).count();
    let is_line = outer < is_reduced.len() && is_reduced[outer..].iter().all(|is_reduced| *is_reduced);
    let len = saturating_numel(&tensor.sizes()[outer..]) as usize;
    (is_line && loops::has_elements(tensor)).then_some(len)
}

/// Sums in the opmath type; reduced dimensions are kept with size 1.
pub(crate) fn sums<T: Number>(tensor: &Tensor, is_reduced: &[bool]) -> Result<Tensor> {
    let out = Tensor::empty(&reduced_sizes(tensor, is_reduced), T::DTYPE, tensor.device())?;
    fold([&out], tensor, is_reduced, &Sum, |sum: T| [sum])?;
    Ok(out)
}

/// A contiguous tensor, reshaped.
fn shaped(tensor: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    tensor.strided_view(sizes, &contiguous_strides(sizes), tensor.storage_offset())
}

/// One of several gradients, or an undefined tensor if it is not wanted.
fn part(is_wanted: bool, f: impl FnOnce() -> Result<Tensor>) -> Result<Tensor> {
    if is_wanted { f() } else { Ok(Tensor::undefined()) }
}

/// A gradient after a last step, or an undefined tensor if it was not computed.
fn or_undefined(gradient: Option<Tensor>, f: impl FnOnce(Tensor) -> Result<Tensor>) -> Result<Tensor> {
    gradient.map_or_else(|| Ok(Tensor::undefined()), f)
}
