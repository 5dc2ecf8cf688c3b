//! Batching rules for the gradients of element-wise losses: a mean is over the elements of one example, not over those
//! of all.

use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::super::boxed::{aligned, expanded};
use super::{MEAN, NONE};
use crate::aten;

/// Writes the rules of losses, some of which have a bound as a parameter.
macro_rules! rules {
    ($($name:ident($($bound:ident)?);)+) => {
        #[torch_impl(aten, FuncTorchBatched)]
        mod rules {
            use super::*;

            $(
                fn $name(
                    grad_output: &Tensor,
                    this: &Tensor,
                    target: &Tensor,
                    reduction: i64,
                    $($bound: f64,)?
                ) -> Result<Tensor> {
                    let level = Level::current()?;
                    let rank = this.dim().max(target.dim());
                    let value = match target.dim() > this.dim() {
                        true => aligned(level, this, rank)?,
                        false => expanded(level, this)?,
                    };
                    let (grad, target) = (aligned(level, grad_output, rank)?, aligned(level, target, rank)?);
                    let mut grads = aten::$name(&grad, &value, &target, NONE, $($bound)?)?;
                    if reduction == MEAN {
                        grads = aten::div_Scalar(&grads, this.numel().into())?;
                    }
                    level.wrap(grads, 0)
                }
            )+
        }
    };
}

rules! {
    mse_loss_backward();
    smooth_l1_loss_backward(beta);
    huber_loss_backward(delta);
    soft_margin_loss_backward();
}
