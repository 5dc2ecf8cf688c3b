//! Batching rules for convolution: examples become more images, or, if each has weights of its own, more channels.

use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::boxed::{expanded, front};
use super::folding::{channels_apart, channels_together, folded, unfolded};
use crate::aten;

#[torch_impl(aten, FuncTorchBatched)]
fn convolution(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    transposed: bool,
    output_padding: &[i64],
    groups: i64,
) -> Result<Tensor> {
    let level = Level::current()?;
    let batch = level.batch_size();
    let convolve = |input: &Tensor, weight: &Tensor, bias: Option<&Tensor>, groups: i64| {
        aten::convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    };
    let own_bias = bias.filter(|bias| level.has(bias));
    let shared_bias = bias.filter(|bias| !level.has(bias));
    let output = match (level.has(input), level.has(weight)) {
        (false, false) => convolve(input, weight, None, groups)?,
        (true, false) => {
            let images = folded(&front(level, input)?)?;
            unfolded(&convolve(&images, weight, shared_bias, groups)?, 0, batch)?
        }
        (false, true) if groups == 1 && !transposed => {
            let weights = folded(&front(level, weight)?)?;
            channels_apart(&convolve(input, &weights, None, 1)?, batch)?
        }
        (_, true) => {
            // Each example becomes a group of channels.
            let images = channels_together(level, input)?;
            let weights = folded(&front(level, weight)?)?;
            channels_apart(&convolve(&images, &weights, None, batch.saturating_mul(groups))?, batch)?
        }
    };
    let output = match (own_bias, shared_bias) {
        (Some(bias), _) => with_bias(&output, &front(level, bias)?, weight.dim())?,
        (None, Some(bias)) if level.has(weight) => with_bias(&output, bias, weight.dim())?,
        _ => output,
    };
    level.wrap(output, 0)
}

/// The gradients of all examples at once, with each example as a group of channels.
#[torch_impl(aten, FuncTorchBatched)]
fn convolution_backward(
    grad_output: &Tensor,
    input: &Tensor,
    weight: &Tensor,
    bias_sizes: Option<&[i64]>,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    transposed: bool,
    output_padding: &[i64],
    groups: i64,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor, Tensor)> {
    let level = Level::current()?;
    let batch = level.batch_size();
    let bias_sizes =
        bias_sizes.map(|sizes| sizes.iter().map(|size| size.saturating_mul(batch)).collect::<Vec<_>>());
    let (grad_input, grad_weight, grad_bias) = aten::convolution_backward(
        &channels_together(level, grad_output)?,
        &channels_together(level, input)?,
        &folded(&expanded(level, weight)?)?,
        bias_sizes.as_deref(),
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        batch.saturating_mul(groups),
        output_mask,
    )?;
    let is_asked_for = |index: usize| output_mask.get(index).copied().unwrap_or(false);
    let of_parameter = |index: usize, grad: Tensor| match is_asked_for(index) {
        true => level.wrap(unfolded(&grad, 0, batch)?, 0),
        false => Ok(grad),
    };
    let grad_input = match is_asked_for(0) {
        true => level.wrap(channels_apart(&grad_input, batch)?, 0)?,
        false => grad_input,
    };
    Ok((grad_input, of_parameter(1, grad_weight)?, of_parameter(2, grad_bias)?))
}

/// Adds a bias, one for all examples or one for each, to outputs of sizes `[batch, images, channels, …]` or without the
/// batch. The weights, of `rank` dimensions, tell how many are spatial: a single stride may be meant for all of them.
fn with_bias(output: &Tensor, bias: &Tensor, rank: usize) -> Result<Tensor> {
    let bias = if bias.dim() == 2 { aten::unsqueeze(bias, 1)? } else { bias.clone() };
    let bias = (2..rank).try_fold(bias, |bias, _| aten::unsqueeze(&bias, -1))?;
    aten::add_Tensor(output, &bias)
}
