//! Activation functions, and the backward operators of those whose derivative has a kernel of its own.
//!
//! A backward operator takes the gradient of the function's result first, and returns the gradient of its input.

use torch_library::torch_library;

torch_library! {
    /// Activations, on top of the operators declared before.
    #[methods(ActivationMethods)]
    pub mod aten extends super::unary::aten {
        /// `grad_output` where `self` is above `threshold` or NaN, zero elsewhere: the derivative of `relu` if the
        /// threshold is zero.
        ///
        /// PyTorch: `aten::threshold_backward`.
        #[tags(pointwise)]
        #[variants(out = "grad_input(grad_input)")]
        threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor;

        /// `grad_output` where `self` is strictly between `min_val` and `max_val`, zero elsewhere: the derivative of
        /// `hardtanh`.
        ///
        /// PyTorch: `aten::hardtanh_backward`.
        #[tags(pointwise)]
        #[variants(out = "grad_input(grad_input)")]
        hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor;

        /// The derivative of `sigmoid`, computed from its result.
        ///
        /// PyTorch: `aten::sigmoid_backward`.
        #[tags(pointwise)]
        #[variants(out = "grad_input(grad_input)")]
        sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor;

        /// The derivative of `tanh`, computed from its result.
        ///
        /// PyTorch: `aten::tanh_backward`.
        #[tags(pointwise)]
        #[variants(out = "grad_input(grad_input)")]
        tanh_backward(Tensor grad_output, Tensor output) -> Tensor;

        /// The derivative of `gelu`, computed from its input.
        ///
        /// # Errors
        /// An `approximate` other than `"none"` and `"tanh"`; integer, boolean and complex dtypes.
        ///
        /// PyTorch: `aten::gelu_backward`.
        #[tags(pointwise)]
        #[variants(out = "grad_input(grad_input)")]
        gelu_backward(Tensor grad_output, Tensor self, *, str approximate="none") -> Tensor;
        /// The gradient of [`gelu`](fn@gelu), made of operators that have all derivatives.
        ///
        /// PyTorch: `aten::infinitely_differentiable_gelu_backward`.
        #[variants(function)]
        infinitely_differentiable_gelu_backward(Tensor grad, Tensor self) -> Tensor;

        /// `grad_output` times the derivative of `silu` at `self`. For a complex input, autograd passes the conjugate
        /// of `self`.
        ///
        /// # Errors
        /// Integer and boolean dtypes.
        ///
        /// PyTorch: `aten::silu_backward`.
        #[tags(pointwise)]
        #[variants(out = "grad_input(grad_input)")]
        silu_backward(Tensor grad_output, Tensor self) -> Tensor;

        /// The derivative of `elu`, computed from its input, or from its result if `is_result` is true.
        ///
        /// # Errors
        /// `is_result` with a negative `alpha`; integer, boolean and complex dtypes.
        ///
        /// PyTorch: `aten::elu_backward`.
        #[tags(pointwise)]
        elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result,
            Tensor self_or_result) -> Tensor;

        /// The derivative of `leaky_relu`, computed from its input, or from its result if `self_is_result` is true.
        ///
        /// # Errors
        /// `self_is_result` with a negative slope; integer, boolean and complex dtypes.
        ///
        /// PyTorch: `aten::leaky_relu_backward`.
        #[tags(pointwise)]
        leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> Tensor;

        /// `grad_out` where `self` is outside `[-lambd, lambd]` or NaN, zero elsewhere: the derivative of `hardshrink`.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes.
        ///
        /// PyTorch: `aten::hardshrink_backward`.
        #[tags(pointwise)]
        hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor;

        /// `grad_output` where `self` is outside `[-lambd, lambd]` or NaN, zero elsewhere: the derivative of
        /// `softshrink`.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes.
        ///
        /// PyTorch: `aten::softshrink_backward`.
        #[tags(pointwise)]
        softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor;

        /// A sixth of `grad_output` where `self` is strictly between -3 and 3, zero elsewhere: the derivative of
        /// `hardsigmoid`.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes.
        ///
        /// PyTorch: `aten::hardsigmoid_backward`.
        #[tags(pointwise)]
        hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor;

        /// The derivative of `hardswish`, computed from its input.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes.
        ///
        /// PyTorch: `aten::hardswish_backward`.
        #[tags(pointwise)]
        hardswish_backward(Tensor grad_output, Tensor self) -> Tensor;

        /// The derivative of `mish`, computed from its input, in the dtype of the input.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes.
        ///
        /// PyTorch: `aten::mish_backward`.
        #[tags(pointwise)]
        mish_backward(Tensor grad_output, Tensor self) -> Tensor;

        /// The derivative of `softplus`, computed from its input: `grad_output` itself where `self * beta` is above
        /// `threshold`.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes.
        ///
        /// PyTorch: `aten::softplus_backward`.
        #[tags(pointwise)]
        softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor;

        /// The derivative of `logit`, computed from its input. It is zero outside `[eps, 1 - eps]`; without `eps`, it
        /// is NaN outside `[0, 1]`.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes.
        ///
        /// PyTorch: `aten::logit_backward`.
        #[tags(pointwise)]
        logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor;

        /// The logarithm of the sigmoid of each element, and the buffer that
        /// [`log_sigmoid_backward`](fn@log_sigmoid_backward) needs: `exp(-abs(self))`. Both results are contiguous.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes.
        ///
        /// PyTorch: `aten::log_sigmoid_forward`.
        log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer);

        /// The derivative of `log_sigmoid`, computed from its input and the buffer of
        /// [`log_sigmoid_forward`](fn@log_sigmoid_forward).
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes, tensors of different dtypes.
        ///
        /// PyTorch: `aten::log_sigmoid_backward`.
        #[tags(pointwise)]
        log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor;

        /// The derivative of `glu`, computed from its input: contiguous, with the sizes of the input.
        ///
        /// # Errors
        /// A dimension of odd size, a gradient whose sizes or dtype are not those of the result, dtypes that are not
        /// floating-point.
        ///
        /// PyTorch: `aten::glu_backward`.
        glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor;

        /// The randomised leaky ReLU: positive elements stay, others are multiplied by a slope. In training, each
        /// element's slope is drawn uniformly between `lower` and `upper`; otherwise it is their mean.
        ///
        /// # Errors
        /// `lower` above `upper`; dtypes that are not floating-point, and in training half-precision ones.
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

        /// The operator behind [`rrelu`](fn@rrelu): in training, it also writes the factor of each element to
        /// `noise`.
        ///
        /// # Errors
        /// The errors of [`rrelu`](fn@rrelu); a `noise` of other sizes than `self`, or, in training, of another dtype.
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

        /// [`rrelu_with_noise`](fn@rrelu_with_noise), but it returns the noise instead of writing it to its argument.
        ///
        /// PyTorch: `aten::rrelu_with_noise_functional`.
        #[tags(nondeterministic_seeded)]
        rrelu_with_noise_functional(Tensor self, Tensor noise, Scalar lower=0.125,
            Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> (Tensor,
            Tensor noise_out);

        /// The derivative of [`rrelu_with_noise`](fn@rrelu_with_noise): in training `grad_output * noise`, unless the
        /// bounds are almost equal; otherwise that of `leaky_relu` with the mean of the bounds as its slope.
        ///
        /// # Errors
        /// Outside of training, the errors of [`leaky_relu_backward`](fn@leaky_relu_backward).
        ///
        /// PyTorch: `aten::rrelu_with_noise_backward`.
        rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper,
            bool training, bool self_is_result) -> Tensor;
    }
}
