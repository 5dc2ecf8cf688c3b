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
        #[variants(out, in_place)]
        relu(Tensor self) -> Tensor;

        /// Each element with the other sign.
        ///
        /// # Errors
        /// Booleans.
        ///
        /// PyTorch: `torch.neg`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        neg(Tensor self) -> Tensor;

        /// The sign of each element: -1, 0 or 1; of NaN it is 0.
        ///
        /// # Errors
        /// Complex numbers, which have no order.
        ///
        /// PyTorch: `torch.sign`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        sign(Tensor self) -> Tensor;

        /// Whether each element is zero, as booleans.
        ///
        /// PyTorch: `torch.logical_not`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        logical_not(Tensor self) -> Tensor;

        /// Each element without its sign; of a complex number, its distance from zero.
        ///
        /// # Errors
        /// In place, complex numbers.
        ///
        /// PyTorch: `torch.abs`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        abs(Tensor self) -> Tensor;
        /// The angle of each number to the positive numbers, in radians: of a real one, π if it is negative.
        ///
        /// # Errors
        /// Complex numbers of halves.
        ///
        /// PyTorch: `torch.angle`.
        #[tags(pointwise)]
        #[variants(out)]
        angle(Tensor self) -> Tensor;

        /// The direction of each element: a number at distance 1 from zero, or zero.
        ///
        /// # Errors
        /// Integers and booleans.
        ///
        /// PyTorch: `torch.sgn`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        sgn(Tensor self) -> Tensor;

        /// *e* to the power of each element.
        ///
        /// PyTorch: `torch.exp`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        exp(Tensor self) -> Tensor;

        /// The natural logarithm of each element.
        ///
        /// PyTorch: `torch.log`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        log(Tensor self) -> Tensor;

        /// The square root of each element.
        ///
        /// PyTorch: `torch.sqrt`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        sqrt(Tensor self) -> Tensor;

        /// One over the square root of each element.
        ///
        /// PyTorch: `torch.rsqrt`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        rsqrt(Tensor self) -> Tensor;

        /// One over each element.
        ///
        /// PyTorch: `torch.reciprocal`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        reciprocal(Tensor self) -> Tensor;

        /// The sine of each element.
        ///
        /// PyTorch: `torch.sin`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        sin(Tensor self) -> Tensor;

        /// The cosine of each element.
        ///
        /// PyTorch: `torch.cos`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        cos(Tensor self) -> Tensor;

        /// The hyperbolic tangent of each element.
        ///
        /// PyTorch: `torch.tanh`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        tanh(Tensor self) -> Tensor;

        /// The logistic function `1 / (1 + exp(-x))` of each element.
        ///
        /// PyTorch: `torch.sigmoid`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        sigmoid(Tensor self) -> Tensor;

        /// The Gaussian error linear unit: `x` times the probability that a standard normal variable is below `x`.
        ///
        /// With `approximate="tanh"`, by a formula with the hyperbolic tangent.
        ///
        /// # Errors
        /// Another approximation than `"none"` and `"tanh"`; integers, booleans and complex numbers.
        ///
        /// PyTorch: `torch.nn.functional.gelu`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        gelu(Tensor self, *, str approximate="none") -> Tensor;

        /// Each element, but not below `min` and not above `max`; above `max` if these contradict each other.
        ///
        /// # Errors
        /// Neither bound, complex numbers.
        ///
        /// PyTorch: `torch.clamp`.
        #[tags(pointwise)]
        #[variants(function)] // by hand, with its options
        #[variants(out, in_place)]
        clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor;
        /// Each element, but not below that of `min` and not above that of `max`.
        ///
        /// PyTorch: `torch.clamp`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor;
        /// Each element, but not below `min`.
        ///
        /// PyTorch: `torch.clamp_min`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        clamp_min(Tensor self, Scalar min) -> Tensor;
        /// Each element, but not above `max`.
        ///
        /// PyTorch: `torch.clamp_max`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        clamp_max(Tensor self, Scalar max) -> Tensor;
        /// Each element, but not below that of `min`.
        ///
        /// PyTorch: `torch.clamp_min`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        clamp_min.Tensor(Tensor self, Tensor min) -> Tensor;
        /// Each element, but not above that of `max`.
        ///
        /// PyTorch: `torch.clamp_max`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        clamp_max.Tensor(Tensor self, Tensor max) -> Tensor;
    }
}
