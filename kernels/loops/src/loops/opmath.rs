//! The type in which the elements of a tensor are computed.

use torch_library::{DType, Element, Result, Scalar, match_dtype};

/// The type in which kernels compute elements of type `dtype`: `Float32` for 16-bit floats, else the type itself.
///
/// PyTorch: `at::toOpMathType`.
pub const fn opmath_type(dtype: DType) -> DType {
    match dtype {
        DType::Float16 | DType::BFloat16 => DType::Float32,
        DType::Complex32 | DType::BComplex32 => DType::Complex64,
        other => other,
    }
}

/// [`opmath_type`] for the few operators that compute with floats of eight bits, too: in `Float32`.
pub const fn opmath_type_with_float8(dtype: DType) -> DType {
    if dtype.is_float8() { DType::Float32 } else { opmath_type(dtype) }
}

/// A parameter of an operator as a number of the elements' type, `dtype`, which rounds it if that is a 16-bit float; in
/// the type that computes.
///
/// # Errors
/// A number beyond the range of `dtype`, and a complex number where that is no complex type.
///
/// PyTorch: `scalar.to<scalar_t>()`.
pub fn parameter<T: Element>(operator: &str, number: Scalar, dtype: DType) -> Result<T> {
    match_dtype!(dtype, H => number.to::<H>().map(|number| number.cast()))
        .map_err(|error| error.context(operator))
}

/// [`match_dtype!`](torch_library::match_dtype) over the [opmath type](crate::loops::opmath_type) of a dtype: for
/// 16-bit floats, `$T` is `f32`.
///
/// ```
/// use torch_library::DType;
/// use torch_library_loops::match_opmath;
///
/// let size = |dtype| match_opmath!(dtype, T: Float => size_of::<T>(), else => 0);
/// assert_eq!((size(DType::BFloat16), size(DType::Float64), size(DType::Int8)), (4, 8, 0));
/// ```
///
/// PyTorch: `AT_DISPATCH_FLOATING_TYPES_AND2` and its relatives, with `at::opmath_type`.
#[macro_export]
macro_rules! match_opmath {
    ($dtype:expr, $T:ident: $($class:ident)|+ => $body:expr $(, else => $otherwise:expr)? $(,)?) => {
        $crate::__private::match_dtype!(
            $crate::loops::opmath_type($dtype), $T: $($class)|+ => $body $(, else => $otherwise)?
        )
    };
    ($dtype:expr, $T:ident => $($rest:tt)+) => {
        $crate::__private::error_at!([$T]
            "name the classes that the kernel computes with, as in `T: Integer | Float => …, else => …`")
    };
}
