//! Binary operators: arithmetic, powers, divisors and remainders, extremes, comparisons, `where` and functions of two
//! numbers, on two tensors, or a tensor and a scalar.
//!
//! They compute element by element, except for `allclose`, which compares tensors as wholes, and `isin`, which looks
//! each element up among all of another tensor.
//!
//! Operands broadcast, and are computed in their common dtype; a scalar counts only by its kind (boolean, integer,
//! floating-point or complex).

use torch_library::torch_library;

torch_library! {
    /// Arithmetic.
    #[methods(BinaryMethods)]
    #[overloads(function)]
    pub mod aten extends "aten" {
        /// The sum `self + alpha * other`. For booleans it is logical or. The operands broadcast, and promote to a
        /// common dtype.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let (x, y) = (Tensor::from([1.0, 2.0]), Tensor::from([[10.0], [20.0]]));
        /// let sum = aten::add_Tensor::with(&x, &y).alpha(2).call()?;
        /// assert_eq!(sum.to_vec::<f64>()?, [21.0, 22.0, 41.0, 42.0]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// An `alpha` of a higher category than the result; a boolean one, unless the result is boolean.
        ///
        /// PyTorch: `torch.add`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor;
        /// The sum with a scalar.
        ///
        /// PyTorch: `torch.add`.
        #[tags(pointwise)]
        add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor;
        /// Adds a scalar in place.
        ///
        /// PyTorch: `Tensor.add_`.
        #[tags(pointwise)]
        add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!);
        /// The sum of `self` and `alpha` times `other`, or zero where that is not positive.
        ///
        /// # Errors
        /// A result of another dtype than `float32`, `float64`, `int8`, `int32` and `int64`.
        ///
        /// PyTorch: `aten::_add_relu`.
        #[variants(function)]
        _add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor;
        /// [`_add_relu_Tensor`](fn@_add_relu_Tensor) with a number.
        ///
        /// PyTorch: `aten::_add_relu`.
        _add_relu.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor;

        /// The difference `self - alpha * other`. The operands broadcast, and promote to a common dtype.
        ///
        /// # Errors
        /// The errors of [`add_Tensor`](fn@add_Tensor); boolean dtypes, for which subtraction is not defined.
        ///
        /// PyTorch: `torch.sub`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor;
        /// The difference `self - alpha * other` with a scalar.
        ///
        /// PyTorch: `torch.sub`.
        #[tags(pointwise)]
        sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor;
        /// Subtracts a scalar in place.
        ///
        /// PyTorch: `Tensor.sub_`.
        #[tags(pointwise)]
        sub_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!);
        /// The difference `other - alpha * self`.
        ///
        /// PyTorch: `torch.rsub`.
        rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor;
        /// The difference `other - alpha * self` with a scalar `other`.
        ///
        /// PyTorch: `torch.rsub`.
        rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor;

        /// The product. For booleans it is logical and. The operands broadcast, and promote to a common dtype.
        ///
        /// PyTorch: `torch.mul`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        mul.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The product with a scalar.
        ///
        /// PyTorch: `torch.mul`.
        #[tags(pointwise)]
        mul.Scalar(Tensor self, Scalar other) -> Tensor;
        /// Multiplies by a scalar in place.
        ///
        /// PyTorch: `Tensor.mul_`.
        #[tags(pointwise)]
        mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!);

        /// The quotient `self / other`. For integers it is floating-point. The operands broadcast, and promote to a
        /// common dtype.
        ///
        /// PyTorch: `torch.div`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        div.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The quotient, rounded by `rounding_mode`: `"trunc"` towards zero, `"floor"` down, not at all for `None`.
        /// Rounded quotients of integers are integers.
        ///
        /// # Errors
        /// Another rounding mode, an integer division by zero; for rounded quotients, complex dtypes and two boolean
        /// tensors.
        ///
        /// PyTorch: `torch.div`.
        #[tags(pointwise)]
        #[variants(out = "out_mode", in_place)]
        div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor;
        /// The quotient by a scalar.
        ///
        /// PyTorch: `torch.div`.
        #[tags(pointwise)]
        div.Scalar(Tensor self, Scalar other) -> Tensor;
        /// Divides by a scalar in place.
        ///
        /// PyTorch: `Tensor.div_`.
        #[tags(pointwise)]
        div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!);
        /// The quotient by a scalar, rounded by `rounding_mode`.
        ///
        /// PyTorch: `torch.div`.
        #[tags(pointwise)]
        div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor;

        /// Whether `self == other`, element-wise, as booleans.
        ///
        /// PyTorch: `torch.eq`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        eq.Tensor(Tensor self, Tensor other) -> Tensor;
        /// Whether each element is equal to a scalar, as booleans.
        ///
        /// PyTorch: `torch.eq`.
        #[tags(pointwise)]
        eq.Scalar(Tensor self, Scalar other) -> Tensor;

        /// Whether `self != other`, element-wise, as booleans.
        ///
        /// PyTorch: `torch.ne`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        ne.Tensor(Tensor self, Tensor other) -> Tensor;
        /// Whether each element differs from a scalar, as booleans.
        ///
        /// PyTorch: `torch.ne`.
        #[tags(pointwise)]
        ne.Scalar(Tensor self, Scalar other) -> Tensor;

        /// Whether `self < other`, element-wise, as booleans.
        ///
        /// # Errors
        /// Complex dtypes, which have no order.
        ///
        /// PyTorch: `torch.lt`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        lt.Tensor(Tensor self, Tensor other) -> Tensor;
        /// Whether each element is less than a scalar, as booleans.
        ///
        /// # Errors
        /// Complex dtypes, which have no order.
        ///
        /// PyTorch: `torch.lt`.
        #[tags(pointwise)]
        lt.Scalar(Tensor self, Scalar other) -> Tensor;

        /// Whether `self <= other`, element-wise, as booleans.
        ///
        /// # Errors
        /// Complex dtypes, which have no order.
        ///
        /// PyTorch: `torch.le`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        le.Tensor(Tensor self, Tensor other) -> Tensor;
        /// Whether each element is at most a scalar, as booleans.
        ///
        /// # Errors
        /// Complex dtypes, which have no order.
        ///
        /// PyTorch: `torch.le`.
        #[tags(pointwise)]
        le.Scalar(Tensor self, Scalar other) -> Tensor;

        /// Whether `self > other`, element-wise, as booleans.
        ///
        /// # Errors
        /// Complex dtypes, which have no order.
        ///
        /// PyTorch: `torch.gt`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        gt.Tensor(Tensor self, Tensor other) -> Tensor;
        /// Whether each element is greater than a scalar, as booleans.
        ///
        /// # Errors
        /// Complex dtypes, which have no order.
        ///
        /// PyTorch: `torch.gt`.
        #[tags(pointwise)]
        gt.Scalar(Tensor self, Scalar other) -> Tensor;

        /// Whether `self >= other`, element-wise, as booleans.
        ///
        /// # Errors
        /// Complex dtypes, which have no order.
        ///
        /// PyTorch: `torch.ge`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        ge.Tensor(Tensor self, Tensor other) -> Tensor;
        /// Whether each element is at least a scalar, as booleans.
        ///
        /// # Errors
        /// Complex dtypes, which have no order.
        ///
        /// PyTorch: `torch.ge`.
        #[tags(pointwise)]
        ge.Scalar(Tensor self, Scalar other) -> Tensor;

        /// `self` where `condition` is true, `other` elsewhere.
        ///
        /// # Errors
        /// A `condition` that is neither boolean nor `uint8`.
        ///
        /// PyTorch: `torch.where`.
        #[tags(pointwise)]
        #[variants(out)]
        where.self(Tensor condition, Tensor self, Tensor other) -> Tensor;
        /// A scalar where `condition` is true, `other` elsewhere.
        ///
        /// PyTorch: `torch.where`.
        where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor;
        /// `self` where `condition` is true, a scalar elsewhere.
        ///
        /// PyTorch: `torch.where`.
        where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor;
        /// The scalar `self` where `condition` is true, the scalar `other` elsewhere.
        ///
        /// PyTorch: `torch.where`.
        where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor;
        /// Alias for [`nonzero_numpy`](fn@crate::aten::nonzero_numpy).
        ///
        /// PyTorch: `torch.where`.
        #[tags(dynamic_output_shape)]
        where(Tensor condition) -> Tensor[];
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
        /// Whether each element is one of `test_elements`; with `invert`, whether it is not.
        ///
        /// # Errors
        /// Boolean and complex dtypes.
        ///
        /// PyTorch: `torch.isin`.
        isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False,
            bool invert=False) -> Tensor;
        /// Whether each element is equal to a scalar; with `invert`, whether it is not.
        ///
        /// # Errors
        /// Boolean and complex dtypes.
        ///
        /// PyTorch: `torch.isin`.
        isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False,
            bool invert=False) -> Tensor;
        /// Whether a scalar is one of `test_elements`; with `invert`, whether it is not.
        ///
        /// # Errors
        /// Boolean and complex dtypes.
        ///
        /// PyTorch: `torch.isin`.
        isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False,
            bool invert=False) -> Tensor;
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
        /// The length of the hypotenuse, `sqrt(self² + other²)`.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.hypot`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        hypot(Tensor self, Tensor other) -> Tensor;
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
        /// `self * 2^other`, element-wise.
        ///
        /// PyTorch: `torch.ldexp`.
        #[tags(pointwise)]
        ldexp.Tensor(Tensor self, Tensor other) -> Tensor;
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
        /// The next representable number after each element in the direction of `other`.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nextafter`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        nextafter(Tensor self, Tensor other) -> Tensor;
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
        /// The remainder of the division of a scalar by each element, with the sign of the element.
        ///
        /// # Errors
        /// An integer division by zero, a complex dtype.
        ///
        /// PyTorch: `torch.remainder`.
        #[tags(pointwise)]
        remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor;
        /// The greatest common divisor, which is not negative unless its magnitude is that of the smallest integer.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `torch.gcd`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        gcd(Tensor self, Tensor other) -> Tensor;
        /// The least common multiple, which is not negative unless it overflows.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `torch.lcm`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        lcm(Tensor self, Tensor other) -> Tensor;
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
        /// Each element raised to the power of the corresponding element of `exponent`, in `float64`, or `complex128`
        /// for complex numbers.
        ///
        /// PyTorch: `torch.float_power`.
        float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor;
        /// Each element raised to the power of a scalar, in `float64`, or `complex128` for complex numbers.
        ///
        /// PyTorch: `torch.float_power`.
        float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor;
        /// A scalar raised to the power of each element, in `float64`, or `complex128` for complex numbers.
        ///
        /// PyTorch: `torch.float_power`.
        #[tags(pointwise)]
        float_power.Scalar(Scalar self, Tensor exponent) -> Tensor;
        /// [`float_power_Tensor_Tensor`] in place.
        ///
        /// # Errors
        /// A tensor of another dtype than the result: it is not rounded.
        ///
        /// PyTorch: `Tensor.float_power_`.
        float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!);
        /// [`float_power_Tensor_Scalar`] in place.
        ///
        /// # Errors
        /// A tensor of another dtype than the result: it is not rounded.
        ///
        /// PyTorch: `Tensor.float_power_`.
        float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!);
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
    }
}
