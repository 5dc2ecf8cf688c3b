//! More functions of numbers, element by element: powers, rounding, angles.
//!
//! Functions whose results are seldom integers give floating-point results for integers. Those with an underscore write
//! in place.

use torch_library::torch_library;

torch_library! {
    /// More functions of numbers, on top of what was declared before.
    #[methods(MathMethods)]
    #[overloads(function)]
    pub mod aten extends super::activation::aten {
        /// *e* to the power of each element, less one; precise near zero.
        ///
        /// PyTorch: `torch.expm1`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        expm1(Tensor self) -> Tensor;
        /// The natural logarithm of each element and one; precise near zero.
        ///
        /// PyTorch: `torch.log1p`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        log1p(Tensor self) -> Tensor;
        /// The logarithm of each element to base 2.
        ///
        /// PyTorch: `torch.log2`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        log2(Tensor self) -> Tensor;
        /// The logarithm of each element to base 10.
        ///
        /// PyTorch: `torch.log10`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        log10(Tensor self) -> Tensor;
        /// The tangent of each element.
        ///
        /// PyTorch: `torch.tan`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        tan(Tensor self) -> Tensor;
        /// The angle whose sine each element is.
        ///
        /// PyTorch: `torch.asin`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        asin(Tensor self) -> Tensor;
        /// The angle whose cosine each element is.
        ///
        /// PyTorch: `torch.acos`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        acos(Tensor self) -> Tensor;
        /// The angle whose tangent each element is.
        ///
        /// PyTorch: `torch.atan`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        atan(Tensor self) -> Tensor;
        /// The hyperbolic sine of each element.
        ///
        /// PyTorch: `torch.sinh`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        sinh(Tensor self) -> Tensor;
        /// The hyperbolic cosine of each element.
        ///
        /// PyTorch: `torch.cosh`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        cosh(Tensor self) -> Tensor;
        /// The number whose hyperbolic sine each element is.
        ///
        /// PyTorch: `torch.asinh`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        asinh(Tensor self) -> Tensor;
        /// The number whose hyperbolic cosine each element is.
        ///
        /// PyTorch: `torch.acosh`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        acosh(Tensor self) -> Tensor;
        /// The number whose hyperbolic tangent each element is.
        ///
        /// PyTorch: `torch.atanh`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        atanh(Tensor self) -> Tensor;
        /// The error function of each element.
        ///
        /// PyTorch: `torch.erf`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        erf(Tensor self) -> Tensor;
        /// One less the error function of each element.
        ///
        /// PyTorch: `torch.erfc`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        erfc(Tensor self) -> Tensor;
        /// The largest whole number that is not above each element.
        ///
        /// PyTorch: `torch.floor`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        floor(Tensor self) -> Tensor;
        /// The smallest whole number that is not below each element.
        ///
        /// PyTorch: `torch.ceil`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        ceil(Tensor self) -> Tensor;
        /// The whole number nearest to each element; halves go to the even one.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let x = aten::round(&Tensor::from([0.5, 1.5, -2.6]))?;
        /// assert_eq!(x.to_vec::<f64>()?, [0.0, 2.0, -3.0]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// PyTorch: `torch.round`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        round(Tensor self) -> Tensor;
        /// Each element without its fraction.
        ///
        /// PyTorch: `torch.trunc`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        trunc(Tensor self) -> Tensor;
        /// The fraction of each element, with its sign.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// assert_eq!(aten::frac(&Tensor::from([1.5, -2.25]))?.to_vec::<f64>()?, [0.5, -0.25]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// PyTorch: `torch.frac`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        frac(Tensor self) -> Tensor;
        /// Each element times its logistic function.
        ///
        /// PyTorch: `torch.nn.functional.silu`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        silu(Tensor self) -> Tensor;
        /// Each element times the hyperbolic tangent of its softplus.
        ///
        /// PyTorch: `torch.nn.functional.mish`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        mish(Tensor self) -> Tensor;
        /// Each element times a line from 0 at -3 to 1 at 3.
        ///
        /// PyTorch: `torch.nn.functional.hardswish`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        hardswish(Tensor self) -> Tensor;
        /// A line from 0 at -3 to 1 at 3.
        ///
        /// PyTorch: `torch.nn.functional.hardsigmoid`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        hardsigmoid(Tensor self) -> Tensor;
        /// The square of each element.
        ///
        /// PyTorch: `torch.square`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        square(Tensor self) -> Tensor;
        /// Whether each element is NaN.
        ///
        /// PyTorch: `torch.isnan`.
        #[variants(out)]
        isnan(Tensor self) -> Tensor;
        /// Whether each element is infinite.
        ///
        /// PyTorch: `torch.isinf`.
        isinf(Tensor self) -> Tensor;
        /// Whether each element is neither NaN nor infinite.
        ///
        /// PyTorch: `torch.isfinite`.
        isfinite(Tensor self) -> Tensor;
        /// The larger of two elements, or the one that is NaN.
        ///
        /// PyTorch: `torch.maximum`.
        #[tags(pointwise)]
        #[variants(out)]
        maximum(Tensor self, Tensor other) -> Tensor;
        /// The smaller of two elements, or the one that is NaN.
        ///
        /// PyTorch: `torch.minimum`.
        #[tags(pointwise)]
        #[variants(out)]
        minimum(Tensor self, Tensor other) -> Tensor;
        /// The angle of the point with these elements as ordinate and abscissa.
        ///
        /// PyTorch: `torch.atan2`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        atan2(Tensor self, Tensor other) -> Tensor;
        /// The larger of two elements; of a number and NaN the number.
        ///
        /// PyTorch: `torch.fmax`.
        #[tags(pointwise)]
        #[variants(out)]
        fmax(Tensor self, Tensor other) -> Tensor;
        /// The smaller of two elements; of a number and NaN the number.
        ///
        /// PyTorch: `torch.fmin`.
        #[tags(pointwise)]
        #[variants(out)]
        fmin(Tensor self, Tensor other) -> Tensor;
        /// The tensor itself: `+x`.
        ///
        /// # Errors
        /// Booleans.
        ///
        /// PyTorch: `torch.positive`.
        #[tags(pointwise)]
        positive(Tensor(a) self) -> Tensor(a);
        /// Each element times two to the power of another.
        ///
        /// PyTorch: `torch.ldexp`.
        #[tags(pointwise)]
        ldexp.Tensor(Tensor self, Tensor other) -> Tensor;
        /// What is left of each element divided by another, with the sign of the element.
        ///
        /// # Errors
        /// An integer divided by zero.
        ///
        /// PyTorch: `torch.fmod`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        fmod.Tensor(Tensor self, Tensor other) -> Tensor;
        /// [`fmod_Tensor`] with a number.
        ///
        /// PyTorch: `torch.fmod`.
        #[tags(pointwise)]
        fmod.Scalar(Tensor self, Scalar other) -> Tensor;
        /// What is left of each element divided by another, with the sign of the divisor.
        ///
        /// # Errors
        /// An integer divided by zero.
        ///
        /// PyTorch: `torch.remainder`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        remainder.Tensor(Tensor self, Tensor other) -> Tensor;
        /// [`remainder_Tensor`] with a number.
        ///
        /// PyTorch: `torch.remainder`.
        #[tags(pointwise)]
        remainder.Scalar(Tensor self, Scalar other) -> Tensor;
        /// Each element to the power of another.
        ///
        /// # Errors
        /// An integer to the power of a negative number.
        ///
        /// PyTorch: `torch.pow`.
        #[tags(pointwise)]
        #[variants(out, in_place = "Tensor")]
        pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor;
        /// Each element to the power of a number.
        ///
        /// # Errors
        /// An integer to the power of a negative number.
        ///
        /// PyTorch: `torch.pow`.
        #[tags(pointwise)]
        #[variants(out)]
        pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor;
        /// [`pow_Tensor_Scalar`] in place.
        ///
        /// PyTorch: `Tensor.pow_`.
        #[tags(pointwise)]
        pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!);
        /// A number to the power of each element.
        ///
        /// PyTorch: `torch.pow`.
        #[tags(pointwise)]
        pow.Scalar(Scalar self, Tensor exponent) -> Tensor;
        /// The quotient, rounded down.
        ///
        /// PyTorch: `torch.floor_divide`.
        floor_divide(Tensor self, Tensor other) -> Tensor;
        /// The quotient by a number, rounded down.
        ///
        /// PyTorch: `torch.floor_divide`.
        floor_divide.Scalar(Tensor self, Scalar other) -> Tensor;

        /// `self + weight * (end - self)`.
        ///
        /// PyTorch: `torch.lerp`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor;
        /// `self + weight * (end - self)`, element by element.
        ///
        /// PyTorch: `torch.lerp`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor;
        /// `self + value * tensor1 * tensor2`.
        ///
        /// PyTorch: `torch.addcmul`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor;
        /// `self + value * tensor1 / tensor2`.
        ///
        /// PyTorch: `torch.addcdiv`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor;
        /// Each element where it is positive, else a part of it.
        ///
        /// PyTorch: `torch.nn.functional.leaky_relu`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor;
        /// Each element where it is positive, else what its exponential is above or below one.
        ///
        /// PyTorch: `torch.nn.functional.elu`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor;
        /// A smooth `relu`: the logarithm of one and the exponential; the element itself above a threshold.
        ///
        /// PyTorch: `torch.nn.functional.softplus`.
        #[tags(pointwise)]
        #[variants(out)]
        softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor;
        /// Each element, but not below or above two numbers.
        ///
        /// PyTorch: `torch.nn.functional.hardtanh`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor;
        /// The logarithm of the logistic function of each element.
        ///
        /// PyTorch: `torch.nn.functional.logsigmoid`.
        #[tags(pointwise)]
        log_sigmoid(Tensor self) -> Tensor;
        /// Each element where it is positive, else a learned part of it, one for all or one for each channel.
        ///
        /// # Errors
        /// Another number of parts than one and the channels.
        ///
        /// PyTorch: `torch.nn.functional.prelu`.
        #[tags(pointwise)]
        prelu(Tensor self, Tensor weight) -> Tensor;
        /// The part of [`prelu`](fn@prelu) that computes, with a weight that broadcasts.
        ///
        /// PyTorch: `aten::_prelu_kernel`.
        #[tags(pointwise)]
        _prelu_kernel(Tensor self, Tensor weight) -> Tensor;
        /// The gradients of both arguments of [`_prelu_kernel`], each for all elements.
        ///
        /// PyTorch: `aten::_prelu_kernel_backward`.
        _prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor);
        /// What is left of a number, with the sign of the element by which it is divided.
        ///
        /// # Errors
        /// An integer divided by zero, complex numbers.
        ///
        /// PyTorch: `torch.remainder`.
        #[tags(pointwise)]
        remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor;
        /// Each element with so many digits behind the point, or with zeros before it if that is negative.
        ///
        /// # Errors
        /// Integers, unless `decimals` is 0; booleans and complex numbers.
        ///
        /// PyTorch: `torch.round`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        round.decimals(Tensor self, *, int decimals) -> Tensor;
    }
}
