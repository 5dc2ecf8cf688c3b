//! Second derivatives of element-wise losses: derivatives of the operators that compute the first.

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::loss::{MEAN, NONE};
use crate::prelude::*;

derivatives! {
    in aten;

    mse_loss_backward(Tensor grad_output, Tensor self, Tensor target,
        int reduction) -> Tensor as MseLossBackwardBackward0 {
        grad_output => of_gradient(grad, grad_output, reduction, |ones| {
            aten::mse_loss_backward(ones, self, target, reduction)
        }),
        self => shared(grad.mul(grad_output)?.mul(2)?, self, reduction),
        target => shared(grad.mul(grad_output)?.mul(-2)?, self, reduction),
    }
    smooth_l1_loss_backward(
        Tensor grad_output, Tensor self, Tensor target, int reduction, float beta
    ) -> Tensor as SmoothL1LossBackwardBackward0 {
        grad_output => of_gradient(grad, grad_output, reduction, |ones| {
            aten::smooth_l1_loss_backward(ones, self, target, reduction, beta)
        }),
        self => shared(near(&grad.mul(grad_output)?.div(beta)?, self, target, beta, false)?, self, reduction),
        target => shared(near(&grad.mul(grad_output)?.div(beta)?, self, target, beta, false)?, self, reduction)?.neg(),
    }
    huber_loss_backward(
        Tensor grad_output, Tensor self, Tensor target, int reduction, float delta
    ) -> Tensor as HuberLossBackwardBackward0 {
        grad_output => of_gradient(grad, grad_output, reduction, |ones| {
            aten::huber_loss_backward(ones, self, target, reduction, delta)
        }),
        self => shared(near(&grad.mul(grad_output)?, self, target, delta, true)?, self, reduction),
        target => shared(near(&grad.mul(grad_output)?, self, target, delta, true)?, self, reduction)?.neg(),
    }
    soft_margin_loss_backward(
        Tensor grad_output, Tensor self, Tensor target, int reduction
    ) -> Tensor as SoftMarginLossBackwardBackward0 {
        grad_output => of_gradient(grad, grad_output, reduction, |ones| {
            aten::soft_margin_loss_backward(ones, self, target, reduction)
        }),
        self => {
            let chance = self.mul(target)?.sigmoid()?;
            let bend = target.mul(target)?.mul(&aten::sigmoid_backward(&grad.mul(grad_output)?, &chance)?)?;
            shared(bend, self, reduction)
        },
        target => cannot_require_grad,
    }
}

/// The gradient with respect to a loss's gradient, in which the input's gradient is linear.
fn of_gradient(
    grad: &Tensor,
    grad_output: &Tensor,
    reduction: i64,
    backward: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    if reduction == NONE {
        return backward(grad);
    }
    // As a rule it is one number; but it may as well have the sizes of the input.
    aten::sum_to_size(&grad.mul(&backward(&aten::ones_like(grad_output)?)?)?, grad_output.sizes())
}

/// Gradients divided by the number of elements, if the loss is a mean.
fn shared(grads: Tensor, this: &Tensor, reduction: i64) -> Result<Tensor> {
    if reduction == MEAN { grads.div(this.numel()) } else { Ok(grads) }
}

/// A gradient where an input is nearer to its target than a bound (or exactly as near, if `is_closed`), and zero
/// elsewhere.
fn near(grad: &Tensor, this: &Tensor, target: &Tensor, bound: f64, is_closed: bool) -> Result<Tensor> {
    let distance = this.sub(target)?.abs()?;
    let is_near = if is_closed { aten::le_Scalar } else { aten::lt_Scalar }(&distance, bound.into())?;
    aten::where_ScalarOther(&is_near, grad, 0.into())
}
