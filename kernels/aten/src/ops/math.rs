//! More element-wise functions: powers, logarithms, rounding, trigonometry, remainders.
//!
//! Functions whose results are seldom integers give floating-point results for integers. A name that ends in an
//! underscore is an in-place variant.

use torch_library::torch_library;

torch_library! {
    /// More element-wise functions, on top of the operators declared before.
    #[methods(MathMethods)]
    #[overloads(function)]
    pub mod aten extends super::activation::aten {
        /// `exp(x) - 1` of each element, precise near zero.
        ///
        /// PyTorch: `torch.expm1`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        expm1(Tensor self) -> Tensor;
        /// `ln(1 + x)` of each element, precise near zero.
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
        /// The arcsine of each element.
        ///
        /// PyTorch: `torch.asin`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        asin(Tensor self) -> Tensor;
        /// The arccosine of each element.
        ///
        /// PyTorch: `torch.acos`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        acos(Tensor self) -> Tensor;
        /// The arctangent of each element.
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
        /// The inverse hyperbolic sine of each element.
        ///
        /// PyTorch: `torch.asinh`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        asinh(Tensor self) -> Tensor;
        /// The inverse hyperbolic cosine of each element.
        ///
        /// PyTorch: `torch.acosh`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        acosh(Tensor self) -> Tensor;
        /// The inverse hyperbolic tangent of each element.
        ///
        /// PyTorch: `torch.atanh`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        atanh(Tensor self) -> Tensor;
        /// The error function of each element.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.erf`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        erf(Tensor self) -> Tensor;
        /// The complementary error function, `1 - erf(x)`, of each element.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.erfc`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        erfc(Tensor self) -> Tensor;
        /// Rounds each element down to an integer.
        ///
        /// # Errors
        /// Boolean and complex dtypes.
        ///
        /// PyTorch: `torch.floor`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        floor(Tensor self) -> Tensor;
        /// Rounds each element up to an integer.
        ///
        /// # Errors
        /// Boolean and complex dtypes.
        ///
        /// PyTorch: `torch.ceil`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        ceil(Tensor self) -> Tensor;
        /// Rounds each element to the nearest integer; ties go to the even one.
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
        /// # Errors
        /// Boolean and complex dtypes.
        ///
        /// PyTorch: `torch.round`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        round(Tensor self) -> Tensor;
        /// Rounds each element towards zero.
        ///
        /// # Errors
        /// Boolean and complex dtypes.
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
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.frac`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        frac(Tensor self) -> Tensor;
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
        /// The larger of two elements; NaN if either is NaN.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.maximum`.
        #[tags(pointwise)]
        #[variants(out)]
        maximum(Tensor self, Tensor other) -> Tensor;
        /// The smaller of two elements; NaN if either is NaN.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.minimum`.
        #[tags(pointwise)]
        #[variants(out)]
        minimum(Tensor self, Tensor other) -> Tensor;
        /// The angle of the point whose y coordinate is `self` and whose x coordinate is `other`.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.atan2`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        atan2(Tensor self, Tensor other) -> Tensor;
        /// The larger of two elements; if one of them is NaN, the other.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.fmax`.
        #[tags(pointwise)]
        #[variants(out)]
        fmax(Tensor self, Tensor other) -> Tensor;
        /// The smaller of two elements; if one of them is NaN, the other.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.fmin`.
        #[tags(pointwise)]
        #[variants(out)]
        fmin(Tensor self, Tensor other) -> Tensor;
        /// The tensor itself: `+x`.
        ///
        /// # Errors
        /// A boolean dtype.
        ///
        /// PyTorch: `torch.positive`.
        #[tags(pointwise)]
        positive(Tensor(a) self) -> Tensor(a);
        /// `self * 2^other`, element-wise.
        ///
        /// PyTorch: `torch.ldexp`.
        #[tags(pointwise)]
        ldexp.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The remainder of the division `self / other`, with the sign of `self` (as C's `fmod`).
        ///
        /// # Errors
        /// An integer division by zero; complex dtypes, two boolean tensors.
        ///
        /// PyTorch: `torch.fmod`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        fmod.Tensor(Tensor self, Tensor other) -> Tensor;
        /// [`fmod_Tensor`] with a scalar.
        ///
        /// PyTorch: `torch.fmod`.
        #[tags(pointwise)]
        fmod.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The remainder of the division `self / other`, with the sign of `other` (as Python's `%`).
        ///
        /// # Errors
        /// An integer division by zero; complex dtypes, two boolean tensors.
        ///
        /// PyTorch: `torch.remainder`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        remainder.Tensor(Tensor self, Tensor other) -> Tensor;
        /// [`remainder_Tensor`] with a scalar.
        ///
        /// PyTorch: `torch.remainder`.
        #[tags(pointwise)]
        remainder.Scalar(Tensor self, Scalar other) -> Tensor;
        /// Each element raised to the power of the corresponding element of `exponent`; a negative power of an integer
        /// is rounded towards zero.
        ///
        /// # Errors
        /// Two boolean tensors.
        ///
        /// PyTorch: `torch.pow`.
        #[tags(pointwise)]
        #[variants(out, in_place = "Tensor")]
        pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor;
        /// Each element raised to the power of a scalar.
        ///
        /// # Errors
        /// An integer to a negative integer power, a boolean to the power of `false`.
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
        /// A scalar raised to the power of each element.
        ///
        /// PyTorch: `torch.pow`.
        #[tags(pointwise)]
        pow.Scalar(Scalar self, Tensor exponent) -> Tensor;
        /// The quotient, rounded down.
        ///
        /// # Errors
        /// An integer division by zero; complex dtypes, two boolean tensors.
        ///
        /// PyTorch: `torch.floor_divide`.
        floor_divide(Tensor self, Tensor other) -> Tensor;
        /// The quotient by a scalar, rounded down.
        ///
        /// PyTorch: `torch.floor_divide`.
        floor_divide.Scalar(Tensor self, Scalar other) -> Tensor;

        /// `self + weight * (end - self)`.
        ///
        /// # Errors
        /// Integer and boolean dtypes, operands of different dtypes.
        ///
        /// PyTorch: `torch.lerp`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor;
        /// `self + weight * (end - self)`, with a weight for each element.
        ///
        /// # Errors
        /// Integer and boolean dtypes, operands of different dtypes.
        ///
        /// PyTorch: `torch.lerp`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor;
        /// `self + value * tensor1 * tensor2`.
        ///
        /// # Errors
        /// Boolean dtypes.
        ///
        /// PyTorch: `torch.addcmul`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor;
        /// `self + value * tensor1 / tensor2`.
        ///
        /// # Errors
        /// Integers divided by integers.
        ///
        /// PyTorch: `torch.addcdiv`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor;
        /// Complex numbers from their real and imaginary parts, which broadcast.
        ///
        /// # Errors
        /// Parts of different dtypes, or of others than `float16`, `float32` and `float64`.
        ///
        /// PyTorch: `torch.complex`.
        complex(Tensor real, Tensor imag) -> Tensor;
        /// Complex numbers from their absolute values and angles, which broadcast.
        ///
        /// # Errors
        /// Operands of different dtypes, or of others than `float16`, `float32` and `float64`.
        ///
        /// PyTorch: `torch.polar`.
        polar(Tensor abs, Tensor angle) -> Tensor;
        /// The remainder of the division of a scalar by each element, with the sign of the element.
        ///
        /// # Errors
        /// An integer division by zero, a complex dtype.
        ///
        /// PyTorch: `torch.remainder`.
        #[tags(pointwise)]
        remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor;
        /// Rounds each element to `decimals` digits after the decimal point; if `decimals` is negative, to that many
        /// digits before it.
        ///
        /// # Errors
        /// Dtypes that are not floating-point, also if `decimals` is 0.
        ///
        /// PyTorch: `torch.round`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        round.decimals(Tensor self, *, int decimals) -> Tensor;
    }
}
