//! The batching rules of the binary cross entropy.

use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::super::boxed::{aligned, expanded};
use super::{MEAN, NONE};
use crate::aten;

#[torch_impl(aten, FuncTorchBatched)]
fn binary_cross_entropy(
    this: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
) -> Result<Tensor> {
    let level = Level::current()?;
    let of = |tensor: &Tensor| aligned(level, tensor, this.dim());
    let (value, weight) = (expanded(level, this)?, weight.map(of).transpose()?);
    let losses = aten::binary_cross_entropy::call(&value, &of(target)?, weight.as_ref(), NONE)?;
    let of_example = aten::reshape(&losses, &[level.batch_size(), this.numel()]);
    let loss = match reduction {
        NONE => losses,
        MEAN => aten::mean_dim(&of_example?, Some(&[1]))?,
        _ => aten::sum_dim_IntList(&of_example?, Some(&[1]))?,
    };
    level.wrap(loss, 0)
}

#[torch_impl(aten, FuncTorchBatched)]
fn binary_cross_entropy_backward(
    grad_output: &Tensor,
    this: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
) -> Result<Tensor> {
    let level = Level::current()?;
    let of = |tensor: &Tensor| aligned(level, tensor, this.dim());
    let (value, weight) = (expanded(level, this)?, weight.map(of).transpose()?);
    // Expanded, since the kernel below squeezes its operands before it broadcasts them.
    let grad = aten::expand(&of(grad_output)?, value.sizes())?;
    let target = aten::expand(&of(target)?, value.sizes())?;
    let mut grads = aten::binary_cross_entropy_backward::call(&grad, &value, &target, weight.as_ref(), NONE)?;
    if reduction == MEAN {
        grads = aten::div_Scalar(&grads, this.numel().into())?;
    }
    level.wrap(grads, 0)
}
