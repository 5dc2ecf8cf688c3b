//! Batching rules for convolution and pooling: examples become more images, or, if each has weights of its own, more
//! channels.

use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::boxed::{call, expanded, front, rules, wrapped};
use crate::aten;

/// Flattens the first two dimensions into one.
pub(super) fn folded(tensor: &Tensor) -> Result<Tensor> {
    let [first, second, rest @ ..] = tensor.sizes() else {
        bail!(
            Shape,
            "an example is a single number, expected at least one dimension, for channels or a batch"
        )
    };
    aten::reshape(tensor, &[&[first.saturating_mul(*second)], rest].concat())
}

/// Splits one dimension into two, of which the first has the size `first`.
pub(super) fn unfolded(tensor: &Tensor, dim: usize, first: i64) -> Result<Tensor> {
    let (before, sizes) = tensor.sizes().split_at(dim);
    let rest = if first == 0 { 0 } else { sizes[0] / first };
    aten::reshape(tensor, &[before, &[first, rest], &sizes[1..]].concat())
}

/// Runs an operator on images, with the batches of all examples as one large batch.
fn images(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    batches(operator, stack, |image| image.dim() == 4, |_, _| ())
}

/// Like [`images`], for volumes.
fn volumes(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    batches(operator, stack, |volume| volume.dim() == 5, |_, _| ())
}

/// Like [`images`], for operators that always have a batch dimension, which is also in the sizes that a gradient gets.
fn resized(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let level = Level::current()?;
    batches(
        operator,
        stack,
        |_| true,
        |argument, ndim| {
            if let Value::Ints(sizes) = argument
                && sizes.len() == ndim
            {
                let batch = sizes[0].saturating_mul(level.batch_size());
                *argument = [&[batch], &sizes[1..]].concat().into();
            }
        },
    )
}

/// Like [`images`], for signals and columns.
fn signals(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    batches(operator, stack, |columns| columns.dim() == 3, |_, _| ())
}

fn batches(
    operator: OperatorHandle,
    stack: &mut Stack<'_>,
    has_batch: impl Fn(&Tensor) -> bool,
    adapt: impl Fn(&mut Value<'_>, usize),
) -> Result<()> {
    let level = Level::current()?;
    let mut arguments = operator.take_arguments(stack)?;
    let has_batch = arguments[0].as_tensor().is_some_and(has_batch);
    let ndim = arguments[0].as_tensor().map_or(0, Tensor::dim);
    for argument in &mut arguments {
        if let Some(tensor) = argument.as_tensor() {
            let value = expanded(level, tensor)?;
            *argument = if has_batch { folded(&value)? } else { value }.into();
        } else {
            adapt(argument, ndim);
        }
    }
    let mut returns: Vec<_> = call(operator, arguments)?.into_iter().map(Value::into_owned).collect();
    if has_batch {
        for value in &mut returns {
            if let Some(tensor) = value.as_tensor().filter(|tensor| tensor.is_defined()) {
                *value = unfolded(tensor, 0, level.batch_size())?.into();
            }
        }
    }
    wrapped(level, stack, returns, 0)
}

rules! {
    pools: images =>
        avg_pool2d max_pool2d_with_indices _adaptive_avg_pool2d avg_pool2d_backward
        max_pool2d_with_indices_backward _adaptive_avg_pool2d_backward adaptive_max_pool2d adaptive_max_pool2d_backward;
    pools_of_volumes: volumes =>
        avg_pool3d max_pool3d_with_indices _adaptive_avg_pool3d avg_pool3d_backward max_pool3d_with_indices_backward
        _adaptive_avg_pool3d_backward adaptive_max_pool3d adaptive_max_pool3d_backward;
    unfolds: images => im2col;
    pads_of_signals: signals =>
        reflection_pad1d reflection_pad1d_backward replication_pad1d replication_pad1d_backward;
    pads: images => reflection_pad2d reflection_pad2d_backward replication_pad2d replication_pad2d_backward;
    pads_of_volumes: volumes =>
        reflection_pad3d reflection_pad3d_backward replication_pad3d replication_pad3d_backward;
    folds: signals => col2im;
    samples: resized =>
        grid_sampler_2d grid_sampler_2d_backward grid_sampler_3d grid_sampler_3d_backward;
    resizes: resized =>
        upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_nearest1d_backward upsample_nearest2d_backward
        upsample_nearest3d_backward _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d
        _upsample_nearest_exact1d_backward _upsample_nearest_exact2d_backward _upsample_nearest_exact3d_backward
        upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d upsample_linear1d_backward
        upsample_bilinear2d_backward upsample_trilinear3d_backward upsample_bicubic2d_backward;
}

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
        (Some(bias), _) => with_bias(&output, &front(level, bias)?, stride.len())?,
        (None, Some(bias)) if level.has(weight) => with_bias(&output, bias, stride.len())?,
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

/// The images of all examples as one batch of images that have the channels of all examples.
pub(super) fn channels_together(level: Level, images: &Tensor) -> Result<Tensor> {
    ensure!(images.dim() >= 2, Shape, "images of sizes {:?} have no channels", images.sizes());
    let sizes = images.sizes();
    // A number of channels that overflows, which only images without pixels can have, is refused by the reshape.
    let channels = [&[sizes[0], level.batch_size().saturating_mul(sizes[1])], &sizes[2..]].concat();
    aten::reshape(&aten::transpose_int(&expanded(level, images)?, 0, 1)?, &channels)
}

/// Splits an output with the channels of all examples into one output for each example.
pub(super) fn channels_apart(output: &Tensor, batch: i64) -> Result<Tensor> {
    aten::transpose_int(&unfolded(output, 1, batch)?, 0, 1)
}

/// Adds a bias, one for all examples or one for each, to outputs of sizes `[batch, images, channels, …]` or without the
/// batch.
fn with_bias(output: &Tensor, bias: &Tensor, spatial: usize) -> Result<Tensor> {
    let bias = if bias.dim() == 2 { aten::unsqueeze(bias, 1)? } else { bias.clone() };
    let bias = (0..spatial).try_fold(bias, |bias, _| aten::unsqueeze(&bias, -1))?;
    aten::add_Tensor(output, &bias)
}
