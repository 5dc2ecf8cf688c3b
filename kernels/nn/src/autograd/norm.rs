//! Derivatives of normalisations.

use torch_library::derivatives;
use torch_library::guard::GradMode;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::norm::weight::gradients as of_weight;

derivatives! {
    in aten;

    native_layer_norm(
        Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps
    ) -> (Tensor, Tensor, Tensor) as NativeLayerNormBackward0 {
        (input, weight, bias) => aten::native_layer_norm_backward(
            grad, input, normalized_shape, result1, result2, weight, bias, &mask,
        ),
        result1 => non_differentiable,
        result2 => non_differentiable,
    }
    native_layer_norm_backward(
        Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight,
        Tensor? bias,
        bool[3] output_mask
    ) -> (Tensor, Tensor, Tensor) as NativeLayerNormBackwardBackward0 {
        (grad_out, input, weight) => second::layer_norm(grads, grad_out, input, weight, rstd, normalized_shape),
        bias => non_differentiable,
        mean => of_statistics("mean"),
        rstd => of_statistics("rstd"),
    }
    _weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor) as WeightNormInterfaceBackward0 {
        // Where the gradient is differentiated again, it must depend on `v` by the norms, too.
        (v, g) => match GradMode::is_enabled() {
            true => of_weight(grad, v, g, None, dim),
            false => aten::_weight_norm_interface_backward(grad, v, g, result1, dim),
        },
        result1 => non_differentiable,
    }
    native_group_norm(
        Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps
    ) -> (Tensor, Tensor, Tensor) as NativeGroupNormBackward0 {
        (input, weight, bias) =>
            groups::gradients(grads, input, weight, [result1, result2], [N, C, HxW, group], eps, mask),
    }
    native_batch_norm(
        Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training,
        float momentum, float eps
    ) -> (Tensor, Tensor, Tensor) as NativeBatchNormBackward0 {
        (input, weight, bias) => aten::native_batch_norm_backward(
            grad, input, weight, running_mean, running_var, Some(result1), Some(result2), training, eps, &mask,
        ),
        running_mean => cannot_require_grad,
        running_var => cannot_require_grad,
        result1 => non_differentiable,
        result2 => non_differentiable,
    }
    native_batch_norm_backward(
        Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var, Tensor? save_mean,
        Tensor? save_invstd, bool train, float eps, bool[3] output_mask
    ) -> (Tensor, Tensor, Tensor) as NativeBatchNormBackwardBackward0 {
        (grad_out, input, weight) => {
            let statistics = if train { [None, None, save_invstd] } else { [running_mean, running_var, None] };
            second::batch_norm(grads, grad_out, input, weight, statistics, eps)
        },
        running_mean => cannot_require_grad,
        running_var => cannot_require_grad,
        save_mean => of_statistics("save_mean"),
        save_invstd => of_statistics("save_invstd"),
    }
    native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor) as NativeDropoutBackward0 {
        input => {
            let scale = match train {
                Some(false) => 1.0,
                _ if p == 1.0 => 0.0,
                _ => 1.0 / (1.0 - p),
            };
            aten::native_dropout_backward(grad, result1, scale)
        },
        result1 => non_differentiable,
    }
    native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor as NativeDropoutBackwardBackward0 {
        grad_output => aten::native_dropout_backward(grad, mask, scale),
        mask => non_differentiable,
    }
}

mod groups;
mod legit;
mod second;

/// The error for a gradient with respect to saved statistics, which have none.
fn of_statistics(name: &str) -> Result<Tensor> {
    bail!(Autograd, "the gradient of a normalisation has no derivative with respect to `{name}`")
}
