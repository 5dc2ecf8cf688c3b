//! Steps of optimisers.

use torch_library::Element;
use torch_library::prelude::*;

use crate::aten;
use crate::loops::pointwise::unsupported;
use crate::loops::update::update;
use crate::loops::{self, match_opmath};
use crate::number::{Number, larger};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn _fused_sgd_(
        this: &mut [Tensor],
        grads: &mut [Tensor],
        momentum_buffer_list: &mut [Tensor],
        weight_decay: f64,
        momentum: f64,
        lr: f64,
        dampening: f64,
        nesterov: bool,
        maximize: bool,
        is_first_step: bool,
        grad_scale: Option<&Tensor>,
        found_inf: Option<&Tensor>,
    ) -> Result<()> {
        const OPERATOR: &str = aten::_fused_sgd_::NAME;
        check_lists(OPERATOR, this, &[], &[grads])?;
        if momentum != 0.0 {
            check_lists(OPERATOR, this, &[momentum_buffer_list], &[])?;
        }
        if !prepared(OPERATOR, grads, grad_scale, found_inf)? {
            return Ok(());
        }
        for (i, (x, grad)) in this.iter().zip(&*grads).enumerate() {
            match_opmath!(x.dtype(), T: Float => {
                let [decay, rate, keep, take] = [weight_decay, lr, momentum, 1.0 - dampening].map(|x| x.cast::<T>());
                let sign: T = if maximize { -1.0 } else { 1.0 };
                let slope = move |x: T, grad: T| decayed(sign * grad, decay, x);
                if momentum == 0.0 {
                    update([x], [grad], |[x], [grad]| [x - rate * slope(x, grad)])?;
                    continue;
                }
                update([x, &momentum_buffer_list[i]], [grad], |[x, buffer], [grad]| {
                    let slope = slope(x, grad);
                    let buffer = if is_first_step { slope } else { keep * buffer + take * slope };
                    let step = if nesterov { slope + keep * buffer } else { buffer };
                    [x - rate * step, buffer]
                })?;
            }, else => return Err(unsupported(OPERATOR, x.dtype())));
        }
        Ok(())
    }

    fn _fused_adagrad_(
        this: &mut [Tensor],
        grads: &mut [Tensor],
        state_sums: &mut [Tensor],
        state_steps: &mut [Tensor],
        lr: f64,
        lr_decay: f64,
        weight_decay: f64,
        eps: f64,
        maximize: bool,
        grad_scale: Option<&Tensor>,
        found_inf: Option<&Tensor>,
    ) -> Result<()> {
        const OPERATOR: &str = aten::_fused_adagrad_::NAME;
        check_lists(OPERATOR, this, &[state_sums], &[grads, state_steps])?;
        if !prepared(OPERATOR, grads, grad_scale, found_inf)? {
            return Ok(());
        }
        for (i, (x, grad)) in this.iter().zip(&*grads).enumerate() {
            if !loops::has_elements(x) {
                continue;
            }
            let step = number(OPERATOR, &state_steps[i])?;
            match_opmath!(x.dtype(), T: Float => {
                let [decay, eps] = [weight_decay, eps].map(|x| x.cast::<T>());
                let rate: T = (lr / (1.0 + (step - 1.0) * lr_decay)).cast();
                let sign: T = if maximize { -1.0 } else { 1.0 };
                update([x, &state_sums[i]], [grad], |[x, sum], [grad]| {
                    let slope = decayed(sign * grad, decay, x);
                    let sum = sum + slope * slope;
                    [x - rate * slope / (sum.sqrt() + eps), sum]
                })?;
            }, else => return Err(unsupported(OPERATOR, x.dtype())));
        }
        Ok(())
    }

    fn _fused_adam_(
        this: &mut [Tensor],
        grads: &mut [Tensor],
        exp_avgs: &mut [Tensor],
        exp_avg_sqs: &mut [Tensor],
        max_exp_avg_sqs: &mut [Tensor],
        state_steps: &[Tensor],
        lr: f64,
        beta1: f64,
        beta2: f64,
        weight_decay: f64,
        eps: f64,
        amsgrad: bool,
        maximize: bool,
        grad_scale: Option<&Tensor>,
        found_inf: Option<&Tensor>,
    ) -> Result<()> {
        let adam = Adam {
            operator: aten::_fused_adam_::NAME,
            lr,
            betas: [beta1, beta2],
            gradient_decay: weight_decay,
            weight_decay: 0.0,
            eps,
            maximize,
        };
        let most = amsgrad.then_some(max_exp_avg_sqs);
        adam.step(this, grads, [exp_avgs, exp_avg_sqs], most, state_steps, [grad_scale, found_inf])
    }

    fn _fused_adamw_(
        this: &mut [Tensor],
        grads: &mut [Tensor],
        exp_avgs: &mut [Tensor],
        exp_avg_sqs: &mut [Tensor],
        max_exp_avg_sqs: &mut [Tensor],
        state_steps: &[Tensor],
        lr: f64,
        beta1: f64,
        beta2: f64,
        weight_decay: f64,
        eps: f64,
        amsgrad: bool,
        maximize: bool,
        grad_scale: Option<&Tensor>,
        found_inf: Option<&Tensor>,
    ) -> Result<()> {
        let adam = Adam {
            operator: aten::_fused_adamw_::NAME,
            lr,
            betas: [beta1, beta2],
            gradient_decay: 0.0,
            weight_decay,
            eps,
            maximize,
        };
        let most = amsgrad.then_some(max_exp_avg_sqs);
        adam.step(this, grads, [exp_avgs, exp_avg_sqs], most, state_steps, [grad_scale, found_inf])
    }
}

