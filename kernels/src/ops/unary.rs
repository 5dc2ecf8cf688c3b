//! Operators on one tensor, element by element.
//!
//! Functions whose results are seldom integers, as `sqrt`, give floating-point results for integers. Those with an
//! underscore write in place.

use torch_library::torch_library;

torch_library! {
    /// Functions of one number, on top of what was declared before.
    #[methods(UnaryMethods)]
    pub mod aten extends super::binary::aten {
        /// The larger of each element and zero.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// assert_eq!(aten::relu(&Tensor::from([-1.5, 2.0]))?.to_vec::<f64>()?, [0.0, 2.0]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// Booleans and complex numbers.
        ///
        /// PyTorch: `torch.relu`.
        #[tags(pointwise)]
        relu(Tensor self) -> Tensor;
        /// Replaces negative elements by zero.
        ///
        /// PyTorch: `torch.relu_`.
        #[tags(pointwise)]
        relu_(Tensor(a!) self) -> Tensor(a!);

        /// Each element with the other sign.
        ///
        /// # Errors
        /// Booleans.
        ///
        /// PyTorch: `torch.neg`.
        #[tags(pointwise)]
        neg(Tensor self) -> Tensor;
        /// Changes every sign.
        ///
        /// PyTorch: `torch.neg_`.
        #[tags(pointwise)]
        neg_(Tensor(a!) self) -> Tensor(a!);

        /// The sign of each element: -1, 0 or 1; of NaN it is 0.
        ///
        /// # Errors
        /// Complex numbers, which have no order.
        ///
        /// PyTorch: `torch.sign`.
        #[tags(pointwise)]
        sign(Tensor self) -> Tensor;
        /// Replaces each element by its sign.
        ///
        /// PyTorch: `Tensor.sign_`.
        #[tags(pointwise)]
        sign_(Tensor(a!) self) -> Tensor(a!);

        /// Whether each element is zero, as booleans.
        ///
        /// PyTorch: `torch.logical_not`.
        #[tags(pointwise)]
        logical_not(Tensor self) -> Tensor;

        /// Each element without its sign; of a complex number, its distance from zero.
        ///
        /// # Errors
        /// In place, complex numbers.
        ///
        /// PyTorch: `torch.abs`.
        #[tags(pointwise)]
        abs(Tensor self) -> Tensor;
        /// The angle of each number to the positive numbers, in radians: of a real one, π if it is negative.
        ///
        /// # Errors
        /// Complex numbers of halves.
        ///
        /// PyTorch: `torch.angle`.
        #[tags(pointwise)]
        angle(Tensor self) -> Tensor;
        /// Drops every sign.
        ///
        /// PyTorch: `torch.abs_`.
        #[tags(pointwise)]
        abs_(Tensor(a!) self) -> Tensor(a!);

        /// The direction of each element: a number at distance 1 from zero, or zero.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `torch.sgn`.
        #[tags(pointwise)]
        sgn(Tensor self) -> Tensor;
        /// Replaces each element by its direction.
        ///
        /// PyTorch: `torch.sgn_`.
        #[tags(pointwise)]
        sgn_(Tensor(a!) self) -> Tensor(a!);

        /// *e* to the power of each element.
        ///
        /// PyTorch: `torch.exp`.
        #[tags(pointwise)]
        exp(Tensor self) -> Tensor;
        /// Replaces each element by *e* to its power.
        ///
        /// PyTorch: `torch.exp_`.
        #[tags(pointwise)]
        exp_(Tensor(a!) self) -> Tensor(a!);

        /// The natural logarithm of each element.
        ///
        /// PyTorch: `torch.log`.
        #[tags(pointwise)]
        log(Tensor self) -> Tensor;
        /// Replaces each element by its natural logarithm.
        ///
        /// PyTorch: `torch.log_`.
        #[tags(pointwise)]
        log_(Tensor(a!) self) -> Tensor(a!);

        /// The square root of each element.
        ///
        /// PyTorch: `torch.sqrt`.
        #[tags(pointwise)]
        sqrt(Tensor self) -> Tensor;
        /// Replaces each element by its square root.
        ///
        /// PyTorch: `torch.sqrt_`.
        #[tags(pointwise)]
        sqrt_(Tensor(a!) self) -> Tensor(a!);

        /// One over the square root of each element.
        ///
        /// PyTorch: `torch.rsqrt`.
        #[tags(pointwise)]
        rsqrt(Tensor self) -> Tensor;
        /// Replaces each element by one over its square root.
        ///
        /// PyTorch: `torch.rsqrt_`.
        #[tags(pointwise)]
        rsqrt_(Tensor(a!) self) -> Tensor(a!);

        /// One over each element.
        ///
        /// PyTorch: `torch.reciprocal`.
        #[tags(pointwise)]
        reciprocal(Tensor self) -> Tensor;
        /// Replaces each element by one over it.
        ///
        /// PyTorch: `torch.reciprocal_`.
        #[tags(pointwise)]
        reciprocal_(Tensor(a!) self) -> Tensor(a!);

        /// The sine of each element.
        ///
        /// PyTorch: `torch.sin`.
        #[tags(pointwise)]
        sin(Tensor self) -> Tensor;
        /// Replaces each element by its sine.
        ///
        /// PyTorch: `torch.sin_`.
        #[tags(pointwise)]
        sin_(Tensor(a!) self) -> Tensor(a!);

        /// The cosine of each element.
        ///
        /// PyTorch: `torch.cos`.
        #[tags(pointwise)]
        cos(Tensor self) -> Tensor;
        /// Replaces each element by its cosine.
        ///
        /// PyTorch: `torch.cos_`.
        #[tags(pointwise)]
        cos_(Tensor(a!) self) -> Tensor(a!);

        /// The hyperbolic tangent of each element.
        ///
        /// PyTorch: `torch.tanh`.
        #[tags(pointwise)]
        tanh(Tensor self) -> Tensor;
        /// Replaces each element by its hyperbolic tangent.
        ///
        /// PyTorch: `torch.tanh_`.
        #[tags(pointwise)]
        tanh_(Tensor(a!) self) -> Tensor(a!);

        /// The logistic function `1 / (1 + exp(-x))` of each element.
        ///
        /// PyTorch: `torch.sigmoid`.
        #[tags(pointwise)]
        sigmoid(Tensor self) -> Tensor;
        /// Replaces each element by its logistic function.
        ///
        /// PyTorch: `torch.sigmoid_`.
        #[tags(pointwise)]
        sigmoid_(Tensor(a!) self) -> Tensor(a!);

        /// The Gaussian error linear unit: `x` times the probability that a standard normal variable is below `x`.
        ///
        /// With `approximate="tanh"`, by a formula with the hyperbolic tangent.
        ///
        /// # Errors
        /// Another approximation than `"none"` and `"tanh"`; integers, booleans and complex numbers.
        ///
        /// PyTorch: `torch.nn.functional.gelu`.
        #[tags(pointwise)]
        gelu(Tensor self, *, str approximate="none") -> Tensor;

        /// Each element, but not below `min` and not above `max`; above `max` if these contradict each other.
        ///
        /// # Errors
        /// Neither bound, complex numbers.
        ///
        /// PyTorch: `torch.clamp`.
        #[tags(pointwise)]
        #[variants(function)] // by hand, with its options
        clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor;
        /// Moves elements out of range to the bound they passed.
        ///
        /// # Errors
        /// As [`clamp`](fn@clamp); bounds of a higher kind than the elements.
        ///
        /// PyTorch: `torch.clamp_`.
        #[tags(pointwise)]
        clamp_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!);
        /// Each element, but not below that of `min` and not above that of `max`.
        ///
        /// PyTorch: `torch.clamp`.
        #[tags(pointwise)]
        clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor;
        /// Each element, but not below `min`.
        ///
        /// PyTorch: `torch.clamp_min`.
        #[tags(pointwise)]
        clamp_min(Tensor self, Scalar min) -> Tensor;
        /// Each element, but not above `max`.
        ///
        /// PyTorch: `torch.clamp_max`.
        #[tags(pointwise)]
        clamp_max(Tensor self, Scalar max) -> Tensor;
        /// Each element, but not below that of `min`.
        ///
        /// PyTorch: `torch.clamp_min`.
        #[tags(pointwise)]
        clamp_min.Tensor(Tensor self, Tensor min) -> Tensor;
        /// Each element, but not above that of `max`.
        ///
        /// PyTorch: `torch.clamp_max`.
        #[tags(pointwise)]
        clamp_max.Tensor(Tensor self, Tensor max) -> Tensor;
    }
}
