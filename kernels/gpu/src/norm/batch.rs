//! Batch norm: each channel is normalised by statistics of the batch, or by running statistics.

use super::{Backward, OfEqualNumbers, Rows, Way, are_ours, shaped};
use crate::arguments::{Arguments, all_on_meta};
use crate::backend::{GpuBackend, Tensors, index_of};
use crate::kernel::{KernelBuilder, computed};
use torch_library::prelude::*;

fn norm(x: &Tensor) -> Way {
    let [batch, channels] = [x.sizes()[0], x.sizes()[1]];
    let pixels = x.numel() / (batch * channels).max(1);
    let rows = Rows::across(batch, channels, pixels);
    Way { statistics: rows, affine: rows, of_equal_numbers: OfEqualNumbers::Zero }
}

/// Whether kernels can write running statistics in place.
fn is_compact(tensor: &Tensor) -> bool {
    tensor.is_contiguous(MemoryFormat::Contiguous)
}

pub fn native_batch_norm<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<[Tensor; 3]>> {
    let arguments = Arguments::new(operator, values);
    let x = arguments.tensor(0)?;
    let [weight, bias, running_mean, running_var] = [1, 2, 3, 4].map(|at| arguments.optional(at));
    let (is_training, momentum, eps) = (arguments.bool(5)?, arguments.float(6)?, arguments.float(7)?);
    let running = running_mean.zip(running_var);
    let is_kept_apart = running.is_none_or(|(mean, var)| {
        let is_apart = |a: &Tensor, b: &Tensor| !a.shares_storage_with(b);
        is_compact(mean) && is_compact(var) && is_apart(mean, var) && is_apart(mean, x) && is_apart(var, x)
    });
    if !are_ours::<B>(x, &[weight, bias, running_mean, running_var])
        || x.dim() < 2
        || !is_kept_apart
        || !is_training && running.is_none()
    {
        return Ok(None);
    }
    let metas: [Tensor; 3] = all_on_meta(operator, values)?;
    let (norm, index) = (norm(x), index_of(x));
    let (x, weight, bias) =
        (B::contiguous(x)?, weight.map(B::contiguous).transpose()?, bias.map(B::contiguous).transpose()?);
    let affine = [weight.as_ref(), bias.as_ref()];
    let y = B::compact(x.sizes(), metas[0].dtype(), index)?;
    let (mean, rstd) = match running {
        Some((mean, var)) if !is_training => {
            norm.normalise::<B>(&x, [mean, &reciprocal_deviation::<B>(var, eps)?], affine, &y)?;
            (
                B::compact(metas[1].sizes(), metas[1].dtype(), index)?,
                B::compact(metas[2].sizes(), metas[2].dtype(), index)?,
            ) // empty
        }
        _ => {
            let (mean, rstd) = (
                B::compact(metas[1].sizes(), metas[1].dtype(), index)?,
                B::compact(metas[2].sizes(), metas[2].dtype(), index)?,
            );
            let kept = running.map(|(mean, var)| (mean, var, momentum));
            norm.statistics::<B>(&x, [&mean, &rstd], eps, kept)?;
            norm.normalise::<B>(&x, [&mean, &rstd], affine, &y)?;
            (mean, rstd)
        }
    };
    Ok(Some([B::laid_out(y, &metas[0])?, mean, rstd]))
}

fn reciprocal_deviation<B: GpuBackend>(var: &Tensor, eps: f64) -> Result<Tensor> {
    let kind = computed(var.dtype());
    let result = B::compact(var.sizes(), kind, index_of(var))?;
    B::Builder::new("reciprocal deviation")
        .type_named("T", kind)
        .float("eps", eps)
        .input("x", var)
        .result("y", &result)
        .threads(var.numel(), B::NORM.deviation)?;
    Ok(result)
}

pub fn native_batch_norm_backward<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<[Tensor; 3]>> {
    let arguments = Arguments::new(operator, values);
    let [grad, x] = [arguments.tensor(0)?, arguments.tensor(1)?];
    let [weight, running_mean, running_var, save_mean, save_invstd] =
        [2, 3, 4, 5, 6].map(|at| arguments.optional(at));
    let (is_training, eps) = (arguments.bool(7)?, arguments.float(8)?);
    let statistics = match is_training {
        true => save_mean.zip(save_invstd),
        false => running_mean.zip(running_var),
    };
    let Some((mean, spread)) = statistics else { return Ok(None) };
    if !are_ours::<B>(x, &[Some(grad), weight, Some(mean), Some(spread)]) || x.dim() < 2 {
        return Ok(None);
    }
    let metas: [Tensor; 3] = all_on_meta(operator, values)?;
    let (mean, mut rstd) = (B::contiguous(mean)?, B::contiguous(spread)?);
    if !is_training {
        rstd = reciprocal_deviation::<B>(&rstd, eps)?;
    }
    let weight = weight.map(B::contiguous).transpose()?;
    let (norm, grad, x) = (norm(x), B::contiguous(grad)?, B::contiguous(x)?);
    let of = Backward { grad: &grad, x: &x, mean: &mean, rstd: &rstd, weight: weight.as_ref(), is_training };
    shaped::<B>(norm.backward::<B>(&of, arguments.mask(9)?)?, &metas).map(Some)
}
