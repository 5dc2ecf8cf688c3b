//! Operators element by element that programs need now and then: special functions, gates, bits.
//!
//! Functions whose results are seldom integers give floating-point results for integers.

use torch_library::torch_library;

torch_library! {
    /// Special functions, on top of what was declared before.
    #[methods(SpecialMethods)]
    #[overloads(function)]
    pub mod aten extends super::pieces::aten {
        /// Two to the power of each element.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.exp2`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        exp2(Tensor self) -> Tensor;
        /// What the error function makes each element of; NaN beyond -1 and 1.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.erfinv`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        erfinv(Tensor self) -> Tensor;
        /// The logarithm of the magnitude of the gamma function.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.lgamma`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        lgamma(Tensor self) -> Tensor;
        /// The slope of [`lgamma`](fn@lgamma).
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.digamma`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        digamma(Tensor self) -> Tensor;
        /// The derivative of [`digamma`](fn@digamma) of order `n`.
        ///
        /// # Errors
        /// A negative order, complex numbers.
        ///
        /// PyTorch: `torch.polygamma`.
        #[tags(pointwise)]
        #[variants(out)]
        polygamma(int n, Tensor self) -> Tensor;
        /// The sine of π x over π x; 1 at 0.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.sinc`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        sinc(Tensor self) -> Tensor;
        /// Degrees as radians.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.deg2rad`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        deg2rad(Tensor self) -> Tensor;
        /// Radians as degrees.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.rad2deg`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        rad2deg(Tensor self) -> Tensor;
        /// Whether each element has a minus sign, also that of a zero.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.signbit`.
        #[tags(pointwise)]
        #[variants(out)]
        signbit(Tensor self) -> Tensor;
        /// Whether each element is infinite and positive.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.isposinf`.
        #[tags(pointwise)]
        #[variants(out)]
        isposinf(Tensor self) -> Tensor;
        /// Whether each element is infinite and negative.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.isneginf`.
        #[tags(pointwise)]
        #[variants(out)]
        isneginf(Tensor self) -> Tensor;
        /// Each element, or a number in place of NaN and infinities: 0 and the largest and smallest of the type, unless
        /// others are given.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.nan_to_num`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor;
        /// What the logistic function makes each element of; elements are first moved into `[eps, 1 - eps]`.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.logit`.
        #[tags(pointwise)]
        logit(Tensor self, float? eps=None) -> Tensor;
        /// The logistic function.
        ///
        /// PyTorch: `torch.special.expit`.
        special_expit(Tensor self) -> Tensor;
        /// The error function.
        ///
        /// PyTorch: `torch.special.erf`.
        special_erf(Tensor self) -> Tensor;

        /// The length of the hypotenuse over two legs.
        ///
        /// # Errors
        /// Integers, booleans and complex numbers.
        ///
        /// PyTorch: `torch.hypot`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        hypot(Tensor self, Tensor other) -> Tensor;
        /// Each element with the sign of the other operand's.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.copysign`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        copysign.Tensor(Tensor self, Tensor other) -> Tensor;
        /// Each element with the sign of a number.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.copysign`.
        #[tags(pointwise)]
        copysign.Scalar(Tensor self, Scalar other) -> Tensor;
        /// 0 for negative elements, 1 for positive ones, and for zeros the other operand.
        ///
        /// # Errors
        /// Two types, complex numbers.
        ///
        /// PyTorch: `torch.heaviside`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        heaviside(Tensor self, Tensor values) -> Tensor;
        /// The logarithm of the sum of the exponentials, without overflow.
        ///
        /// # Errors
        /// Integers, booleans and complex numbers.
        ///
        /// PyTorch: `torch.logaddexp`.
        #[tags(pointwise)]
        #[variants(out)]
        logaddexp(Tensor self, Tensor other) -> Tensor;
        /// The logarithm to base 2 of the sum of the powers of 2.
        ///
        /// # Errors
        /// Integers, booleans and complex numbers.
        ///
        /// PyTorch: `torch.logaddexp2`.
        #[tags(pointwise)]
        #[variants(out)]
        logaddexp2(Tensor self, Tensor other) -> Tensor;
        /// `self` times the logarithm of `other`; 0 where `self` is 0, whatever `other` is but NaN.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.xlogy`.
        #[tags(pointwise)]
        #[variants(out = "OutTensor", in_place)]
        xlogy.Tensor(Tensor self, Tensor other) -> Tensor;
        /// As [`xlogy_Tensor`](fn@xlogy_Tensor), with a number.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.xlogy`.
        #[tags(pointwise)]
        xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor;
        /// As [`xlogy_Tensor`](fn@xlogy_Tensor), of a number.
        ///
        /// # Errors
        /// Complex numbers.
        ///
        /// PyTorch: `torch.xlogy`.
        #[tags(pointwise)]
        xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor;
        /// The next number of the type from each element towards the other operand's.
        ///
        /// # Errors
        /// Other types than `float32` and `float64`.
        ///
        /// PyTorch: `torch.nextafter`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        nextafter(Tensor self, Tensor other) -> Tensor;
        /// The greatest common divisor, never negative.
        ///
        /// # Errors
        /// Numbers that are not whole.
        ///
        /// PyTorch: `torch.gcd`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        gcd(Tensor self, Tensor other) -> Tensor;
        /// The least common multiple, never negative.
        ///
        /// # Errors
        /// Numbers that are not whole.
        ///
        /// PyTorch: `torch.lcm`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        lcm(Tensor self, Tensor other) -> Tensor;
        /// The bits moved to the left; by a negative number or all bits it is 0.
        ///
        /// # Errors
        /// Numbers that are not whole.
        ///
        /// PyTorch: `torch.bitwise_left_shift`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The bits moved to the left by a number.
        ///
        /// # Errors
        /// Numbers that are not whole.
        ///
        /// PyTorch: `torch.bitwise_left_shift`.
        #[tags(pointwise)]
        bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor;
        /// The bits moved to the right, the sign staying; by a negative number or all bits, the sign alone.
        ///
        /// # Errors
        /// Numbers that are not whole.
        ///
        /// PyTorch: `torch.bitwise_right_shift`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The bits moved to the right by a number.
        ///
        /// # Errors
        /// Numbers that are not whole.
        ///
        /// PyTorch: `torch.bitwise_right_shift`.
        #[tags(pointwise)]
        bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor;
        /// Powers, in `float64`.
        ///
        /// PyTorch: `torch.float_power`.
        float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor;
        /// Powers with one exponent, in `float64`.
        ///
        /// PyTorch: `torch.float_power`.
        float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor;

        /// Whether elements differ by no more than `atol + rtol * |other|`; NaN is close to NaN only if asked for.
        ///
        /// # Errors
        /// Two types, negative tolerances.
        ///
        /// PyTorch: `torch.isclose`.
        isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor;
        /// Whether all elements are close, see [`isclose`](fn@isclose).
        ///
        /// # Errors
        /// As [`isclose`](fn@isclose).
        ///
        /// PyTorch: `torch.allclose`.
        #[tags(data_dependent_output)]
        allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool;

        /// The first half of a dimension, times the logistic function of the second.
        ///
        /// # Errors
        /// A dimension of odd size, none at all.
        ///
        /// PyTorch: `torch.nn.functional.glu`.
        glu(Tensor self, int dim=-1) -> Tensor;
        /// [`elu`](fn@elu) with the two constants that keep mean and variance from layer to layer.
        ///
        /// PyTorch: `torch.nn.functional.selu`.
        #[tags(pointwise)]
        selu(Tensor self) -> Tensor;
        /// The larger of each element and 0, plus the smaller of 0 and `alpha (exp(x / alpha) - 1)`.
        ///
        /// # Errors
        /// `alpha` 0.
        ///
        /// PyTorch: `torch.nn.functional.celu`.
        #[tags(pointwise)]
        celu(Tensor self, Scalar alpha=1.) -> Tensor;
        /// Each element, but not below 0 and not above 6.
        ///
        /// PyTorch: `torch.nn.functional.relu6`.
        relu6(Tensor self) -> Tensor;
        /// Each element, or 0 where it is within `lambd` of it.
        ///
        /// PyTorch: `torch.nn.functional.hardshrink`.
        #[tags(pointwise)]
        #[variants(out)]
        hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor;
        /// Each element, moved by `lambd` towards 0.
        ///
        /// # Errors
        /// A negative `lambd`.
        ///
        /// PyTorch: `torch.nn.functional.softshrink`.
        #[tags(pointwise)]
        #[variants(out)]
        softshrink(Tensor self, Scalar lambd=0.5) -> Tensor;
        /// Each element that is above the threshold, a number in place of the others.
        ///
        /// PyTorch: `torch.nn.functional.threshold`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor;
        /// The bits of a number moved to the left by each element.
        ///
        /// # Errors
        /// Numbers that are not whole.
        ///
        /// PyTorch: `torch.bitwise_left_shift`.
        #[tags(pointwise)]
        bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor;
        /// The bits of a number moved to the right by each element.
        ///
        /// # Errors
        /// Numbers that are not whole.
        ///
        /// PyTorch: `torch.bitwise_right_shift`.
        #[tags(pointwise)]
        bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor;
        /// Powers of a number, in `float64`.
        ///
        /// PyTorch: `torch.float_power`.
        #[tags(pointwise)]
        float_power.Scalar(Scalar self, Tensor exponent) -> Tensor;
    }
}
