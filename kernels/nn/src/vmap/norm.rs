//! Batching rules for normalisations, with weights that all examples share or that each has.

mod backward;

use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::boxed::{aligned, expanded, front};
use super::folding::{channels_together, folded, unfolded};
use crate::aten;
use crate::below_autograd::below_autograd;

#[torch_impl(aten, FuncTorchBatched)]
mod rules {
    use super::*;

    fn native_layer_norm(
        input: &Tensor,
        normalized_shape: &[i64],
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let level = Level::current()?;
        let is_own = |parameter: Option<&Tensor>| parameter.is_some_and(|parameter| level.has(parameter));
        for parameter in [weight, bias].into_iter().flatten() {
            ensure!(
                parameter.sizes() == normalized_shape,
                Shape,
                "{}: a weight or bias of sizes {:?} for elements of shape {normalized_shape:?}",
                aten::native_layer_norm::NAME,
                parameter.sizes()
            );
        }
        let value = front(level, input)?;
        let shared = !is_own(weight) && !is_own(bias);
        let (weight_inside, bias_inside) = if shared { (weight, bias) } else { (None, None) };
        let (mut out, mean, rstd) =
            aten::native_layer_norm(&value, normalized_shape, weight_inside, bias_inside, eps)?;
        if !shared {
            let rank = input.dim();
            if let Some(weight) = weight {
                out = aten::mul_Tensor(&out, &aligned(level, weight, rank)?)?;
            }
            if let Some(bias) = bias {
                out = aten::add_Tensor(&out, &aligned(level, bias, rank)?)?;
            }
        }
        let statistic = |tensor: Tensor| if level.has(input) { level.wrap(tensor, 0) } else { Ok(tensor) };
        Ok((level.wrap(out, 0)?, statistic(mean)?, statistic(rstd)?))
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
        let level = Level::current()?;
        let running = [running_mean, running_var];
        let shared = running.into_iter().flatten().any(|statistic| !level.has(statistic));
        ensure!(
            !(training && shared && level.has(input)),
            Argument,
            "{}: the running statistics are written to, and all examples share them\n  \
             help: make them inputs of vmap with a batch, or leave them out",
            aten::native_batch_norm::NAME
        );
        ensure!(
            input.dim() >= 2,
            Shape,
            "{}: sizes {:?} have no channels",
            aten::native_batch_norm::NAME,
            input.sizes()
        );
        let normalised =
            |images: &Tensor, [weight, bias]: [Option<&Tensor>; 2], [mean, var]: [Option<&Tensor>; 2]| {
                aten::native_batch_norm(images, weight, bias, mean, var, training, momentum, eps)
            };
        if !level.has(input) && running.into_iter().flatten().all(|statistic| !level.has(statistic)) {
            let (out, mean, invstd) = normalised(input, [None, None], running)?;
            return Ok((level.wrap(scaled(level, out, weight, bias)?, 0)?, mean, invstd));
        }
        // The channels of all examples in one dimension.
        let flat = |parameter: Option<&Tensor>| {
            parameter.map(|parameter| folded(&expanded(level, parameter)?)).transpose()
        };
        let images = channels_together(level, input)?;
        let channels = images.sizes()[1];
        let flat_running = [flat(running_mean)?, flat(running_var)?];
        let parameters = [flat(weight)?, flat(bias)?];
        let (out, mean, invstd) = normalised(
            &images,
            parameters.each_ref().map(Option::as_ref),
            flat_running.each_ref().map(Option::as_ref),
        )?;
        if training {
            for (running, new) in running.into_iter().zip(&flat_running) {
                write_back(level, running, new.as_ref())?;
            }
        }
        let out = aten::transpose_int(&unfolded(&out, 1, level.batch_size())?, 0, 1)?;
        // In evaluation mode there are no statistics of the batch.
        let statistic = |tensor: Tensor| match tensor.numel() {
            0 if channels > 0 => Ok(tensor),
            _ => level.wrap(unfolded(&tensor, 0, level.batch_size())?, 0),
        };
        Ok((level.wrap(out, 0)?, statistic(mean)?, statistic(invstd)?))
    }
}

/// Normalised elements that all examples share, with each example's own weights and biases of the channels.
fn scaled(level: Level, out: Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>) -> Result<Tensor> {
    let (dtype, dims, channels) = (out.dtype(), out.dim(), out.sizes()[1]);
    let of_channels = |parameter: &Tensor| {
        let value =
            if level.has(parameter) { front(level, parameter)? } else { aten::unsqueeze(parameter, 0)? };
        let mut sizes = vec![1; dims + 1];
        (sizes[0], sizes[2]) = (value.sizes()[0], channels);
        aten::reshape(&value, &sizes)
    };
    let mut out = out;
    if let Some(weight) = weight {
        out = aten::mul_Tensor(&out, &of_channels(weight)?)?;
    }
    if let Some(bias) = bias {
        out = aten::add_Tensor(&out, &of_channels(bias)?)?;
    }
    aten::to_dtype(&out, dtype) // parameters may be of a wider type
}

/// Copies running statistics back to the caller's tensor, if they were updated in a copy.
fn write_back(level: Level, running: Option<&Tensor>, new: Option<&Tensor>) -> Result<()> {
    let (Some(running), Some(new)) = (running.filter(|running| level.has(running)), new) else {
        return Ok(());
    };
    let mut value = front(level, running)?;
    if !new.shares_storage_with(&value) {
        let new = unfolded(new, 0, level.batch_size())?;
        below_autograd(|| aten::copy_(&mut value, &new).map(drop))?; // like the kernel's own write
    }
    Ok(())
}
