//! Group norm, of images that lie channel by channel or pixel by pixel: they are read twice, and never copied.
#![expect(unsafe_code, reason = "takes memory that it fills at once")]

use num_traits::Float;
use torch_library::Element;
use torch_library::prelude::*;

use super::{reciprocal_root, rounded, statistics};
use crate::aten;
use crate::composite::norm::check_group_norm;
use crate::cpu::folds::{Moment, Moments};
use crate::loops::pointwise::{common_device, unsupported};
use crate::loops::reduce::fold;
use crate::loops::{self, RowByRow, match_opmath};
use crate::number::Number;

#[torch_impl(aten, CPU)]
fn native_group_norm(
    input: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    n: i64,
    c: i64,
    hx_w: i64,
    group: i64,
    eps: f64,
) -> Result<(Tensor, Tensor, Tensor)> {
    const OPERATOR: &str = aten::native_group_norm::NAME;
    let _lease = loops::all_frozen([input].into_iter().chain(weight).chain(bias))?;
    let groups = Groups { sizes: [n, c, hx_w], count: group };
    groups.check(OPERATOR, input, [weight, bias])?;
    let has_channels = input.sizes().starts_with(&[n, c]);
    let format = if has_channels { input.suggest_memory_format() } else { MemoryFormat::Contiguous };
    let dtype = weight.or(bias).map_or(input.dtype(), Tensor::dtype);
    match_opmath!(input.dtype(), T: Float => {
        // SAFETY: `normalise` writes every element; if it fails, or is not reached, the tensor is dropped here.
        let out = unsafe { loops::uninit_like(input, input.dtype(), format)? };
        let input = aten::contiguous::with(input).memory_format(format).call()?;
        let (mean, rstd) = groups.statistics::<T>(&input, eps)?;
        if loops::has_elements(&out) {
            groups.normalise::<T>(&out, &input, [&mean, &rstd], [weight, bias])?;
        }
        Ok((out, rounded(mean, dtype)?, rounded(rstd, dtype)?))
    }, else => Err(unsupported(OPERATOR, input.dtype())))
}

/// The items, channels and pixels of an input, and the number of groups of channels.
struct Groups {
    sizes: [i64; 3],
    count: i64,
}

impl Groups {
    fn check(&self, operator: &'static str, input: &Tensor, parameters: [Option<&Tensor>; 2]) -> Result<()> {
        let &Groups { sizes: [items, channels, pixels], count } = self;
        check_group_norm(operator, input, [items, channels, pixels, count], parameters)?;
        for parameter in parameters.into_iter().flatten() {
            ensure!(
                parameter.numel() == channels,
                Shape,
                "{operator}: a weight or bias of sizes {:?} for {channels} channels",
                parameter.sizes()
            );
            common_device(operator, &[input, parameter])?;
        }
        Ok(())
    }

    /// The input as `[items, channels, pixels]`; it is contiguous, or its channels are.
    fn planes(&self, tensor: &Tensor) -> Result<Tensor> {
        let [_, channels, pixels] = self.sizes;
        let strides = match tensor.is_contiguous(MemoryFormat::Contiguous) {
            true => [channels.saturating_mul(pixels), pixels, 1],
            false => [channels.saturating_mul(pixels), 1, channels],
        };
        tensor.strided_view(&self.sizes, &strides, tensor.storage_offset())
    }

