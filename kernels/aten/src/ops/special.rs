//! Special functions, and comparisons within a tolerance, element-wise.
//!
//! Functions whose results are seldom integers give floating-point results for integers.

use torch_library::torch_library;

torch_library! {
    /// Special functions, on top of the operators declared before.
    #[methods(SpecialMethods)]
    #[overloads(function)]
    pub mod aten extends super::storage::aten {
        /// Two to the power of each element.
        ///
        /// PyTorch: `torch.exp2`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        exp2(Tensor self) -> Tensor;
        /// The inverse error function: NaN outside `[-1, 1]`.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.erfinv`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        erfinv(Tensor self) -> Tensor;
        /// The logarithm of the absolute value of the gamma function.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.lgamma`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        lgamma(Tensor self) -> Tensor;
        /// The digamma function: the derivative of [`lgamma`](fn@lgamma).
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.digamma`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        digamma(Tensor self) -> Tensor;
        /// The polygamma function: the `n`-th derivative of [`digamma`](fn@digamma).
        ///
        /// # Errors
        /// A negative order, a complex dtype.
        ///
        /// PyTorch: `torch.polygamma`.
        #[tags(pointwise)]
        #[variants(out)]
        polygamma(int n, Tensor self) -> Tensor;
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
        /// Whether the sign bit of each element is set; it is for -0.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.signbit`.
        #[tags(pointwise)]
        #[variants(out)]
        signbit(Tensor self) -> Tensor;
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
        /// Replaces NaN and infinities by numbers: NaN by 0, and infinities by the largest and smallest number of the
        /// dtype, unless others are given; for complex numbers, in both parts.
        ///
        /// PyTorch: `torch.nan_to_num`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor;
        /// The inverse of the sigmoid, `ln(x / (1 - x))`; with `eps`, elements are first clamped to `[eps, 1 - eps]`.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.logit`.
        #[tags(pointwise)]
        logit(Tensor self, float? eps=None) -> Tensor;
        /// Alias for `sigmoid`.
        ///
        /// PyTorch: `torch.special.expit`.
        special_expit(Tensor self) -> Tensor;
        /// Alias for `erf`.
        ///
        /// PyTorch: `torch.special.erf`.
        special_erf(Tensor self) -> Tensor;

        /// The length of the hypotenuse, `sqrt(self² + other²)`.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.hypot`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        hypot(Tensor self, Tensor other) -> Tensor;
        /// The magnitude of each element with the sign of the corresponding element of `other`.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.copysign`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        copysign.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The magnitude of each element with the sign of a scalar.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.copysign`.
        #[tags(pointwise)]
        copysign.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The Heaviside step function: 0 for negative elements, 1 for positive ones, and `values` for zeros.
        ///
        /// # Errors
        /// Different dtypes, a complex dtype.
        ///
        /// PyTorch: `torch.heaviside`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        heaviside(Tensor self, Tensor values) -> Tensor;
        /// `ln(exp(self) + exp(other))`, without overflow.
        ///
        /// # Errors
        /// Integer and boolean dtypes.
        ///
        /// PyTorch: `torch.logaddexp`.
        #[tags(pointwise)]
        #[variants(out)]
        logaddexp(Tensor self, Tensor other) -> Tensor;
        /// `log2(2^self + 2^other)`, without overflow.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.logaddexp2`.
        #[tags(pointwise)]
        #[variants(out)]
        logaddexp2(Tensor self, Tensor other) -> Tensor;
        /// `self * ln(other)`: 0 where `self` is 0, unless `other` is NaN.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.xlogy`.
        #[tags(pointwise)]
        #[variants(out = "OutTensor", in_place)]
        xlogy.Tensor(Tensor self, Tensor other) -> Tensor;
        /// [`xlogy_Tensor`](fn@xlogy_Tensor) with a scalar `other`.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.xlogy`.
        #[tags(pointwise)]
        xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor;
        /// [`xlogy_Tensor`](fn@xlogy_Tensor) with a scalar `self`.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.xlogy`.
        #[tags(pointwise)]
        xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor;
        /// The next representable number after each element in the direction of `other`.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nextafter`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        nextafter(Tensor self, Tensor other) -> Tensor;
        /// The greatest common divisor, which is never negative.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `torch.gcd`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        gcd(Tensor self, Tensor other) -> Tensor;
        /// The least common multiple, which is never negative.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `torch.lcm`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        lcm(Tensor self, Tensor other) -> Tensor;
        /// Each element raised to the power of the corresponding element of `exponent`, in `float64`, or `complex128`
        /// for complex numbers.
        ///
        /// PyTorch: `torch.float_power`.
        float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor;
        /// Each element raised to the power of a scalar, in `float64`, or `complex128` for complex numbers.
        ///
        /// PyTorch: `torch.float_power`.
        float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor;

        /// Whether elements differ by no more than `atol + rtol * |other|`; NaN equals NaN only with `equal_nan`.
        ///
        /// # Errors
        /// Different dtypes, negative tolerances.
        ///
        /// PyTorch: `torch.isclose`.
        isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor;
        /// Whether all elements are close, as [`isclose`](fn@isclose) defines it.
        ///
        /// # Errors
        /// The errors of [`isclose`](fn@isclose).
        ///
        /// PyTorch: `torch.allclose`.
        #[tags(data_dependent_output)]
        allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool;

        /// A scalar raised to the power of each element, in `float64`, or `complex128` for complex numbers.
        ///
        /// PyTorch: `torch.float_power`.
        #[tags(pointwise)]
        float_power.Scalar(Scalar self, Tensor exponent) -> Tensor;
    }
}
