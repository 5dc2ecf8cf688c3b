//! Derivatives of losses.

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;
use crate::methods::TensorMethods;

derivatives! {
    in aten;

    nll_loss_forward(
        Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index
    ) -> (Tensor output, Tensor total_weight) as NllLossBackward0 {
        self => aten::nll_loss_backward(grad, self, target, weight, reduction, ignore_index, total_weight),
        target => non_differentiable,
        weight => non_differentiable,
        total_weight => non_differentiable,
    }
    nll_loss_backward(
        Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index,
        Tensor total_weight
    ) -> Tensor as NllLossBackwardBackward0 {
        grad_output => aten::nll_loss::call(grad, target, weight, reduction, ignore_index),
        self => aten::zeros_like(self),
        target => non_differentiable,
        weight => non_differentiable,
        total_weight => of_mean(grad, result, total_weight, reduction),
    }
    nll_loss2d_forward(
        Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index
    ) -> (Tensor output, Tensor total_weight) as NllLoss2DBackward0 {
        self => aten::nll_loss2d_backward(grad, self, target, weight, reduction, ignore_index, total_weight),
        target => non_differentiable,
        weight => non_differentiable,
        total_weight => non_differentiable,
    }
    nll_loss2d_backward(
        Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index,
        Tensor total_weight
    ) -> Tensor as NllLoss2DBackwardBackward0 {
        grad_output => aten::nll_loss2d::call(grad, target, weight, reduction, ignore_index),
        self => aten::zeros_like(self),
        target => non_differentiable,
        weight => non_differentiable,
        total_weight => of_mean(grad, result, total_weight, reduction),
    }
}

/// The gradient of what a mean is divided by.
fn of_mean(grad: &Tensor, result: &Tensor, total: &Tensor, reduction: i64) -> Result<Tensor> {
    match reduction {
        1 => grad.mul(result)?.sum()?.neg()?.div(total),
        _ => aten::zeros_like(total),
    }
}
