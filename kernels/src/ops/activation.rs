//! Non-linear functions between the layers of a network, and the derivatives of those that have kernels of their own.
//!
//! A derivative takes the gradient of the function's result first, and gives the gradient of its input.

use torch_library::torch_library;

torch_library! {
    /// Activations, on top of what was declared before.
    #[methods(ActivationMethods)]
    pub mod aten extends super::unary::aten {
        /// `grad_output` where `self` is above the threshold, else zero: the derivative of `relu` with a threshold of zero.
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

        /// `grad_output` times the slope of `silu`, from its input; the gradient of complex numbers wants the conjugate of these.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `aten::silu_backward`.
        #[tags(pointwise)]
        #[variants(out = "grad_input(grad_input)")]
        silu_backward(Tensor grad_output, Tensor self) -> Tensor;
    }
}
