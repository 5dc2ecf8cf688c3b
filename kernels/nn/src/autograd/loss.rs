//! Derivatives of losses.

use torch_library::derivatives;
use torch_library::prelude::*;

use super::binary::conj;
use crate::aten;
use crate::prelude::*;

mod probability;
mod second;

derivatives! {
    in aten;

    nll_loss_forward(
        Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index
    ) -> (Tensor output, Tensor total_weight) as NllLossBackward0 {
        self => aten::nll_loss_backward(grad, self, target, weight, reduction, ignore_index, total_weight),
        target => non_differentiable,
        weight => cannot_require_grad,
        total_weight => non_differentiable,
    }
    nll_loss_backward(
        Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index,
        Tensor total_weight
    ) -> Tensor as NllLossBackwardBackward0 {
        grad_output => aten::nll_loss::call(grad, target, weight, reduction, ignore_index),
        self => aten::zeros_like(self),
        target => non_differentiable,
        weight => cannot_require_grad,
        total_weight => of_mean(grad, result, total_weight, reduction),
    }
    nll_loss2d_forward(
        Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index
    ) -> (Tensor output, Tensor total_weight) as NllLoss2DBackward0 {
        self => aten::nll_loss2d_backward(grad, self, target, weight, reduction, ignore_index, total_weight),
        target => non_differentiable,
        weight => cannot_require_grad,
        total_weight => non_differentiable,
    }
    nll_loss2d_backward(
        Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index,
        Tensor total_weight
    ) -> Tensor as NllLoss2DBackwardBackward0 {
        grad_output => aten::nll_loss2d::call(grad, target, weight, reduction, ignore_index),
        self => aten::zeros_like(self),
        target => non_differentiable,
        weight => cannot_require_grad,
        total_weight => of_mean(grad, result, total_weight, reduction),
    }
    _ctc_loss(
        Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0,
        bool zero_infinity=False
    ) -> (Tensor, Tensor) as CtcLossBackward0 {
        log_probs => aten::_ctc_loss_backward::call(
            grad, log_probs, targets, input_lengths, target_lengths, result0, result1, blank, zero_infinity,
        ),
        targets => non_differentiable,
        result1 => non_differentiable,
    }
    _ctc_loss.Tensor(
        Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0,
        bool zero_infinity=False
    ) -> (Tensor, Tensor) as CtcLossBackward1 {
        log_probs => aten::_ctc_loss_backward_Tensor::call(
            grad, log_probs, targets, input_lengths, target_lengths, result0, result1, blank, zero_infinity,
        ),
        targets => non_differentiable,
        input_lengths => non_differentiable,
        target_lengths => non_differentiable,
        result1 => non_differentiable,
    }
    mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor as MseLossBackward0 {
        self => aten::mse_loss_backward(grad, self, target, reduction),
        target => aten::mse_loss_backward(grad, target, self, reduction),
    }
    smooth_l1_loss(
        Tensor self, Tensor target, int reduction=Mean, float beta=1.0
    ) -> Tensor as SmoothL1LossBackward0 {
        self => reduced(grad, &bent(&distance(self, target)?, beta)?, reduction, self),
        target => reduced(grad, &bent(&distance(target, self)?, beta)?, reduction, target),
    }
    huber_loss(Tensor self, Tensor target, int reduction=Mean, float delta=1.0) -> Tensor as HuberLossBackward0 {
        self => reduced(grad, &limited(&distance(self, target)?, delta)?, reduction, self),
        target => reduced(grad, &limited(&distance(target, self)?, delta)?, reduction, target),
    }
    multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output,
        Tensor is_target) as MultilabelMarginLossBackward0 {
        self => aten::multilabel_margin_loss_backward(grad, self, target, reduction, is_target),
        target => non_differentiable,
        is_target => non_differentiable,
    }
    multi_margin_loss(
        Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=Mean
    ) -> Tensor as MultiMarginLossBackward0 {
        self => aten::multi_margin_loss_backward::call(grad, self, target, p, margin, weight, reduction),
        target => non_differentiable,
        weight => cannot_require_grad,
    }
    soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor as SoftMarginLossBackward0 {
        self => reduced(grad, &target.mul(&self.mul(target)?.neg()?.sigmoid()?)?.neg()?, reduction, self),
        target => reduced(grad, &self.mul(&self.mul(target)?.neg()?.sigmoid()?)?.neg()?, reduction, target),
    }
}

/// The gradient of an element-wise loss, from the derivative of each element's loss. As in PyTorch, that of a mean is
/// divided by the number of elements of the tensor `of` whose gradient it is, even if that tensor was broadcast.
fn reduced(grad: &Tensor, slope: &Tensor, reduction: i64, of: &Tensor) -> Result<Tensor> {
    let grad = grad.mul(&conj(slope)?)?;
    if reduction == 1 { grad.div(of.numel()) } else { Ok(grad) }
}

/// The difference of an input and a target, either of which may be boolean.
fn distance(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let number = |x: &Tensor, other: &Tensor| match x.dtype() {
        DType::Bool => x.to_dtype(other.dtype()),
        _ => Ok(x.clone()),
    };
    number(a, b)?.sub(&number(b, a)?)
}

/// Distances of at most `most` in either direction, which may be infinite.
fn limited(distance: &Tensor, most: f64) -> Result<Tensor> {
    distance.clamp(-most, most)
}

/// The slope, at these distances, of a function that is quadratic up to `bound` and continues with slopes of -1 and 1
/// beyond.
fn bent(distance: &Tensor, bound: f64) -> Result<Tensor> {
    match bound {
        // As in PyTorch, the slope at zero is -1; that of NaN stays NaN.
        0.0 => {
            let slope = distance.div(0)?.clamp(-1, 1)?;
            aten::masked_fill_Scalar(&slope, &aten::le_Scalar(distance, 0.into())?, (-1).into())
        }
        _ => distance.div(bound)?.clamp(-1, 1),
    }
}

/// The gradient of the total weight by which a mean was divided.
fn of_mean(grad: &Tensor, result: &Tensor, total: &Tensor, reduction: i64) -> Result<Tensor> {
    match reduction {
        1 => grad.mul(result)?.sum()?.neg()?.div(total),
        _ => aten::zeros_like(total),
    }
}
