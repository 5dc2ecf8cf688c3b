//! Activation functions, and the backward operators of those whose derivative has a kernel of its own.
//!
//! A backward operator takes the gradient of the function's result first, and returns the gradient of its input.

use torch_library::torch_library;

torch_library! {
    /// Activations.
    #[methods(ActivationMethods)]
    pub mod aten extends "aten" {
        /// The SiLU (swish) activation: `x * sigmoid(x)`.
        ///
        /// # Errors
        /// Integer and boolean dtypes.
        ///
        /// PyTorch: `torch.nn.functional.silu`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        silu(Tensor self) -> Tensor;
        /// The Mish activation: `x * tanh(softplus(x))`.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.mish`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        mish(Tensor self) -> Tensor;
        /// The hard swish activation: `x * hardsigmoid(x)`.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.hardswish`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        hardswish(Tensor self) -> Tensor;
        /// A piecewise linear sigmoid: a line from 0 at -3 to 1 at 3, constant outside.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.hardsigmoid`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        hardsigmoid(Tensor self) -> Tensor;
        /// `x` where it is positive, `negative_slope * x` elsewhere.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.leaky_relu`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor;
        /// The exponential linear unit: `x` where it is positive, `alpha * (exp(x) - 1)` elsewhere, with `x` scaled by
        /// `input_scale` before the exponential and the result by `scale`.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.elu`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor;
        /// A smooth `relu`: `ln(1 + exp(beta * x)) / beta`, or `x` itself where `beta * x` is above `threshold`.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.softplus`.
        #[tags(pointwise)]
        #[variants(out)]
        softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor;
        /// Clamps each element to `[min_val, max_val]`.
        ///
        /// # Errors
        /// Boolean and complex dtypes.
        ///
        /// PyTorch: `torch.nn.functional.hardtanh`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor;
        /// The logarithm of the sigmoid of each element.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.logsigmoid`.
        #[tags(pointwise)]
        log_sigmoid(Tensor self) -> Tensor;
        /// `x` where it is positive, `weight * x` elsewhere, with one learned weight for all elements or one for each
        /// channel.
        ///
        /// # Errors
        /// A number of weights other than one and that of the channels, a weight of another dtype.
        ///
        /// PyTorch: `torch.nn.functional.prelu`.
        #[tags(pointwise)]
        prelu(Tensor self, Tensor weight) -> Tensor;
        /// The operator behind [`prelu`](fn@prelu), with a weight that broadcasts.
        ///
        /// PyTorch: `aten::_prelu_kernel`.
        #[tags(pointwise)]
        _prelu_kernel(Tensor self, Tensor weight) -> Tensor;
        /// The gradients of both arguments of [`_prelu_kernel`], with the sizes of the input; that of the weight is not
        /// summed yet.
        ///
        /// PyTorch: `aten::_prelu_kernel_backward`.
        _prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor);
        /// The gated linear unit: the first half of a dimension, times the sigmoid of the second half.
        ///
        /// # Errors
        /// A dimension of odd size, a tensor without dimensions.
        ///
        /// PyTorch: `torch.nn.functional.glu`.
        glu(Tensor self, int dim=-1) -> Tensor;
        /// The scaled exponential linear unit: [`elu`](fn@elu) with the two constants that keep mean and variance from
        /// layer to layer.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.selu`.
        #[tags(pointwise)]
        selu(Tensor self) -> Tensor;
        /// `max(0, x) + min(0, alpha * (exp(x / alpha) - 1))`.
        ///
        /// # Errors
        /// An `alpha` of 0, dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.celu`.
        #[tags(pointwise)]
        celu(Tensor self, Scalar alpha=1.) -> Tensor;
        /// Clamps each element to `[0, 6]`.
        ///
        /// # Errors
        /// Boolean and complex dtypes.
        ///
        /// PyTorch: `torch.nn.functional.relu6`.
        relu6(Tensor self) -> Tensor;
        /// Each element, or 0 where it is in `[-lambd, lambd]`.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.hardshrink`.
        #[tags(pointwise)]
        #[variants(out)]
        hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor;
        /// Shrinks each element by `lambd` towards 0; elements in `[-lambd, lambd]` become 0.
        ///
        /// # Errors
        /// A `lambd` that is negative or not finite, dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.softshrink`.
        #[tags(pointwise)]
        #[variants(out)]
        softshrink(Tensor self, Scalar lambd=0.5) -> Tensor;
        /// Each element that is above `threshold`, and `value` in place of the others.
        ///
        /// # Errors
        /// Boolean and complex dtypes.
        ///
        /// PyTorch: `torch.nn.functional.threshold`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor;

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
        /// The gradient of [`gelu`](fn@crate::aten::gelu), made of operators that have all derivatives.
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
        /// How `glu`, the result of [`glu`](fn@glu) for `x`, changes where its input changes by `dx`.
        ///
        /// PyTorch: `aten::glu_jvp`.
        #[variants(out)]
        glu_jvp(Tensor glu, Tensor x, Tensor dx, int dim) -> Tensor;
        /// How `grad_x`, the result of [`glu_backward`](fn@glu_backward) for `grad_glu` and `x`, changes where these
        /// change by `dgrad_glu` and `dx`.
        ///
        /// PyTorch: `aten::glu_backward_jvp`.
        #[variants(out)]
        glu_backward_jvp(Tensor grad_x, Tensor grad_glu, Tensor x, Tensor dgrad_glu, Tensor dx,
            int dim) -> Tensor;

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
