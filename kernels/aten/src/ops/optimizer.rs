//! Fused optimiser steps on lists of tensors, and the arithmetic that steps are made of.

use torch_library::torch_library;

torch_library! {
    /// Optimiser steps and arithmetic on lists of tensors.
    #[kernels_in(torch_library_nn)]
    pub mod aten extends "aten" {
        /// Adds `alpha` times each tensor of `other` to the corresponding one of `self`, in place.
        ///
        /// # Errors
        /// Lists of different lengths; those of [`add__Tensor`].
        ///
        /// PyTorch: `torch._foreach_add_`.
        _foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ();
        /// Adds a scalar to each tensor of a list, in place.
        ///
        /// PyTorch: `torch._foreach_add_`.
        _foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ();
        /// Subtracts `alpha` times each tensor of `other` from the corresponding one of `self`, in place.
        ///
        /// PyTorch: `torch._foreach_sub_`.
        _foreach_sub_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ();
        /// Multiplies each tensor of `self` by the corresponding one of `other`, in place.
        ///
        /// PyTorch: `torch._foreach_mul_`.
        _foreach_mul_.List(Tensor(a!)[] self, Tensor[] other) -> ();
        /// Multiplies each tensor of a list by a scalar, in place.
        ///
        /// PyTorch: `torch._foreach_mul_`.
        _foreach_mul_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ();
        /// Divides each tensor of `self` by the corresponding one of `other`, in place.
        ///
        /// PyTorch: `torch._foreach_div_`.
        _foreach_div_.List(Tensor(a!)[] self, Tensor[] other) -> ();
        /// Divides each tensor of a list by a scalar, in place.
        ///
        /// PyTorch: `torch._foreach_div_`.
        _foreach_div_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ();
        /// Adds `value * tensor1 * tensor2` to each tensor of a list, in place.
        ///
        /// PyTorch: `torch._foreach_addcmul_`.
        _foreach_addcmul_.Scalar(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> ();
        /// Adds `value * tensor1 / tensor2` to each tensor of a list, in place.
        ///
        /// PyTorch: `torch._foreach_addcdiv_`.
        _foreach_addcdiv_.Scalar(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> ();
        /// Adds `tensor1 * tensor2` to each tensor of a list, times the number for it in the vector `scalars`.
        ///
        /// # Errors
        /// Lists of different lengths; `scalars` of other sizes, not contiguous, or not on the CPU.
        ///
        /// PyTorch: `torch._foreach_addcmul`.
        _foreach_addcmul.Tensor(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> Tensor[];
        /// [`_foreach_addcmul_Tensor`](fn@_foreach_addcmul_Tensor) in place.
        ///
        /// PyTorch: `torch._foreach_addcmul_`.
        _foreach_addcmul_.Tensor(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> ();
        /// Adds `tensor1 / tensor2` to each tensor of a list, times the number for it in the vector `scalars`.
        ///
        /// # Errors
        /// Lists of different lengths; `scalars` of other sizes, not contiguous, or not on the CPU.
        ///
        /// PyTorch: `torch._foreach_addcdiv`.
        _foreach_addcdiv.Tensor(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> Tensor[];
        /// [`_foreach_addcdiv_Tensor`](fn@_foreach_addcdiv_Tensor) in place.
        ///
        /// PyTorch: `torch._foreach_addcdiv_`.
        _foreach_addcdiv_.Tensor(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> ();
        /// Interpolates each tensor of `self` towards the corresponding one of `tensors1`, in place.
        ///
        /// PyTorch: `torch._foreach_lerp_`.
        _foreach_lerp_.Scalar(Tensor(a!)[] self, Tensor[] tensors1, Scalar weight) -> ();
        /// Fills each tensor of a list with zeros.
        ///
        /// PyTorch: `torch._foreach_zero_`.
        _foreach_zero_(Tensor(a!)[] self) -> ();
        /// The square root of each element of each tensor.
        ///
        /// PyTorch: `torch._foreach_sqrt`.
        _foreach_sqrt(Tensor[] self) -> Tensor[];
        /// The norm of each tensor.
        ///
        /// PyTorch: `torch._foreach_norm`.
        _foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[];
        /// [`linalg__powsum`](fn@crate::aten::linalg__powsum) of all elements of each tensor.
        ///
        /// PyTorch: `torch._foreach_powsum`.
        _foreach_powsum.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[];

        /// A step of stochastic gradient descent. Without momentum, `momentum_buffer_list` may be empty.
        ///
        /// Gradients are divided by `grad_scale` first, in place, so that the caller sees it. If `found_inf` is 1,
        /// nothing is changed.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let (x, grad) = (Tensor::from([1.0, 2.0]), Tensor::from([10.0, -10.0]));
        /// aten::_fused_sgd_(&mut [x.clone()], &mut [grad], &mut [], 0.0, 0.0, 0.1, 0.0, false, false, true)?;
        /// assert_eq!(x.to_vec::<f64>()?, [0.0, 3.0]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// PyTorch: `torch._fused_sgd_`, `torch.optim.SGD` with `fused=True`.
        _fused_sgd_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *,
            float weight_decay, float momentum, float lr, float dampening, bool nesterov, bool maximize,
            bool is_first_step, Tensor? grad_scale=None, Tensor? found_inf=None) -> ();
        /// [`_fused_sgd_`](fn@_fused_sgd_) with the learning rate in a tensor of one element.
        ///
        /// PyTorch: `torch._fused_sgd_`.
        _fused_sgd_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *,
            float weight_decay, float momentum, Tensor lr, float dampening, bool nesterov, bool maximize,
            bool is_first_step, Tensor? grad_scale=None, Tensor? found_inf=None) -> ();
        /// A step of Adagrad. `state_sums` has the sums of the squares of each tensor's gradients, and `state_steps`
        /// the step number of each tensor, counted from 1; the learning rate is `lr / (1 + (step - 1) * lr_decay)`.
        ///
        /// PyTorch: `torch._fused_adagrad_`, `torch.optim.Adagrad` with `fused=True`.
        _fused_adagrad_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, Tensor(d!)[] state_steps, *,
            float lr, float lr_decay, float weight_decay, float eps, bool maximize, Tensor? grad_scale=None,
            Tensor? found_inf=None) -> ();
        /// [`_fused_adagrad_`](fn@_fused_adagrad_) with the learning rate in a tensor of one element.
        ///
        /// PyTorch: `torch._fused_adagrad_`.
        _fused_adagrad_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, Tensor[] state_steps,
            *, Tensor lr, float lr_decay, float weight_decay, float eps, bool maximize, Tensor? grad_scale=None,
            Tensor? found_inf=None) -> ();
        /// A step of Adam. `state_steps` has the step number of each tensor, counted from 1. Weight decay is added to
        /// the gradient.
        ///
        /// PyTorch: `torch._fused_adam_`, `torch.optim.Adam` with `fused=True`.
        _fused_adam_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs,
            Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2,
            float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None,
            Tensor? found_inf=None) -> ();
        /// A step of AdamW: Adam whose weight decay shrinks the parameters directly.
        ///
        /// PyTorch: `torch._fused_adamw_`, `torch.optim.AdamW` with `fused=True`.
        _fused_adamw_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs,
            Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2,
            float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None,
            Tensor? found_inf=None) -> ();
        /// [`_fused_adam_`](fn@_fused_adam_) with the learning rate in a tensor of one element.
        ///
        /// PyTorch: `torch._fused_adam_`.
        _fused_adam_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs,
            Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, Tensor lr, float beta1, float beta2,
            float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None,
            Tensor? found_inf=None) -> ();
        /// [`_fused_adamw_`](fn@_fused_adamw_) with the learning rate in a tensor of one element.
        ///
        /// PyTorch: `torch._fused_adamw_`.
        _fused_adamw_.tensor_lr(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs,
            Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, Tensor lr, float beta1, float beta2,
            float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None,
            Tensor? found_inf=None) -> ();

        /// [`_fused_sgd_`](fn@_fused_sgd_) as a function: no argument changes.
        ///
        /// PyTorch: `aten::_fused_sgd`.
        _fused_sgd(Tensor[] self, Tensor[] grads, Tensor[] momentum_buffer_list, *, float weight_decay, float
            momentum, float lr, float dampening, bool nesterov, bool maximize, bool is_first_step, Tensor?
            grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] grads_out, Tensor[]
            momentum_buffer_list_out);
        /// [`_fused_sgd__tensor_lr`](fn@_fused_sgd__tensor_lr) as a function: no argument changes.
        ///
        /// PyTorch: `aten::_fused_sgd.tensor_lr`.
        _fused_sgd.tensor_lr(Tensor[] self, Tensor[] grads, Tensor[] momentum_buffer_list, *, float weight_decay,
            float momentum, Tensor lr, float dampening, bool nesterov, bool maximize, bool is_first_step, Tensor?
            grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] grads_out, Tensor[]
            momentum_buffer_list_out);
        /// [`_fused_adagrad_`](fn@_fused_adagrad_) as a function: no argument changes.
        ///
        /// PyTorch: `aten::_fused_adagrad`.
        _fused_adagrad(Tensor[] self, Tensor[] grads, Tensor[] state_sums, Tensor[] state_steps, *, float lr, float
            lr_decay, float weight_decay, float eps, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None)
            -> (Tensor[] self_out, Tensor[] grads_out, Tensor[] state_sums_out, Tensor[] state_steps_out);
        /// [`_fused_adagrad__tensor_lr`](fn@_fused_adagrad__tensor_lr) as a function: no argument changes.
        ///
        /// PyTorch: `aten::_fused_adagrad.tensor_lr`.
        _fused_adagrad.tensor_lr(Tensor[] self, Tensor[] grads, Tensor[] state_sums, Tensor[] state_steps, *, Tensor
            lr, float lr_decay, float weight_decay, float eps, bool maximize, Tensor? grad_scale=None, Tensor?
            found_inf=None) -> (Tensor[] self_out, Tensor[] grads_out, Tensor[] state_sums_out);
        /// [`_fused_adam_`](fn@_fused_adam_) as a function: no argument changes.
        ///
        /// PyTorch: `aten::_fused_adam`.
        _fused_adam(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] max_exp_avg_sqs,
            Tensor[] state_steps, *, float lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad,
            bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] grads_out,
            Tensor[] exp_avgs_out, Tensor[] exp_avg_sqs_out, Tensor[] max_exp_avg_sqs_out);
        /// [`_fused_adam__tensor_lr`](fn@_fused_adam__tensor_lr) as a function: no argument changes.
        ///
        /// PyTorch: `aten::_fused_adam.tensor_lr`.
        _fused_adam.tensor_lr(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs,
            Tensor[] max_exp_avg_sqs, Tensor[] state_steps, *, Tensor lr, float beta1, float beta2, float weight_decay,
            float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> (
            Tensor[] self_out, Tensor[] grads_out, Tensor[] exp_avgs_out, Tensor[] exp_avg_sqs_out,
            Tensor[] max_exp_avg_sqs_out);
        /// [`_fused_adamw_`](fn@_fused_adamw_) as a function: no argument changes.
        ///
        /// PyTorch: `aten::_fused_adamw`.
        _fused_adamw(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] max_exp_avg_sqs,
            Tensor[] state_steps, *, float lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad,
            bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, Tensor[] grads_out,
            Tensor[] exp_avgs_out, Tensor[] exp_avg_sqs_out, Tensor[] max_exp_avg_sqs_out);
        /// [`_fused_adamw__tensor_lr`](fn@_fused_adamw__tensor_lr) as a function: no argument changes.
        ///
        /// PyTorch: `aten::_fused_adamw.tensor_lr`.
        _fused_adamw.tensor_lr(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs,
            Tensor[] max_exp_avg_sqs, Tensor[] state_steps, *, Tensor lr, float beta1, float beta2, float weight_decay,
            float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> (
            Tensor[] self_out, Tensor[] grads_out, Tensor[] exp_avgs_out, Tensor[] exp_avg_sqs_out,
            Tensor[] max_exp_avg_sqs_out);

        /// Multiplies gradients by `inv_scale`, and sets `found_inf` to 1 if an element was not finite.
        ///
        /// # Errors
        /// A `found_inf` or `inv_scale` that is not one `float32`, gradients that are not floating-point.
        ///
        /// PyTorch: `torch._amp_foreach_non_finite_check_and_unscale_`, in `torch.amp.GradScaler`.
        _amp_foreach_non_finite_check_and_unscale_(Tensor(a!)[] self, Tensor(b!) found_inf, Tensor inv_scale) -> ();
        /// The functional form of
        /// [`_amp_foreach_non_finite_check_and_unscale_`](fn@_amp_foreach_non_finite_check_and_unscale_).
        ///
        /// PyTorch: `aten::_amp_foreach_non_finite_check_and_unscale`.
        _amp_foreach_non_finite_check_and_unscale(Tensor[] self, Tensor found_inf,
            Tensor inv_scale) -> (Tensor[] self_out, Tensor found_inf_out);
        /// The next scale of a loss: smaller by `scale_backoff_factor` if `found_inf` is not zero; otherwise larger by
        /// `scale_growth_factor` after every `growth_interval` steps, which `growth_tracker` counts, unless it would
        /// not be finite.
        ///
        /// # Errors
        /// A scale or `found_inf` that is not one `float32`, a `growth_tracker` that is not one `int32`.
        ///
        /// PyTorch: `torch._amp_update_scale_`, in `torch.amp.GradScaler`.
        _amp_update_scale_(Tensor(a!) self, Tensor(b!) growth_tracker, Tensor found_inf, float scale_growth_factor,
            float scale_backoff_factor, int growth_interval) -> Tensor(a!);
        /// The functional form of [`_amp_update_scale_`](fn@_amp_update_scale_).
        ///
        /// PyTorch: `aten::_amp_update_scale`.
        _amp_update_scale(Tensor self, Tensor growth_tracker, Tensor found_inf, float scale_growth_factor,
            float scale_backoff_factor, int growth_interval) -> (Tensor, Tensor growth_tracker_out);
    }
}
