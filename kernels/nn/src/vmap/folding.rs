//! How examples run as more images, or as more channels: the batch of `vmap` and dimensions of an operator become one.

use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::boxed::{call, expanded, wrapped};
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
pub(super) fn images(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    batches(operator, stack, |image| image.dim() == 4, |_, _| ())
}

/// Like [`images`], for volumes.
pub(super) fn volumes(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    batches(operator, stack, |volume| volume.dim() == 5, |_, _| ())
}

/// Like [`images`], for operators that always have a batch dimension, which is also in the sizes that a gradient gets.
pub(super) fn resized(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
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
pub(super) fn signals(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
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
