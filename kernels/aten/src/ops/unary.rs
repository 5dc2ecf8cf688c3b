//! Unary element-wise operators.
//!
//! Functions whose results are seldom integers, such as `sqrt`, give floating-point results for integers. A name that
//! ends in an underscore is an in-place variant.

use torch_library::torch_library;

torch_library! {
    /// Unary functions.
    #[methods(UnaryMethods)]
    pub mod aten extends "aten" {
        /// The rectified linear unit: `max(x, 0)`.
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
        /// Boolean and complex dtypes.
        ///
        /// PyTorch: `torch.relu`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        relu(Tensor self) -> Tensor;

        /// The negative of each element.
        ///
        /// # Errors
        /// A boolean dtype.
        ///
        /// PyTorch: `torch.neg`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        neg(Tensor self) -> Tensor;

        /// The sign of each element: -1, 0 or 1; for NaN it is 0.
        ///
        /// # Errors
        /// Complex dtypes, which have no order.
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

        /// The absolute value of each element.
        ///
        /// # Errors
        /// A boolean dtype; a complex one, in place.
        ///
        /// PyTorch: `torch.abs`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        abs(Tensor self) -> Tensor;
        /// The angle of each complex number in radians; for real numbers, π if they are negative and 0 otherwise.
        ///
        /// # Errors
        /// Complex numbers of half precision.
        ///
        /// PyTorch: `torch.angle`.
        #[tags(pointwise)]
        #[variants(out)]
        angle(Tensor self) -> Tensor;

        /// The sign of each element; for complex numbers `x / |x|`, or 0.
        ///
        /// PyTorch: `torch.sgn`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        sgn(Tensor self) -> Tensor;
        /// Whether the sign bit of each element is set; it is for -0.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.signbit`.
        #[tags(pointwise)]
        #[variants(out)]
        signbit(Tensor self) -> Tensor;

        /// *e* to the power of each element.
        ///
        /// PyTorch: `torch.exp`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        exp(Tensor self) -> Tensor;
        /// Two to the power of each element.
        ///
        /// PyTorch: `torch.exp2`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        exp2(Tensor self) -> Tensor;

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

        /// The reciprocal of the square root of each element.
        ///
        /// PyTorch: `torch.rsqrt`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        rsqrt(Tensor self) -> Tensor;

        /// The reciprocal of each element.
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
        /// The tangent of each element.
        ///
        /// PyTorch: `torch.tan`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        tan(Tensor self) -> Tensor;
        /// The normalised sinc function, `sin(π x) / (π x)`: 1 at 0.
        ///
        /// PyTorch: `torch.sinc`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        sinc(Tensor self) -> Tensor;
        /// Converts degrees to radians.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.deg2rad`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        deg2rad(Tensor self) -> Tensor;
        /// Converts radians to degrees.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.rad2deg`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        rad2deg(Tensor self) -> Tensor;

        /// The hyperbolic tangent of each element.
        ///
        /// PyTorch: `torch.tanh`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        tanh(Tensor self) -> Tensor;

        /// The sigmoid, `1 / (1 + exp(-x))`, of each element.
        ///
        /// PyTorch: `torch.sigmoid`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        sigmoid(Tensor self) -> Tensor;
        /// The inverse of the sigmoid, `ln(x / (1 - x))`; with `eps`, elements are first clamped to `[eps, 1 - eps]`.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.logit`.
        #[tags(pointwise)]
        logit(Tensor self, float? eps=None) -> Tensor;

        /// The Gaussian error linear unit: `x` times the cumulative distribution function of the standard normal
        /// distribution at `x`.
        ///
        /// With `approximate="tanh"`, that function is approximated by a formula with `tanh`.
        ///
        /// # Errors
        /// An `approximate` other than `"none"` and `"tanh"`; integer, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.nn.functional.gelu`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        gelu(Tensor self, *, str approximate="none") -> Tensor;

        /// Clamps each element to `[min, max]`; if `min` is above `max`, the result is `max`.
        ///
        /// # Errors
        /// Neither bound, a complex dtype.
        ///
        /// PyTorch: `torch.clamp`.
        #[tags(pointwise)]
        #[variants(function)] // the method is in `methods`, with its options
        #[variants(out, in_place)]
        clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor;
        /// Clamps each element to the bounds in the corresponding elements of `min` and `max`, which broadcast.
        ///
        /// PyTorch: `torch.clamp`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor;
        /// Clamps each element to at least `min`.
        ///
        /// PyTorch: `torch.clamp_min`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        clamp_min(Tensor self, Scalar min) -> Tensor;
        /// Clamps each element to at most `max`.
        ///
        /// PyTorch: `torch.clamp_max`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        clamp_max(Tensor self, Scalar max) -> Tensor;
        /// Clamps each element to at least the corresponding element of `min`.
        ///
        /// PyTorch: `torch.clamp_min`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        clamp_min.Tensor(Tensor self, Tensor min) -> Tensor;
        /// Clamps each element to at most the corresponding element of `max`.
        ///
        /// PyTorch: `torch.clamp_max`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        clamp_max.Tensor(Tensor self, Tensor max) -> Tensor;
        /// The mantissas, whose magnitudes are in `[0.5, 1)`, and the exponents of two.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.frexp`.
        #[variants(function)]
        #[tags(pointwise)]
        frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent);
        /// Whether each element is real: without an imaginary part.
        ///
        /// PyTorch: `torch.isreal`.
        #[variants(function)]
        isreal(Tensor self) -> Tensor;
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
        /// Whether each element is positive infinity.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.isposinf`.
        #[tags(pointwise)]
        #[variants(out)]
        isposinf(Tensor self) -> Tensor;
        /// Whether each element is negative infinity.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.isneginf`.
        #[tags(pointwise)]
        #[variants(out)]
        isneginf(Tensor self) -> Tensor;
        /// Whether each element is neither NaN nor infinite.
        ///
        /// PyTorch: `torch.isfinite`.
        isfinite(Tensor self) -> Tensor;
        /// Replaces NaN and infinities by numbers: NaN by 0, and infinities by the largest and smallest number of the
        /// dtype, unless others are given; for complex numbers, in both parts.
        ///
        /// PyTorch: `torch.nan_to_num`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor;
        /// The tensor itself: `+x`.
        ///
        /// # Errors
        /// A boolean dtype.
        ///
        /// PyTorch: `torch.positive`.
        #[tags(pointwise)]
        positive(Tensor(a) self) -> Tensor(a);
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