struct Adam {
    operator: &'static str,
    lr: f64,
    betas: [f64; 2],
    /// The weight decay that is added to the gradient, as a factor of the tensor (Adam).
    gradient_decay: f64,
    /// The decoupled weight decay: the tensor shrinks by this factor of itself, times the learning rate (AdamW).
    weight_decay: f64,
    eps: f64,
    maximize: bool,
}

impl Adam {
    fn step(
        &self,
        this: &[Tensor],
        grads: &mut [Tensor],
        [means, squares]: [&[Tensor]; 2],
        most: Option<&mut [Tensor]>,
        steps: &[Tensor],
        [grad_scale, found_inf]: [Option<&Tensor>; 2],
    ) -> Result<()> {
        check_lists(self.operator, this, &[means, squares], &[grads, steps])?;
        if let Some(most) = &most {
            check_lists(self.operator, this, &[most], &[])?;
        }
        if !prepared(self.operator, grads, grad_scale, found_inf)? {
            return Ok(());
        }
        for (i, x) in this.iter().enumerate() {
            if !loops::has_elements(x) {
                continue;
            }
            let step = number(self.operator, &steps[i])?;
            let most = most.as_deref().map(|most| &most[i]);
            match_opmath!(x.dtype(), T: Float => {
                self.one::<T>(x, &grads[i], &means[i], &squares[i], most, step)?;
            }, else => return Err(unsupported(self.operator, x.dtype())));
        }
        Ok(())
    }

    fn one<T: num_traits::Float + Number>(
        &self,
        x: &Tensor,
        grad: &Tensor,
        mean: &Tensor,
        square: &Tensor,
        most: Option<&Tensor>,
        step: f64,
    ) -> Result<()> {
        let [beta1, beta2] = self.betas;
        let (decay, sign): (T, T) =
            (self.gradient_decay.cast(), if self.maximize { -T::one() } else { T::one() });
        let ([keep1, take1], [keep2, take2]): ([T; 2], [T; 2]) =
            ([beta1, 1.0 - beta1].map(|x| x.cast()), [beta2, 1.0 - beta2].map(|x| x.cast()));
        let rate: T = (self.lr / (1.0 - beta1.powf(step))).cast();
        let correction: T = (1.0 - beta2.powf(step)).sqrt().cast();
        let (shrink, eps): (T, T) = ((1.0 - self.lr * self.weight_decay).cast(), self.eps.cast());
        let averages = move |x: T, mean: T, square: T, grad: T| {
            let slope = decayed(sign * grad, decay, x);
            (keep1 * mean + take1 * slope, keep2 * square + take2 * slope * slope)
        };
        let stepped =
            move |x: T, mean: T, square: T| x * shrink - rate * mean / (square.sqrt() / correction + eps);
        match most {
            None => update([x, mean, square], [grad], |[x, mean, square], [grad]| {
                let (mean, square) = averages(x, mean, square, grad);
                [stepped(x, mean, square), mean, square]
            }),
            Some(most) => update([x, mean, square, most], [grad], |[x, mean, square, most], [grad]| {
                let (mean, square) = averages(x, mean, square, grad);
                let most = larger(square, most);
                [stepped(x, mean, most), mean, square, most]
            }),
        }
    }
}

/// A gradient with weight decay. A decay of zero adds nothing, even to an infinite parameter.
#[inline(always)]
fn decayed<T: num_traits::Float>(grad: T, decay: T, x: T) -> T {
    if decay == T::zero() { grad } else { grad + decay * x }
}

/// Checks that every list has an entry for each tensor: states have its sizes, and tensors that are only read may have
/// a single number.
fn check_lists(operator: &str, this: &[Tensor], states: &[&[Tensor]], read: &[&[Tensor]]) -> Result<()> {
    let may_be_number = |list: &&[Tensor]| read.iter().any(|read| std::ptr::eq(*read, *list));
    for list in states.iter().chain(read) {
        ensure!(
            list.len() == this.len(),
            Argument,
            "{operator}: lists of {} and {} tensors, expected one for each",
            this.len(),
            list.len()
        );
        for (x, other) in this.iter().zip(*list) {
            ensure!(
                other.sizes() == x.sizes() || other.dim() == 0 && may_be_number(list),
                Shape,
                "{operator}: a gradient or state of sizes {:?} for a tensor of {:?}",
                other.sizes(),
                x.sizes()
            );
        }
    }
    Ok(())
}

/// Whether the step is to be done; the gradients are unscaled first.
fn prepared(
    operator: &'static str,
    grads: &mut [Tensor],
    grad_scale: Option<&Tensor>,
    found_inf: Option<&Tensor>,
) -> Result<bool> {
    if let Some(found) = found_inf
        && loops::has_elements(found)
        && number(operator, found)? == 1.0
    {
        return Ok(false);
    }
    if let Some(scale) = grad_scale
        && loops::has_elements(scale)
    {
        let scale: Scalar = number(operator, scale)?.into();
        grads.iter_mut().try_for_each(|grad| aten::div__Scalar(grad, scale).map(drop))?;
    }
    Ok(true)
}

/// The number in a tensor of one element.
fn number(operator: &str, tensor: &Tensor) -> Result<f64> {
    tensor.item().and_then(Scalar::to).map_err(|error| error.context(operator))
}
