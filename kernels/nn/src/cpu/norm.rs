//! Normalisation by mean and variance.
#![expect(unsafe_code, reason = "takes memory that it fills at once")]

use num_traits::Float;
use torch_library::Element;
use torch_library::geometry::{contiguous_strides, saturating_numel};
use torch_library::prelude::*;

use super::folds::{Moment, Moments};
use crate::arguments::channels_of;
use crate::aten;
use crate::loops::pointwise::{common_device, unsupported};
use crate::loops::reduce::fold;
use crate::loops::{self, RowByRow, match_opmath, opmath_type};
use crate::number::Number;

pub(super) mod backward;
mod groups;
mod lines;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn native_layer_norm(
        input: &Tensor,
        normalized_shape: &[i64],
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let _lease = loops::all_frozen([input].into_iter().chain(weight).chain(bias))?;
        const OPERATOR: &str = aten::native_layer_norm::NAME;
        let outer = outer_dims(OPERATOR, input, normalized_shape, &[weight, bias])?;
        let is_reduced: Vec<bool> = (0..input.dim()).map(|dim| dim >= outer).collect();
        let dtype = parameter_dtype(OPERATOR, input, &[weight, bias])?;
        match_opmath!(input.dtype(), T: Float => {
            let len = saturating_numel(normalized_shape) as usize;
            let note = || Tensor::empty(&reduced_sizes(input, &is_reduced), T::DTYPE, input.device());
            let (mean, rstd) = (note()?, note()?);
            if len == 0 {
                loops::map(&rstd, [], |[]: [T; 0]| T::nan())?; // the reciprocal standard deviation of no elements
            }
            let (input, parameters) = (loops::contiguous(input)?, [weight, bias]);
            let out = lines::layer_norm::<T>(&input, len.max(1), [&mean, &rstd], parameters, eps)?;
            Ok((out, rounded(mean, dtype)?, rounded(rstd, dtype)?))
        }, else => Err(unsupported(OPERATOR, input.dtype())))
    }

    fn native_batch_norm(
        input: &Tensor,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        running_mean: Option<&Tensor>,
        running_var: Option<&Tensor>,
        training: bool,
        momentum: f64,
        eps: f64,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        // Training writes to the running statistics, so only its other arguments stay as they are.
        let statistics = [running_mean, running_var].into_iter().flatten().filter(|_| !training);
        let _lease = loops::all_frozen([input].into_iter().chain(weight).chain(bias).chain(statistics))?;
        const OPERATOR: &str = aten::native_batch_norm::NAME;
        let channels = channels_of(OPERATOR, input, &[])?;
        let first = |parameter, is_vector| leading(OPERATOR, parameter, channels, is_vector);
        let (weight, bias) = (first(weight, false)?, first(bias, false)?);
        let (running_mean, running_var) = (first(running_mean, true)?, first(running_var, true)?);
        let (weight, bias) = (weight.as_ref(), bias.as_ref());
        let (running_mean, running_var) = (running_mean.as_ref(), running_var.as_ref());
        channels_of(OPERATOR, input, &[weight, bias, running_mean, running_var])?;
        let dtype = parameter_dtype(OPERATOR, input, &[weight, bias, running_mean, running_var])?;
        ensure!(
            running_mean.is_some() == running_var.is_some(),
            Argument,
            "{OPERATOR}: only one of running_mean and running_var is given, expected both or neither"
        );
        ensure!(
            !training || input.numel() > 0,
            Shape,
            "{OPERATOR}: sizes {:?} have no elements to take a mean of",
            input.sizes()
        );
        let lies_in_rows = [Some(input), weight, bias, running_mean, running_var]
            .iter()
            .flatten()
            .all(|tensor| tensor.is_contiguous(MemoryFormat::Contiguous));
        let format = if lies_in_rows { MemoryFormat::Contiguous } else { input.suggest_memory_format() };
        // SAFETY: `scaled` writes every element before any is read; if it fails, or is not reached, the tensor is
        // dropped here.
        let out = unsafe { loops::uninit_like(input, input.dtype(), format)? };
        let per_channel = |vector: &Tensor| along_channels(vector, input.dim());
        let (weight, bias) = (weight.map(per_channel).transpose()?, bias.map(per_channel).transpose()?);
        match_opmath!(input.dtype(), T: Float => {
            let (mut mean, variance) = if training {
                trained::<T>(input, channels, [running_mean, running_var], momentum)?
            } else {
                let (Some(mean), Some(variance)) = (running_mean, running_var) else {
                    bail!(Argument, "{OPERATOR}: outside of training the running mean and variance are needed");
                };
                (per_channel(mean)?, per_channel(variance)?)
            };
            let mut rstd = reciprocal_root::<T>(&variance, eps)?;
            if training {
                // Where the variance and `eps` are zero, the factor is zero instead of infinite.
                loops::map(&rstd, [&rstd], |[rstd]: [T; 1]| if rstd.is_infinite() { T::ZERO } else { rstd })?;
                // Rounded as they are returned, since the gradient will read the rounded ones.
                (mean, rstd) = (rounded(mean, dtype)?, rounded(rstd, dtype)?);
            }
            scaled::<T>(&out, input, &mean, &rstd, weight.as_ref(), bias.as_ref())?;
            let save = |x: &Tensor| match training {
                true => x.strided_view(&[channels], &[1], 0),
                false => Tensor::empty(&[0], dtype, input.device()),
            };
            Ok((out, save(&mean)?, save(&rstd)?))
        }, else => Err(unsupported(OPERATOR, input.dtype())))
    }

    fn batch_norm_update_stats(
        input: &Tensor,
        running_mean: Option<&Tensor>,
        running_var: Option<&Tensor>,
        momentum: f64,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::batch_norm_update_stats::NAME;
        let _lease = loops::frozen([input])?;
        let channels = channels_of(OPERATOR, input, &[running_mean, running_var])?;
        let dtype = parameter_dtype(OPERATOR, input, &[running_mean, running_var])?;
        ensure!(
            input.numel() > 0,
            Shape,
            "{OPERATOR}: sizes {:?} have no elements to take a mean of",
            input.sizes()
        );
        match_opmath!(input.dtype(), T: Float => {
            let (mean, variance) = trained::<T>(input, channels, [running_mean, running_var], momentum)?;
            let saved = |x: &Tensor| rounded(x.strided_view(&[channels], &[1], 0)?, dtype);
            Ok((saved(&mean)?, saved(&variance)?))
        }, else => Err(unsupported(OPERATOR, input.dtype())))
    }
}

