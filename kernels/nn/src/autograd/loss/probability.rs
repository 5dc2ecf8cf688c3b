//! Derivatives of the cross entropy of probabilities.

use torch_library::derivatives;
use torch_library::geometry::{infer_size, numel};
use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    binary_cross_entropy(
        Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean
    ) -> Tensor as BinaryCrossEntropyBackward0 {
        self => aten::binary_cross_entropy_backward::call(grad, self, target, weight, reduction),
        target => each(grad.mul(&aten::logit(self)?.neg()?)?, weight, target.numel(), reduction),
        weight => cannot_require_grad,
    }
    binary_cross_entropy_with_logits(
        Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=Mean
    ) -> Tensor as BinaryCrossEntropyWithLogitsBackward0 {
        self => {
            let chance = self.sigmoid()?;
            let slope = match pos_weight {
                None => chance.sub(target)?,
                Some(weight) => {
                    let yes = weight.mul(target)?;
                    aten::rsub_Scalar(target, 1.into())?.add(&yes)?.mul(&chance)?.sub(&yes)?
                }
            };
            each(grad.mul(&slope)?, weight, slope.numel(), reduction)
        },
        target => {
            let slope = match pos_weight {
                None => self.neg()?,
                Some(weight) => aten::rsub_Scalar(weight, 1.into())?.mul(&aten::log_sigmoid(self)?)?.sub(self)?,
            };
            let count = numel(&infer_size(slope.sizes(), target.sizes())?)?;
            each(grad.mul(&slope)?, weight, count, reduction)
        },
        weight => cannot_require_grad,
        pos_weight => cannot_require_grad,
    }
    binary_cross_entropy_backward(
        Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean
    ) -> Tensor as BinaryCrossEntropyBackwardBackward0 {
        grad_output => {
            let slope = self.sub(target)?.div(&self.add(EPSILON)?.mul(&apart(self)?)?)?;
            let grads = each(slope.mul(grad)?, weight, self.numel(), reduction)?;
            if reduction == 0 { Ok(grads) } else { grads.sum() }
        },
        self => {
            let above = self.mul(self)?.sub(&self.mul(target)?.mul(2)?)?.add(target)?;
            let below = self.add(EPSILON)?.mul(&apart(self)?)?;
            let curve = above.div(&below.mul(&below)?)?;
            each(curve.mul(&grad.mul(grad_output)?)?, weight, self.numel(), reduction)
        },
        target => {
            let slope = grad.mul(grad_output)?.div(&aten::rsub_Scalar(self, 1.into())?.mul(self)?)?;
            each(slope.neg()?, weight, self.numel(), reduction)
        },
        weight => cannot_require_grad,
    }
}

/// The lower bound of divisors, as in PyTorch.
const EPSILON: f64 = 1e-12;

/// `1 - this`, kept above zero.
fn apart(this: &Tensor) -> Result<Tensor> {
    aten::rsub_Scalar(this, 1.into())?.add(EPSILON)
}

/// The gradients with respect to each element, weighted; for a mean, divided by the number of elements.
fn each(grads: Tensor, weight: Option<&Tensor>, count: i64, reduction: i64) -> Result<Tensor> {
    let grads = match weight {
        Some(weight) => grads.mul(weight)?,
        None => grads,
    };
    if reduction == 1 { grads.div(count) } else { Ok(grads) }
}
