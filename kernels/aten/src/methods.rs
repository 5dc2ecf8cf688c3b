//! Operators as methods: `x.relu()?` for `aten::relu(&x)?`.
//!
//! Every operator with an argument `Tensor self` is a method under the name of its function, in the trait of its
//! family. This module has those that read better under another name, or with default arguments.

use torch_library::prelude::*;
use torch_library::{DeviceType, IntoOptional};

use crate::aten;

/// The right-hand side of an arithmetic method: a tensor or a scalar.
#[derive(Clone, Copy, Debug)]
pub enum TensorOrScalar<'a> {
    /// A tensor, which takes part in type promotion with its dtype.
    Tensor(&'a Tensor),
    /// A scalar, which takes part in type promotion only by its kind (integer, floating-point, complex).
    Scalar(Scalar),
}

impl<'a> From<&'a Tensor> for TensorOrScalar<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        TensorOrScalar::Tensor(tensor)
    }
}

macro_rules! from_numbers {
    ($($number:ty),+) => { $(
        impl From<$number> for TensorOrScalar<'_> {
            fn from(number: $number) -> Self {
                TensorOrScalar::Scalar(number.into())
            }
        }
    )+ };
}

from_numbers!(Scalar, f32, f64, i32, i64, bool, Complex64);

/// What [`TensorMethods::to`] brings a tensor to.
#[derive(Clone, Copy, Debug)]
pub enum DeviceOrDType {
    /// Another device, with the same dtype.
    Device(Device),
    /// Another dtype, on the same device.
    DType(DType),
}

impl From<Device> for DeviceOrDType {
    fn from(device: Device) -> Self {
        DeviceOrDType::Device(device)
    }
}

impl From<DeviceType> for DeviceOrDType {
    fn from(device: DeviceType) -> Self {
        DeviceOrDType::Device(device.into())
    }
}

impl From<DType> for DeviceOrDType {
    fn from(dtype: DType) -> Self {
        DeviceOrDType::DType(dtype)
    }
}

/// Defines methods that take a tensor or a scalar.
macro_rules! with_tensor_or_scalar {
    ($($(#[$doc:meta])* $method:ident: $tensor:ident, $scalar:ident;)+) => { $(
        $(#[$doc])*
        fn $method<'a>(&self, other: impl Into<TensorOrScalar<'a>>) -> Result<Tensor> {
            match other.into() {
                TensorOrScalar::Tensor(other) => aten::$tensor(self.as_tensor(), other),
                TensorOrScalar::Scalar(other) => aten::$scalar(self.as_tensor(), other),
            }
        }
    )+ };
}

/// Defines the in-place forms of methods that take a tensor or a scalar.
macro_rules! in_place {
    ($($method:ident: $tensor:ident, $scalar:ident;)+) => { $(
        /// The in-place form of the method without the underscore.
        fn $method<'a>(&mut self, other: impl Into<TensorOrScalar<'a>>) -> Result<&mut Tensor> {
            match other.into() {
                TensorOrScalar::Tensor(other) => aten::$tensor(self.as_tensor_mut(), other),
                TensorOrScalar::Scalar(other) => aten::$scalar(self.as_tensor_mut(), other),
            }
        }
    )+ };
}

/// Methods of [`Tensor`] that take a tensor or a scalar, and short names for overloads. All other operators are methods
/// under the names of their functions in [`aten`](mod@crate::aten), by the traits there; the [prelude](crate::prelude)
/// imports all of them.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_kernels::prelude::*;
///
/// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
/// let y = x.t()?.mul(10)?.add(&x)?;
/// assert_eq!(y.to_vec::<f64>()?, [11.0, 32.0, 23.0, 44.0]);
/// assert_eq!(y.to_vec::<f64>()?, ((x.t()? * 10)? + &x)?.to_vec::<f64>()?); // as expressions
/// assert_eq!(y.sum_dim(&[0], false)?.gt(40)?.to_vec::<bool>()?, [false, true]);
/// # Ok::<(), Error>(())
/// ```
#[expect(clippy::missing_errors_doc, reason = "said at the functions")]
pub trait TensorMethods {
    #[doc(hidden)]
    fn as_tensor(&self) -> &Tensor;
    #[doc(hidden)]
    fn as_tensor_mut(&mut self) -> &mut Tensor;