/// The statistics of a batch, which also update the running ones.
fn trained<T: Float + Number>(
    input: &Tensor,
    channels: i64,
    [running_mean, running_var]: [Option<&Tensor>; 2],
    momentum: f64,
) -> Result<(Tensor, Tensor)> {
    let is_reduced: Vec<bool> = (0..input.dim()).map(|dim| dim != 1).collect();
    let (mean, variance) = statistics::<T>(input, &is_reduced)?;
    let count: T = (input.numel() / channels.max(1)).cast();
    let unbias = count / (count - T::ONE);
    update(running_mean, &mean, momentum.cast(), T::ONE)?;
    update(running_var, &variance, momentum.cast(), unbias)?;
    Ok((mean, variance))
}

pub(super) fn reduced_sizes(input: &Tensor, is_reduced: &[bool]) -> Vec<i64> {
    input
        .sizes()
        .iter()
        .zip(is_reduced)
        .map(|(size, is_reduced)| if *is_reduced { 1 } else { *size })
        .collect()
}

/// Means and variances, in the opmath type; reduced dimensions are kept with size 1.
fn statistics<T: Float + Number>(input: &Tensor, is_reduced: &[bool]) -> Result<(Tensor, Tensor)> {
    let sizes = reduced_sizes(input, is_reduced);
    let empty = || Tensor::empty(&sizes, T::DTYPE, input.device());
    let (mean, variance) = (empty()?, empty()?);
    let count: T = (input.numel() / mean.numel().max(1)).cast();
    fold([&mean, &variance], input, is_reduced, &Moments, |moment: Moment<T>| {
        [moment.mean, moment.squares / count]
    })?;
    Ok((mean, variance))
}

/// The reciprocal standard deviations.
fn reciprocal_root<T: Float + Number>(variance: &Tensor, eps: f64) -> Result<Tensor> {
    let out = Tensor::empty(variance.sizes(), T::DTYPE, variance.device())?;
    let of_variance = |variance: f64| -> T { (variance + eps).sqrt().recip().cast() };
    loops::map(&out, [variance], |[variance]: [T; 1]| of_variance(variance.cast()))?;
    Ok(out)
}

