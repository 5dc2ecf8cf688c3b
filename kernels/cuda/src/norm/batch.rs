//! Batch norm: each channel by statistics of the batch, or by those that were kept of batches before.

use torch_library::prelude::*;
use torch_library_gpu::{Arguments, KernelBuilder, Tensors, all_on_meta, computed, index_of};
use torch_library_kernels::aten;

use super::{Backward, Norm, OfEqualNumbers, Rows, are_ours};
use crate::call::{Cuda, kernels};
use crate::kernel::Kernel;

kernels! {
    super::native_batch_norm: native_batch_norm;
    super::native_batch_norm_backward: native_batch_norm_backward;
}

fn norm(x: &Tensor) -> Norm {
    let [batch, channels] = [x.sizes()[0], x.sizes()[1]];
    let pixels = x.numel() / (batch * channels).max(1);
    let rows = Rows::across(batch, channels, pixels);
    Norm { statistics: rows, affine: rows, of_equal_numbers: OfEqualNumbers::Zero }
}

/// Whether statistics can be written where they are.
fn is_compact(tensor: &Tensor) -> bool {
    tensor.is_contiguous(MemoryFormat::Contiguous)
}

fn native_batch_norm(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 3]>> {
    let arguments = Arguments::new(operator, values);
    let x = arguments.tensor(0)?;
    let [weight, bias, running_mean, running_var] = [1, 2, 3, 4].map(|at| arguments.optional(at));
    let (is_training, momentum, eps) = (arguments.bool(5)?, arguments.float(6)?, arguments.float(7)?);
    let running = running_mean.zip(running_var);
    let is_kept_apart = running.is_none_or(|(mean, var)| {
        let is_apart = |a: &Tensor, b: &Tensor| !a.shares_storage_with(b);
        is_compact(mean) && is_compact(var) && is_apart(mean, var) && is_apart(mean, x) && is_apart(var, x)
    });
    if !are_ours(x, &[weight, bias, running_mean, running_var])
        || x.dim() < 2
        || !is_kept_apart
        || !is_training && running.is_none()
    {
        return Ok(None);
    }
    let metas: [Tensor; 3] = all_on_meta(operator, values)?;
    let (norm, index) = (norm(x), index_of(x));
    let (x, weight, bias) = (
        Cuda::contiguous(x)?,
        weight.map(Cuda::contiguous).transpose()?,
        bias.map(Cuda::contiguous).transpose()?,
    );
    let affine = [weight.as_ref(), bias.as_ref()];
    let y = Cuda::compact(x.sizes(), metas[0].dtype(), index)?;
    let (mean, rstd) = match running {
        Some((mean, var)) if !is_training => {
            norm.normalise(&x, [mean, &reciprocal_deviation(var, eps)?], affine, &y)?;
            (
                Cuda::compact(metas[1].sizes(), metas[1].dtype(), index)?,
                Cuda::compact(metas[2].sizes(), metas[2].dtype(), index)?,
            ) // empty
        }
        _ => {
            let (mean, rstd) = (
                Cuda::compact(metas[1].sizes(), metas[1].dtype(), index)?,
                Cuda::compact(metas[2].sizes(), metas[2].dtype(), index)?,
            );
            let kept = running.map(|(mean, var)| (mean, var, momentum));
            norm.statistics(&x, [&mean, &rstd], eps, kept)?;
            norm.normalise(&x, [&mean, &rstd], affine, &y)?;
            (mean, rstd)
        }
    };
    Ok(Some([Cuda::laid_out(y, &metas[0])?, mean, rstd]))
}

fn reciprocal_deviation(var: &Tensor, eps: f64) -> Result<Tensor> {
    let kind = computed(var.dtype());
    let result = Cuda::compact(var.sizes(), kind, index_of(var))?;
    Kernel::new("reciprocal deviation")
        .type_named("T", kind)
        .float("eps", eps)
        .input("x", var)
        .result("y", &result)
        .threads(var.numel(), "    p.y[n] = T(1) / sqrt(as<T>(p.x[n]) + T(p.eps));")?;
    Ok(result)
}

fn native_batch_norm_backward(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 3]>> {
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
    if !are_ours(x, &[Some(grad), weight, Some(mean), Some(spread)]) || x.dim() < 2 {
        return Ok(None);
    }
    let metas: [Tensor; 3] = all_on_meta(operator, values)?;
    let (mean, mut rstd) = (Cuda::contiguous(mean)?, Cuda::contiguous(spread)?);
    if !is_training {
        rstd = reciprocal_deviation(&rstd, eps)?;
    }
    let weight = weight.map(Cuda::contiguous).transpose()?;
    let (norm, grad, x) = (norm(x), Cuda::contiguous(grad)?, Cuda::contiguous(x)?);
    let of = Backward { grad: &grad, x: &x, mean: &mean, rstd: &rstd, weight: weight.as_ref(), is_training };
    super::shaped(norm.backward(&of, arguments.mask(9)?)?, &metas).map(Some)
}