    with_tensor_or_scalar! {
        /// The sum with a tensor or a scalar.
        add: add_Tensor, add_Scalar;
        /// The difference `self - other` from a tensor or a scalar.
        sub: sub_Tensor, sub_Scalar;
        /// The element-wise product with a tensor or a scalar.
        mul: mul_Tensor, mul_Scalar;
        /// The element-wise quotient by a tensor or a scalar.
        div: div_Tensor, div_Scalar;
        /// The remainder of the division by a tensor or a scalar, with the sign of the divisor.
        remainder: remainder_Tensor, remainder_Scalar;
        /// The element-wise power, with a tensor or a scalar as the exponent.
        pow: pow_Tensor_Tensor, pow_Tensor_Scalar;
        /// The remainder of the division by a tensor or a scalar, with the sign of the dividend.
        fmod: fmod_Tensor, fmod_Scalar;
        /// The bitwise and with a tensor or a scalar; for booleans it is logical and.
        bitwise_and: bitwise_and_Tensor, bitwise_and_Scalar;
        /// The bitwise or with a tensor or a scalar; for booleans it is logical or.
        bitwise_or: bitwise_or_Tensor, bitwise_or_Scalar;
        /// The bitwise exclusive or with a tensor or a scalar; for booleans it is "not equal".
        bitwise_xor: bitwise_xor_Tensor, bitwise_xor_Scalar;
        /// Shifts the bits of each element to the left by a tensor or a scalar.
        bitwise_left_shift: bitwise_left_shift_Tensor, bitwise_left_shift_Tensor_Scalar;
        /// Shifts the bits of each element to the right by a tensor or a scalar.
        bitwise_right_shift: bitwise_right_shift_Tensor, bitwise_right_shift_Tensor_Scalar;
        /// The magnitude of each element with the sign of a tensor or a scalar.
        copysign: copysign_Tensor, copysign_Scalar;
        /// Whether elements are equal to those of a tensor, or to a scalar.
        eq: eq_Tensor, eq_Scalar;
        /// Whether elements differ from those of a tensor, or from a scalar.
        ne: ne_Tensor, ne_Scalar;
        /// Whether elements are less than those of a tensor, or than a scalar.
        lt: lt_Tensor, lt_Scalar;
        /// Whether elements are at most those of a tensor, or a scalar.
        le: le_Tensor, le_Scalar;
        /// Whether elements are greater than those of a tensor, or than a scalar.
        gt: gt_Tensor, gt_Scalar;
        /// Whether elements are at least those of a tensor, or a scalar.
        ge: ge_Tensor, ge_Scalar;
    }

    in_place! {
        add_: add__Tensor, add__Scalar;
        sub_: sub__Tensor, sub__Scalar;
        mul_: mul__Tensor, mul__Scalar;
        div_: div__Tensor, div__Scalar;
        pow_: pow__Tensor, pow__Scalar;
        remainder_: remainder__Tensor, remainder__Scalar;
        fmod_: fmod__Tensor, fmod__Scalar;
        bitwise_and_: bitwise_and__Tensor, bitwise_and__Scalar;
        bitwise_or_: bitwise_or__Tensor, bitwise_or__Scalar;
        bitwise_xor_: bitwise_xor__Tensor, bitwise_xor__Scalar;
    }

    /// Views of the slices along the first dimension; for another dimension, use `unbind_int_with().dim(…)`.
    fn unbind(&self) -> Result<Vec<Tensor>> {
        aten::unbind_int(self.as_tensor())
    }

    /// A view with two dimensions swapped.
    fn transpose(&self, dim0: i64, dim1: i64) -> Result<Tensor> {
        aten::transpose_int(self.as_tensor(), dim0, dim1)
    }

    /// A view of one index of a dimension, which is removed.
    fn select(&self, dim: i64, index: i64) -> Result<Tensor> {
        aten::select_int(self.as_tensor(), dim, index)
    }

    /// Flattens all dimensions into one.
    fn flatten(&self) -> Result<Tensor> {
        aten::flatten_using_ints(self.as_tensor())
    }