    /// The means and reciprocal standard deviations of all groups, `[items, groups]`.
    fn statistics<T: Float + Number>(&self, input: &Tensor, eps: f64) -> Result<(Tensor, Tensor)> {
        let &Groups { sizes: [items, channels, pixels], count } = self;
        let sizes = [items, count];
        if !loops::has_elements(input) {
            let unknown = || Tensor::full(&sizes, T::nan().cast::<f64>(), T::DTYPE, input.device());
            return Ok((unknown()?, unknown()?));
        }
        let planes = self.planes(input)?;
        let flat = |tensor: &Tensor| tensor.strided_view(&sizes, &[count, 1], 0);
        if planes.is_contiguous(MemoryFormat::Contiguous) {
            let size = (channels / count).saturating_mul(pixels);
            let groups = planes.strided_view(
                &[items, count, size],
                &[channels.saturating_mul(pixels), size, 1],
                planes.storage_offset(),
            )?;
            let (mean, variance) = statistics::<T>(&groups, &[false, false, true])?;
            return Ok((flat(&mean)?, flat(&reciprocal_root::<T>(&variance, eps)?)?));
        }
        let of_channels = || Tensor::empty(&[items, channels, 1], T::DTYPE, input.device());
        let (means, squares) = (of_channels()?, of_channels()?);
        fold([&means, &squares], &planes, &[false, false, true], &Moments, |moment: Moment<T>| {
            [moment.mean, moment.squares]
        })?;
        let width = (channels / count) as usize;
        let (means, squares) = (means.to_vec::<T>()?, squares.to_vec::<T>()?);
        let groups = means.chunks_exact(width.max(1)).zip(squares.chunks_exact(width.max(1)));
        let (mean, variance): (Vec<T>, Vec<T>) =
            groups.map(|(means, squares)| merged(means, squares, pixels.cast())).unzip();
        let variance = Tensor::from_vec(variance, &sizes)?;
        Ok((Tensor::from_vec(mean, &sizes)?, reciprocal_root::<T>(&variance, eps)?))
    }

    /// Writes `(input - mean) * rstd * weight + bias`: with parameters one multiplication and one addition for each
    /// element, as in PyTorch.
    fn normalise<T: Float + Number>(
        &self,
        out: &Tensor,
        input: &Tensor,
        [mean, rstd]: [&Tensor; 2],
        [weight, bias]: [Option<&Tensor>; 2],
    ) -> Result<()> {
        let (out, input, [items, channels, _]) = (self.planes(out)?, self.planes(input)?, self.sizes);
        let width = (channels / self.count) as usize;
        let for_each = |groups: &Tensor| -> Result<Vec<T>> {
            Ok(groups.to_vec::<T>()?.into_iter().flat_map(|x| std::iter::repeat_n(x, width)).collect())
        };
        let of_channels = |values: Vec<T>| Tensor::from_vec(values, &[items, channels, 1]);
        let (mean, mut scale) = (for_each(mean)?, for_each(rstd)?);
        if weight.is_none() && bias.is_none() {
            let normal = RowByRow(|[x, mean, rstd]: [T; 3]| (x - mean) * rstd);
            return loops::map_elements(&out, [&input, &of_channels(mean)?, &of_channels(scale)?], normal);
        }
        if let Some(weight) = weight.map(loops::elements::<T>).transpose()? {
            scale.iter_mut().zip(weight.iter().cycle()).for_each(|(scale, weight)| *scale = *scale * *weight);
        }
        let mut shift: Vec<T> = mean.iter().zip(&scale).map(|(mean, scale)| -(*mean * *scale)).collect();
        if let Some(bias) = bias.map(loops::elements::<T>).transpose()? {
            shift.iter_mut().zip(bias.iter().cycle()).for_each(|(shift, bias)| *shift = *shift + *bias);
        }
        let scaled = RowByRow(|[x, scale, shift]: [T; 3]| x.mul_add(scale, shift));
        loops::map_elements(&out, [&input, &of_channels(scale)?, &of_channels(shift)?], scaled)
    }
}

/// The mean and the variance of channels of `count` elements each, from their means and squared deviations.
fn merged<T: Float>(means: &[T], squares: &[T], count: T) -> (T, T) {
    let channels = means.iter().fold(T::zero(), |channels, _| channels + T::one());
    let mean = means.iter().fold(T::zero(), |sum, mean| sum + *mean) / channels;
    let between = means.iter().fold(T::zero(), |sum, x| sum + (*x - mean) * (*x - mean));
    let within = squares.iter().fold(T::zero(), |sum, x| sum + *x);
    (mean, (within / count + between) / channels)
}
