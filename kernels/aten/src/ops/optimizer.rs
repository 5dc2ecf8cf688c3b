//! What optimisers do to many tensors at once: steps, and the arithmetic that steps are made of.

use torch_library::torch_library;

torch_library! {
    /// Work on lists of tensors, on top of what was declared before.
    #[kernels_in(torch_library_nn)]
    pub mod aten extends super::loss::aten {
        /// Adds `alpha` times a list of tensors to another, pair by pair.
        ///
        /// # Errors
        /// Lists of different lengths, and what [`add__Tensor`] refuses.
        ///
        /// PyTorch: `torch._foreach_add_`.
        _foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ();
        /// Adds a number to each tensor of a list.
        ///
        /// PyTorch: `torch._foreach_add_`.
        _foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ();
        /// Subtracts `alpha` times a list of tensors from another, pair by pair.
        ///
        /// PyTorch: `torch._foreach_sub_`.
        _foreach_sub_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ();
        /// Multiplies two lists of tensors, pair by pair.
        ///
        /// PyTorch: `torch._foreach_mul_`.
        _foreach_mul_.List(Tensor(a!)[] self, Tensor[] other) -> ();
        /// Multiplies each tensor of a list by a number.
        ///
        /// PyTorch: `torch._foreach_mul_`.
        _foreach_mul_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ();
        /// Divides two lists of tensors, pair by pair.
        ///
        /// PyTorch: `torch._foreach_div_`.
        _foreach_div_.List(Tensor(a!)[] self, Tensor[] other) -> ();
        /// Divides each tensor of a list by a number.
        ///
        /// PyTorch: `torch._foreach_div_`.
        _foreach_div_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ();
        /// Adds `value * tensor1 * tensor2`, tensor by tensor.
        ///
        /// PyTorch: `torch._foreach_addcmul_`.
        _foreach_addcmul_.Scalar(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> ();
        /// Adds `value * tensor1 / tensor2`, tensor by tensor.
        ///
        /// PyTorch: `torch._foreach_addcdiv_`.
        _foreach_addcdiv_.Scalar(Tensor(a!)[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> ();
        /// Moves each tensor a part of the way to another.
        ///
        /// PyTorch: `torch._foreach_lerp_`.
        _foreach_lerp_.Scalar(Tensor(a!)[] self, Tensor[] tensors1, Scalar weight) -> ();
        /// Writes zeros.
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

        /// A step of stochastic gradient descent. Without momentum, its buffers may be an empty list.
        ///
        /// Gradients are divided by `grad_scale` first, also where the caller sees them; with a `found_inf` of 1
        /// nothing happens.
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
        /// A step of Adam; `state_steps` has the number of each tensor's step, from 1 on. Weight decay is added to
        /// the gradient.
        ///
        /// PyTorch: `torch._fused_adam_`, `torch.optim.Adam` with `fused=True`.
        _fused_adam_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs,
            Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2,
            float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None,
            Tensor? found_inf=None) -> ();
        /// A step of Adam whose weight decay shrinks the tensors themselves.
        ///
        /// PyTorch: `torch._fused_adamw_`, `torch.optim.AdamW` with `fused=True`.
        _fused_adamw_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs,
            Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float beta2,
            float weight_decay, float eps, bool amsgrad, bool maximize, Tensor? grad_scale=None,
            Tensor? found_inf=None) -> ();
    }
}