    /// Clamps each element to `[min, max]`. Either limit may be `None`.
    ///
    /// ```
    /// use torch_library::prelude::*;
    /// use torch_library_kernels::prelude::*;
    ///
    /// let x = Tensor::from([-1.0, 0.5, 2.0]);
    /// assert_eq!(x.clamp(0, 1)?.to_vec::<f64>()?, [0.0, 0.5, 1.0]);
    /// assert_eq!(x.clamp(None, 1)?.to_vec::<f64>()?, [-1.0, 0.5, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    fn clamp(&self, min: impl IntoOptional<Scalar>, max: impl IntoOptional<Scalar>) -> Result<Tensor> {
        aten::clamp::call(self.as_tensor(), min.into_optional(), max.into_optional())
    }

    /// The largest elements over some dimensions, which are kept with size 1 if `keepdim`.
    fn amax(&self, dims: &[i64], keepdim: bool) -> Result<Tensor> {
        aten::amax::call(self.as_tensor(), dims, keepdim)
    }

    /// The smallest elements over some dimensions, which are kept with size 1 if `keepdim`.
    fn amin(&self, dims: &[i64], keepdim: bool) -> Result<Tensor> {
        aten::amin::call(self.as_tensor(), dims, keepdim)
    }

    /// The indices of the largest elements along a dimension, which is kept with size 1 if `keepdim`; with `None`, the
    /// index of the largest element in the flattened tensor.
    ///
    /// ```
    /// use torch_library::prelude::*;
    /// use torch_library_kernels::prelude::*;
    ///
    /// let x = Tensor::from([[1.0, 3.0], [4.0, 2.0]]);
    /// assert_eq!(x.argmax(1, false)?.to_vec::<i64>()?, [1, 0]);
    /// assert_eq!(x.argmax(None, false)?.to_vec::<i64>()?, [2]);
    /// # Ok::<(), Error>(())
    /// ```
    fn argmax(&self, dim: impl IntoOptional<i64>, keepdim: bool) -> Result<Tensor> {
        aten::argmax::call(self.as_tensor(), dim.into_optional(), keepdim)
    }

    /// The softmax along a dimension.
    fn softmax(&self, dim: i64) -> Result<Tensor> {
        aten::softmax_int(self.as_tensor(), dim)
    }

    /// The logarithm of the softmax along a dimension.
    fn log_softmax(&self, dim: i64) -> Result<Tensor> {
        aten::log_softmax_int(self.as_tensor(), dim)
    }

    /// The tensor itself if it is contiguous in the memory format, else a contiguous copy.
    fn contiguous_format(&self, format: MemoryFormat) -> Result<Tensor> {
        aten::contiguous::with(self.as_tensor()).memory_format(format).call()
    }

    /// A view of every `step`-th index of a dimension, from `start` up to but not including `end`.
    fn slice(&self, dim: i64, start: i64, end: i64, step: i64) -> Result<Tensor> {
        aten::slice_Tensor::call(self.as_tensor(), dim, Some(start), Some(end), step)
    }

    /// The sums over some dimensions, which are kept with size 1 if `keepdim`.
    fn sum_dim(&self, dims: &[i64], keepdim: bool) -> Result<Tensor> {
        aten::sum_dim_IntList::call(self.as_tensor(), Some(dims), keepdim, None)
    }

    /// The means over some dimensions, which are kept with size 1 if `keepdim`.
    fn mean_dim(&self, dims: &[i64], keepdim: bool) -> Result<Tensor> {
        aten::mean_dim::call(self.as_tensor(), Some(dims), keepdim, None)
    }

    /// The tensor itself if it is on the device, or has the dtype, that is asked for; else a copy there, or of that
    /// dtype.
    ///
    /// ```
    /// use torch_library::prelude::*;
    /// use torch_library_kernels::prelude::*;
    ///
    /// let x = Tensor::from([1.0, 2.0]);
    /// assert!(x.to(Device::CPU)?.is_same(&x));
    /// assert_eq!(x.to(Device::META)?.device(), Device::META);
    /// assert_eq!(x.to(DType::Float32)?.dtype(), DType::Float32);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// PyTorch: `Tensor.to(device)`, `Tensor.to(dtype)`.
    fn to(&self, target: impl Into<DeviceOrDType>) -> Result<Tensor> {
        let this = self.as_tensor();
        match target.into() {
            DeviceOrDType::Device(device) => aten::to_device(this, device, this.dtype()),
            DeviceOrDType::DType(dtype) => aten::to_dtype(this, dtype),
        }
    }

    /// Fills the tensor with one value.
    fn fill_(&mut self, value: impl Into<Scalar>) -> Result<&mut Tensor> {
        aten::fill__Scalar(self.as_tensor_mut(), value.into())
    }
}

impl TensorMethods for Tensor {
    fn as_tensor(&self) -> &Tensor {
        self
    }

    fn as_tensor_mut(&mut self) -> &mut Tensor {
        self
    }
}