/// `(input - mean) * rstd * weight + bias`, for statistics and parameters of channels: one fused multiply-add for each
/// element, as in PyTorch. Where an input equals its mean, hardly more than the rounding error is left.
fn scaled<T: Float + Number>(
    out: &Tensor,
    input: &Tensor,
    mean: &Tensor,
    rstd: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
) -> Result<()> {
    let empty = || Tensor::empty(rstd.sizes(), T::DTYPE, rstd.device());
    let (scale, shift) = (empty()?, empty()?);
    match weight {
        Some(weight) => loops::map(&scale, [rstd, weight], |[rstd, weight]: [T; 2]| rstd * weight)?,
        None => loops::map(&scale, [rstd], |[rstd]: [T; 1]| rstd)?,
    }
    match bias {
        Some(bias) => loops::map(&shift, [bias, mean, &scale], |[b, m, s]: [T; 3]| (-m).mul_add(s, b))?,
        None => loops::map(&shift, [mean, &scale], |[m, s]: [T; 2]| -(m * s))?,
    }
    let scaled = RowByRow(|[x, scale, shift]: [T; 3]| x.mul_add(scale, shift));
    loops::map_elements(out, [input, &scale, &shift], scaled)
}

/// The first elements of a parameter, one for each channel. PyTorch ignores further elements, and also the number of
/// dimensions unless the parameter has to be a vector.
fn leading(
    operator: &str,
    parameter: Option<&Tensor>,
    channels: i64,
    is_vector: bool,
) -> Result<Option<Tensor>> {
    let Some(parameter) = parameter else { return Ok(None) };
    let stride = match parameter.strides() {
        _ if parameter.sizes() == [channels] || parameter.numel() < channels => None,
        [stride] => Some(*stride),
        _ => (!is_vector && parameter.is_contiguous(MemoryFormat::Contiguous)).then_some(1),
    };
    let Some(stride) = stride else { return Ok(Some(parameter.clone())) };
    let leading = parameter.strided_view(&[channels], &[stride], parameter.storage_offset());
    leading.map(Some).map_err(|error| error.context(operator))
}

/// Updates a running statistic with that of a batch, multiplied by `scale`.
fn update<T: Float + Number>(running: Option<&Tensor>, batch: &Tensor, momentum: T, scale: T) -> Result<()> {
    let Some(running) = running else { return Ok(()) };
    let batch = batch.strided_view(&[batch.numel()], &[1], 0)?;
    loops::map(running, [running, &batch], |[old, new]: [T; 2]| {
        momentum * (new * scale) + (T::ONE - momentum) * old
    })
}

/// The number of dimensions before those that are normalised.
fn outer_dims(
    operator: &'static str,
    input: &Tensor,
    normalized: &[i64],
    parameters: &[Option<&Tensor>],
) -> Result<usize> {
    ensure!(
        !normalized.is_empty() && input.sizes().ends_with(normalized),
        Shape,
        "{operator}: sizes {:?} do not end in the normalized_shape {normalized:?}, which needs a dimension",
        input.sizes()
    );
    for parameter in parameters.iter().flatten() {
        ensure!(
            parameter.sizes() == normalized,
            Shape,
            "{operator}: a weight or bias has sizes {:?}, expected {normalized:?}",
            parameter.sizes()
        );
        common_device(operator, &[input, parameter])?;
    }
    Ok(input.dim() - normalized.len())
}

/// The type of parameters and statistics: the input's, or `float32` for an input of 16-bit floats.
fn parameter_dtype(operator: &str, input: &Tensor, parameters: &[Option<&Tensor>]) -> Result<DType> {
    let mut dtype = None;
    for parameter in parameters.iter().flatten() {
        let found = parameter.dtype();
        ensure!(
            *dtype.get_or_insert(found) == found
                && (found == input.dtype() || found == opmath_type(input.dtype())),
            DType,
            "{operator}: parameters of {found} do not fit an input of {}",
            input.dtype()
        );
    }
    Ok(dtype.unwrap_or(input.dtype()))
}

/// A view of a vector along dimension 1 of `ndim` dimensions.
fn along_channels(vector: &Tensor, ndim: usize) -> Result<Tensor> {
    let mut sizes = vec![1; ndim];
    sizes[1] = vector.numel();
    let mut strides = contiguous_strides(&sizes);
    strides[1] = vector.strides()[0];
    vector.strided_view(&sizes, &strides, vector.storage_offset())
}

/// A tensor converted to the type in which it is returned.
pub(super) fn rounded(tensor: Tensor, dtype: DType) -> Result<Tensor> {
    if tensor.dtype() == dtype && tensor.storage_offset() == 0 {
        Ok(tensor)
    } else {
        loops::copy(&tensor, dtype)
    }
}
