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
        expm1(Tensor self) -> Tensor;
        /// [`expm1`] in place.
        ///
        /// PyTorch: `Tensor.expm1_`.
        #[tags(pointwise)]
        expm1_(Tensor(a!) self) -> Tensor(a!);
        /// The natural logarithm of each element and one; precise near zero.
        ///
        /// PyTorch: `torch.log1p`.
        #[tags(pointwise)]
        log1p(Tensor self) -> Tensor;
        /// [`log1p`] in place.
        ///
        /// PyTorch: `Tensor.log1p_`.
        #[tags(pointwise)]
        log1p_(Tensor(a!) self) -> Tensor(a!);
        /// The logarithm of each element to base 2.
        ///
        /// PyTorch: `torch.log2`.
        #[tags(pointwise)]
        log2(Tensor self) -> Tensor;
        /// [`log2`] in place.
        ///
        /// PyTorch: `Tensor.log2_`.
        #[tags(pointwise)]
        log2_(Tensor(a!) self) -> Tensor(a!);
        /// The logarithm of each element to base 10.
        ///
        /// PyTorch: `torch.log10`.
        #[tags(pointwise)]
        log10(Tensor self) -> Tensor;
        /// [`log10`] in place.
        ///
        /// PyTorch: `Tensor.log10_`.
        #[tags(pointwise)]
        log10_(Tensor(a!) self) -> Tensor(a!);
        /// The tangent of each element.
        ///
        /// PyTorch: `torch.tan`.
        #[tags(pointwise)]
        tan(Tensor self) -> Tensor;
        /// [`tan`] in place.
        ///
        /// PyTorch: `Tensor.tan_`.
        #[tags(pointwise)]
        tan_(Tensor(a!) self) -> Tensor(a!);
        /// The angle whose sine each element is.
        ///
        /// PyTorch: `torch.asin`.
        #[tags(pointwise)]
        asin(Tensor self) -> Tensor;
        /// [`asin`] in place.
        ///
        /// PyTorch: `Tensor.asin_`.
        #[tags(pointwise)]
        asin_(Tensor(a!) self) -> Tensor(a!);
        /// The angle whose cosine each element is.
        ///
        /// PyTorch: `torch.acos`.
        #[tags(pointwise)]
        acos(Tensor self) -> Tensor;
        /// [`acos`] in place.
        ///
        /// PyTorch: `Tensor.acos_`.
        #[tags(pointwise)]
        acos_(Tensor(a!) self) -> Tensor(a!);
        /// The angle whose tangent each element is.
        ///
        /// PyTorch: `torch.atan`.
        #[tags(pointwise)]
        atan(Tensor self) -> Tensor;
        /// [`atan`] in place.
        ///
        /// PyTorch: `Tensor.atan_`.
        #[tags(pointwise)]
        atan_(Tensor(a!) self) -> Tensor(a!);
        /// The hyperbolic sine of each element.
        ///
        /// PyTorch: `torch.sinh`.
        #[tags(pointwise)]
        sinh(Tensor self) -> Tensor;
        /// [`sinh`] in place.
        ///
        /// PyTorch: `Tensor.sinh_`.
        #[tags(pointwise)]
        sinh_(Tensor(a!) self) -> Tensor(a!);
        /// The hyperbolic cosine of each element.
        ///
        /// PyTorch: `torch.cosh`.
        #[tags(pointwise)]
        cosh(Tensor self) -> Tensor;
        /// [`cosh`] in place.
        ///
        /// PyTorch: `Tensor.cosh_`.
        #[tags(pointwise)]
        cosh_(Tensor(a!) self) -> Tensor(a!);
        /// The number whose hyperbolic sine each element is.
        ///
        /// PyTorch: `torch.asinh`.
        #[tags(pointwise)]
        asinh(Tensor self) -> Tensor;
        /// [`asinh`] in place.
        ///
        /// PyTorch: `Tensor.asinh_`.
        #[tags(pointwise)]
        asinh_(Tensor(a!) self) -> Tensor(a!);
        /// The number whose hyperbolic cosine each element is.
        ///
        /// PyTorch: `torch.acosh`.
        #[tags(pointwise)]
        acosh(Tensor self) -> Tensor;
        /// [`acosh`] in place.
        ///
        /// PyTorch: `Tensor.acosh_`.
        #[tags(pointwise)]
        acosh_(Tensor(a!) self) -> Tensor(a!);
        /// The number whose hyperbolic tangent each element is.
        ///
        /// PyTorch: `torch.atanh`.
        #[tags(pointwise)]
        atanh(Tensor self) -> Tensor;
        /// [`atanh`] in place.
        ///
        /// PyTorch: `Tensor.atanh_`.
        #[tags(pointwise)]
        atanh_(Tensor(a!) self) -> Tensor(a!);
        /// The error function of each element.
        ///
        /// PyTorch: `torch.erf`.
        #[tags(pointwise)]
        erf(Tensor self) -> Tensor;
        /// [`erf`] in place.
        ///
        /// PyTorch: `Tensor.erf_`.
        #[tags(pointwise)]
        erf_(Tensor(a!) self) -> Tensor(a!);
        /// One less the error function of each element.
        ///
        /// PyTorch: `torch.erfc`.
        #[tags(pointwise)]
        erfc(Tensor self) -> Tensor;
        /// [`erfc`] in place.
        ///
        /// PyTorch: `Tensor.erfc_`.
        #[tags(pointwise)]
        erfc_(Tensor(a!) self) -> Tensor(a!);
        /// The largest whole number that is not above each element.
        ///
        /// PyTorch: `torch.floor`.
        #[tags(pointwise)]
        floor(Tensor self) -> Tensor;
        /// [`floor`] in place.
        ///
        /// PyTorch: `Tensor.floor_`.
        #[tags(pointwise)]
        floor_(Tensor(a!) self) -> Tensor(a!);
        /// The smallest whole number that is not below each element.
        ///
        /// PyTorch: `torch.ceil`.
        #[tags(pointwise)]
        ceil(Tensor self) -> Tensor;
        /// [`ceil`] in place.
        ///
        /// PyTorch: `Tensor.ceil_`.
        #[tags(pointwise)]
        ceil_(Tensor(a!) self) -> Tensor(a!);
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
        round(Tensor self) -> Tensor;
        /// [`round`] in place.
        ///
        /// PyTorch: `Tensor.round_`.
        #[tags(pointwise)]
        round_(Tensor(a!) self) -> Tensor(a!);
        /// Each element without its fraction.
        ///
        /// PyTorch: `torch.trunc`.
        #[tags(pointwise)]
        trunc(Tensor self) -> Tensor;
        /// [`trunc`] in place.
        ///
        /// PyTorch: `Tensor.trunc_`.
        #[tags(pointwise)]
        trunc_(Tensor(a!) self) -> Tensor(a!);
        /// The fraction of each element, with its sign.
        ///
        /// PyTorch: `torch.frac`.
        #[tags(pointwise)]
        frac(Tensor self) -> Tensor;
        /// [`frac`] in place.
        ///
        /// PyTorch: `Tensor.frac_`.
        #[tags(pointwise)]
        frac_(Tensor(a!) self) -> Tensor(a!);
        /// Each element times its logistic function.
        ///
        /// PyTorch: `torch.nn.functional.silu`.
        #[tags(pointwise)]
        silu(Tensor self) -> Tensor;
        /// [`silu`] in place.
        ///
        /// PyTorch: `torch.nn.functional.silu_`.
        #[tags(pointwise)]
        silu_(Tensor(a!) self) -> Tensor(a!);
        /// Each element times the hyperbolic tangent of its softplus.
        ///
        /// PyTorch: `torch.nn.functional.mish`.
        #[tags(pointwise)]
        mish(Tensor self) -> Tensor;
        /// [`mish`] in place.
        ///
        /// PyTorch: `torch.nn.functional.mish_`.
        #[tags(pointwise)]
        mish_(Tensor(a!) self) -> Tensor(a!);
        /// Each element times a line from 0 at -3 to 1 at 3.
        ///
        /// PyTorch: `torch.nn.functional.hardswish`.
        #[tags(pointwise)]
        hardswish(Tensor self) -> Tensor;
        /// [`hardswish`] in place.
        ///
        /// PyTorch: `torch.nn.functional.hardswish_`.
        #[tags(pointwise)]
        hardswish_(Tensor(a!) self) -> Tensor(a!);
        /// A line from 0 at -3 to 1 at 3.
        ///
        /// PyTorch: `torch.nn.functional.hardsigmoid`.
        #[tags(pointwise)]
        hardsigmoid(Tensor self) -> Tensor;
        /// [`hardsigmoid`] in place.
        ///
        /// PyTorch: `torch.nn.functional.hardsigmoid_`.
        #[tags(pointwise)]
        hardsigmoid_(Tensor(a!) self) -> Tensor(a!);
        /// The square of each element.
        ///
        /// PyTorch: `torch.square`.
        #[tags(pointwise)]
        square(Tensor self) -> Tensor;
        /// [`square`] in place.
        ///
        /// PyTorch: `Tensor.square_`.
        #[tags(pointwise)]
        square_(Tensor(a!) self) -> Tensor(a!);
        /// Whether each element is NaN.
        ///
        /// PyTorch: `torch.isnan`.
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
        maximum(Tensor self, Tensor other) -> Tensor;
        /// The smaller of two elements, or the one that is NaN.
        ///
        /// PyTorch: `torch.minimum`.
        #[tags(pointwise)]
        minimum(Tensor self, Tensor other) -> Tensor;
        /// The angle of the point with these elements as ordinate and abscissa.
        ///
        /// PyTorch: `torch.atan2`.
        #[tags(pointwise)]
        atan2(Tensor self, Tensor other) -> Tensor;
        /// [`atan2`] in place.
        ///
        /// PyTorch: `Tensor.atan2_`.
        #[tags(pointwise)]
        atan2_(Tensor(a!) self, Tensor other) -> Tensor(a!);
        /// The larger of two elements; of a number and NaN the number.
        ///
        /// PyTorch: `torch.fmax`.
        #[tags(pointwise)]
        fmax(Tensor self, Tensor other) -> Tensor;
        /// The smaller of two elements; of a number and NaN the number.
        ///
        /// PyTorch: `torch.fmin`.
        #[tags(pointwise)]
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
        fmod.Tensor(Tensor self, Tensor other) -> Tensor;
        /// [`fmod_Tensor`] in place.
        ///
        /// PyTorch: `Tensor.fmod_`.
        #[tags(pointwise)]
        fmod_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!);
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
        remainder.Tensor(Tensor self, Tensor other) -> Tensor;
        /// [`remainder_Tensor`] in place.
        ///
        /// PyTorch: `Tensor.remainder_`.
        #[tags(pointwise)]
        remainder_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!);
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
        pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor;
        /// [`pow_Tensor_Tensor`] in place.
        ///
        /// PyTorch: `Tensor.pow_`.
        #[tags(pointwise)]
        pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!);
        /// Each element to the power of a number.
        ///
        /// # Errors
        /// An integer to the power of a negative number.
        ///
        /// PyTorch: `torch.pow`.
        #[tags(pointwise)]
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
        lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor;
        /// [`lerp_Scalar`] in place.
        ///
        /// PyTorch: `Tensor.lerp_`.
        #[tags(pointwise)]
        lerp_.Scalar(Tensor(a!) self, Tensor end, Scalar weight) -> Tensor(a!);
        /// `self + weight * (end - self)`, element by element.
        ///
        /// PyTorch: `torch.lerp`.
        #[tags(pointwise)]
        lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor;
        /// `self + value * tensor1 * tensor2`.
        ///
        /// PyTorch: `torch.addcmul`.
        #[tags(pointwise)]
        addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor;
        /// [`addcmul`] in place.
        ///
        /// PyTorch: `Tensor.addcmul_`.
        #[tags(pointwise)]
        addcmul_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!);
        /// `self + value * tensor1 / tensor2`.
        ///
        /// PyTorch: `torch.addcdiv`.
        #[tags(pointwise)]
        addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor;
        /// [`addcdiv`] in place.
        ///
        /// PyTorch: `Tensor.addcdiv_`.
        #[tags(pointwise)]
        addcdiv_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!);
        /// Each element where it is positive, else a part of it.
        ///
        /// PyTorch: `torch.nn.functional.leaky_relu`.
        #[tags(pointwise)]
        leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor;
        /// Each element where it is positive, else what its exponential is above or below one.
        ///
        /// PyTorch: `torch.nn.functional.elu`.
        #[tags(pointwise)]
        elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor;
        /// A smooth `relu`: the logarithm of one and the exponential; the element itself above a threshold.
        ///
        /// PyTorch: `torch.nn.functional.softplus`.
        #[tags(pointwise)]
        softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor;
        /// Each element, but not below or above two numbers.
        ///
        /// PyTorch: `torch.nn.functional.hardtanh`.
        #[tags(pointwise)]
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
        round.decimals(Tensor self, *, int decimals) -> Tensor;
    }
}
