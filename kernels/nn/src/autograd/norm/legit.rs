//! Derivatives of batch normalisation under the names that exported programs use for it.

use torch_library::derivatives;
use torch_library::prelude::*;

use super::{of_statistics, second};
use crate::aten;

derivatives! {
    in aten;

    _native_batch_norm_legit_functional(
        Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, bool training,
        float momentum, float eps
    ) -> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out) as NativeBatchNormLegitBackward0 {
        (input, weight, bias) => aten::native_batch_norm_backward(
            grad, input, weight, Some(running_mean), Some(running_var), Some(result1), Some(result2), training, eps,
            &mask,
        ),
        running_mean => cannot_require_grad,
        running_var => cannot_require_grad,
        result1 => non_differentiable,
        result2 => non_differentiable,
        running_mean_out => non_differentiable,
        running_var_out => non_differentiable,
    }
    _native_batch_norm_legit.no_stats(
        Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps
    ) -> (Tensor, Tensor, Tensor) as NativeBatchNormLegitBackward1 {
        (input, weight, bias) => aten::native_batch_norm_backward(
            grad, input, weight, None, None, Some(result1), Some(result2), training, eps, &mask,
        ),
        result1 => non_differentiable,
        result2 => non_differentiable,
    }
    _native_batch_norm_legit_no_training(
        Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps
    ) -> (Tensor, Tensor, Tensor) as NativeBatchNormLegitNoTrainingBackward0 {
        (input, weight, bias) => aten::native_batch_norm_backward(
            grad, input, weight, Some(running_mean), Some(running_var), Some(result1), Some(result2), false, eps, &mask,
        ),
        running_mean => cannot_require_grad,
        running_var => cannot_require_grad,
        result1 => non_differentiable,
        result2 => non_differentiable,
    }
    _batch_norm_with_update_functional(
        Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps
    ) -> (
        Tensor, Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out
    ) as BatchNormWithUpdateBackward0 {
        (input, weight, bias) => aten::native_batch_norm_backward(
            grad, input, weight, Some(running_mean), Some(running_var), Some(result1), Some(result2), true, eps, &mask,
        ),
        running_mean => cannot_require_grad,
        running_var => cannot_require_grad,
        result1 => non_differentiable,
        result2 => non_differentiable,
        result3 => non_differentiable,
        running_mean_out => non_differentiable,
        running_var_out => non_differentiable,
    }
    _batch_norm_no_update(
        Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, float momentum, float eps
    ) -> (Tensor, Tensor, Tensor, Tensor) as BatchNormNoUpdateBackward0 {
        (input, weight, bias) => aten::native_batch_norm_backward(
            grad, input, weight, running_mean, running_var, Some(result1), Some(result2), false, eps, &mask,
        ),
        running_mean => cannot_require_grad,
        running_var => cannot_require_grad,
        result1 => non_differentiable,
        result2 => non_differentiable,
        result3 => non_differentiable,
    }
    batch_norm_backward(
        Tensor grad_out, Tensor input, Tensor weight, Tensor? running_mean, Tensor? running_var, Tensor? save_mean,
        Tensor? save_var, bool update, float eps, bool[3] output_mask, Tensor reserve
    ) -> (Tensor, Tensor, Tensor) as BatchNormBackwardBackward0 {
        (grad_out, input, weight) => {
            let statistics = if update { [None, None, save_var] } else { [running_mean, running_var, None] };
            second::batch_norm(grads, grad_out, input, Some(weight), statistics, eps)
        },
        running_mean => cannot_require_grad,
        running_var => cannot_require_grad,
        save_mean => of_statistics("save_mean"),
        save_var => of_statistics("save_var"),
        reserve => non_differentiable,
    }
}

/// An operator that updates running statistics in place records the functional variant, which returns them, and copies
/// them back: both have the same autograd node.
#[torch_impl(aten, Autograd)]
mod moving {
    use super::*;

    fn _native_batch_norm_legit(
        input: &Tensor,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        running_mean: &mut Tensor,
        running_var: &mut Tensor,
        training: bool,
        momentum: f64,
        eps: f64,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        // The gradient needs the statistics from before the update.
        let (old_mean, old_var) = (aten::clone(running_mean)?, aten::clone(running_var)?);
        let (out, save_mean, save_invstd, mean, var) = aten::_native_batch_norm_legit_functional(
            input, weight, bias, &old_mean, &old_var, training, momentum, eps,
        )?;
        if training {
            aten::copy_(running_mean, &mean)?;
            aten::copy_(running_var, &var)?;
        }
        Ok((out, save_mean, save_invstd))
    }

    fn _batch_norm_with_update(
        input: &Tensor,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        running_mean: &mut Tensor,
        running_var: &mut Tensor,
        momentum: f64,
        eps: f64,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        let (old_mean, old_var) = (aten::clone(running_mean)?, aten::clone(running_var)?);
        let (out, save_mean, save_invstd, reserve, mean, var) = aten::_batch_norm_with_update_functional(
            input, weight, bias, &old_mean, &old_var, momentum, eps,
        )?;
        aten::copy_(running_mean, &mean)?;
        aten::copy_(running_var, &var)?;
        Ok((out, save_mean, save_invstd, reserve))
    }
}
