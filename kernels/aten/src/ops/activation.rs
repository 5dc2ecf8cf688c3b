//! Non-linear functions between the layers of a network, and the derivatives of those that have kernels of their own.
//!
//! A derivative takes the gradient of the function's result first, and gives the gradient of its input.

use torch_library::torch_library;

torch_library! {
    /// Activations, on top of what was declared before.
    #[methods(ActivationMethods)]
    pub mod aten extends super::unary::aten {
        /// `grad_output` where `self` is above the threshold, else zero: the derivative of `relu` with a threshold
        /// of zero.
        ///
        /// PyTorch: `aten::threshold_backward`.
        #[tags(pointwise)]
        #[variants(out = "grad_input(grad_input)")]
        threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor;

        /// `grad_output` where `self` is strictly between the bounds, else zero: the derivative of `hardtanh`.
        ///
        /// PyTorch: `aten::hardtanh_backward`.
        #[tags(pointwise)]
        #[variants(out = "grad_input(grad_input)")]
        hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor;

        /// The derivative of `sigmoid`, from its result.
        ///
        /// PyTorch: `aten::sigmoid_backward`.
        #[tags(pointwise)]
        #[variants(out = "grad_input(grad_input)")]
        sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor;

        /// The derivative of `tanh`, from its result.
        ///
        /// PyTorch: `aten::tanh_backward`.
        #[tags(pointwise)]
        #[variants(out = "grad_input(grad_input)")]
        tanh_backward(Tensor grad_output, Tensor output) -> Tensor;

        /// The derivative of `gelu`, from its input.
        ///
        /// # Errors
        /// An `approximate` other than `"none"` and `"tanh"`.
        ///
        /// PyTorch: `aten::gelu_backward`.
        #[tags(pointwise)]
        #[variants(out = "grad_input(grad_input)")]
        gelu_backward(Tensor grad_output, Tensor self, *, str approximate="none") -> Tensor;

        /// `grad_output` times the slope of `silu`, from its input; the gradient of complex numbers wants the
        /// conjugate of these.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `aten::silu_backward`.
        #[tags(pointwise)]
        #[variants(out = "grad_input(grad_input)")]
        silu_backward(Tensor grad_output, Tensor self) -> Tensor;

        /// The derivative of `elu`, from its input, or from its result if `is_result`.
        ///
        /// # Errors
        /// A result with a negative `alpha`; integers and booleans.
        ///
        /// PyTorch: `aten::elu_backward`.
        #[tags(pointwise)]
        elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result,
            Tensor self_or_result) -> Tensor;

        /// The derivative of `leaky_relu`, from its input, or from its result if `self_is_result`.
        ///
        /// # Errors
        /// A result with a negative slope; integers and booleans.
        ///
        /// PyTorch: `aten::leaky_relu_backward`.
        #[tags(pointwise)]
        leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> Tensor;

        /// `grad_out` where `self` is not within `lambd` of zero, else zero: the derivative of `hardshrink`.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `aten::hardshrink_backward`.
        #[tags(pointwise)]
        hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor;

        /// `grad_output` where `self` is not within `lambd` of zero, else zero: the derivative of `softshrink`.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `aten::softshrink_backward`.
        #[tags(pointwise)]
        softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor;

        /// A sixth of `grad_output` where `self` is strictly between -3 and 3, else zero: the derivative of
        /// `hardsigmoid`.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `aten::hardsigmoid_backward`.
        #[tags(pointwise)]
        hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor;

        /// The derivative of `hardswish`, from its input.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `aten::hardswish_backward`.
        #[tags(pointwise)]
        hardswish_backward(Tensor grad_output, Tensor self) -> Tensor;

        /// The derivative of `mish`, from its input, whose type the result has.
        ///
        /// # Errors
        /// Integers, booleans and complex numbers.
        ///
        /// PyTorch: `aten::mish_backward`.
        #[tags(pointwise)]
        mish_backward(Tensor grad_output, Tensor self) -> Tensor;

        /// The derivative of `softplus`, from its input: `grad_output` itself where `self` times `beta` is above
        /// the threshold.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `aten::softplus_backward`.
        #[tags(pointwise)]
        softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor;

        /// The derivative of `logit`, from its input. Outside of `eps` and one less `eps` it is zero, and without
        /// `eps` outside of 0 and 1 no number.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `aten::logit_backward`.
        #[tags(pointwise)]
        logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor;

        /// The logarithm of the logistic function, and the exponential of each element's distance below zero, from
        /// which [`log_sigmoid_backward`](fn@log_sigmoid_backward) computes. Both are contiguous.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `aten::log_sigmoid_forward`.
        log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer);

        /// The derivative of `log_sigmoid`, from its input and the buffer of
        /// [`log_sigmoid_forward`](fn@log_sigmoid_forward).
        ///
        /// # Errors
        /// Integers and booleans, tensors of several types.
        ///
        /// PyTorch: `aten::log_sigmoid_backward`.
        #[tags(pointwise)]
        log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor;

        /// The derivative of `glu`, from its input: contiguous, and of the input's sizes.
        ///
        /// # Errors
        /// A dimension of odd size, a gradient of other sizes than the halves have or of another type, integers.
        ///
        /// PyTorch: `aten::glu_backward`.
        glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor;

        /// Each element where it is positive, else a part of it: in training one that is drawn between `lower` and
        /// `upper` for each, else the one in the middle.
        ///
        /// # Errors
        /// Bounds in the wrong order, integers and booleans.
        ///
        /// PyTorch: `torch.nn.functional.rrelu`.
        #[tags(nondeterministic_seeded)]
        rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False,
            Generator? generator=None) -> Tensor;

        /// [`rrelu`](fn@rrelu) in place.
        ///
        /// PyTorch: `torch.nn.functional.rrelu_`.
        #[tags(nondeterministic_seeded)]
        rrelu_(Tensor(a!) self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False,
            Generator? generator=None) -> Tensor(a!);

        /// The part of [`rrelu`](fn@rrelu) that computes. In training it writes to `noise` which part of each
        /// element it took.
        ///
        /// # Errors
        /// As there; `noise` of other sizes, or in training of another type than the input.
        ///
        /// PyTorch: `aten::rrelu_with_noise`.
        #[tags(nondeterministic_seeded)]
        rrelu_with_noise(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.33333333333333331,
            bool training=False, Generator? generator=None) -> Tensor;

        /// [`rrelu_with_noise`](fn@rrelu_with_noise) in place.
        ///
        /// PyTorch: `aten::rrelu_with_noise_`.
        #[tags(nondeterministic_seeded)]
        rrelu_with_noise_(Tensor(a!) self, Tensor(b!) noise, Scalar lower=0.125,
            Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor(a!);

        /// [`rrelu_with_noise`](fn@rrelu_with_noise) that returns the noise instead of writing it to its argument.
        ///
        /// PyTorch: `aten::rrelu_with_noise_functional`.
        #[tags(nondeterministic_seeded)]
        rrelu_with_noise_functional(Tensor self, Tensor noise, Scalar lower=0.125,
            Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> (Tensor,
            Tensor noise_out);

        /// The derivative of [`rrelu_with_noise`](fn@rrelu_with_noise): `grad_output` times the noise in training,
        /// unless the bounds are hardly apart; else that of `leaky_relu` with the slope in the middle.
        ///
        /// # Errors
        /// Those of [`leaky_relu_backward`](fn@leaky_relu_backward).
        ///
        /// PyTorch: `aten::rrelu_with_noise_backward`.
        rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper,
            bool training, bool self_is_result) -> Tensor;
    }
}
