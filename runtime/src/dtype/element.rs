//! The Rust types of tensor elements, conversions between all of them, and the macro `match_dtype!`.

use std::fmt::Debug;

use num_complex::Complex;

use crate::dtype::DType;

pub use super::float8::{Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz, Float8E8M0Fnu};
pub use half::{bf16, f16};
pub use num_complex::{Complex32, Complex64};

/// An element of [`DType::Complex32`]. (`Complex32` itself is two `f32` in Rust and two `f16` in PyTorch.)
pub type ComplexF16 = Complex<f16>;

/// An element of [`DType::BComplex32`].
pub type ComplexBF16 = Complex<bf16>;

/// A Rust type that can be an element of a tensor; there is one for each [`DType`].
///
/// The trait is sealed: kernels are generic over it, and no other type implements it. Every bit pattern in a tensor's
/// memory is a valid value of its type, except that a `bool` has to be 0 or 1 (any kernel that writes through `bool`
/// ensures that).
///
/// ```
/// use torch_library::{DType, Element};
///
/// fn bytes<T: Element>(elements: usize) -> usize {
///     elements * T::DTYPE.size()
/// }
/// assert_eq!(bytes::<half::bf16>(3), 6);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type of tensors",
    label = "no tensor has elements of this type",
    note = "element types are `bool`, `u8` to `u64`, `i8` to `i64`, `f32`, `f64`, and in `torch_library::element` \
            16-bit and 8-bit floats and complex numbers; convert `usize` and `isize` to `i64`"
)]
pub trait Element: Copy + Default + PartialEq + Debug + Send + Sync + 'static + convert::Convert {
    /// The element type as a value.
    const DTYPE: DType;

    /// Converts this value to another element type, by the rules of PyTorch's CPU kernels.
    ///
    /// Floats are truncated towards zero when they become integers; integers wrap; every value that is not zero (NaN
    /// too) is `true`; complex numbers lose their imaginary part.
    ///
    /// ```
    /// use torch_library::Element;
    ///
    /// assert_eq!((-1.5f32).cast::<u8>(), 255);
    /// assert_eq!(f64::NAN.cast::<bool>(), true);
    /// ```
    ///
    /// PyTorch: `c10::convert`.
    #[inline(always)]
    fn cast<U: Element>(self) -> U {
        U::from_element(self)
    }
}

/// Conversions between element types; public in name only.
pub(crate) mod convert {
    use super::*;

    /// One method per target type, so that a generic source can be converted to a generic target (`from_element`). The
    /// names avoid those of `num_traits`, which kernels use together with [`Element`](super::Element).
    #[expect(clippy::wrong_self_convention, reason = "the values are numbers, which are copied")]
    pub trait Convert: Sized {
        fn from_element<S: super::Element>(source: S) -> Self;
        fn as_bool(self) -> bool;
        fn as_u8(self) -> u8;
        fn as_i8(self) -> i8;
        fn as_i16(self) -> i16;
        fn as_i32(self) -> i32;
        fn as_i64(self) -> i64;
        fn as_u16(self) -> u16;
        fn as_u32(self) -> u32;
        fn as_u64(self) -> u64;
        fn as_f32(self) -> f32;
        fn as_f64(self) -> f64;
        #[inline(always)]
        fn as_f16(self) -> f16 {
            f16::from_f32(self.as_f32()) // through f32 even from f64, like PyTorch: rounded twice
        }
        #[inline(always)]
        fn as_bf16(self) -> bf16 {
            bf16::from_f32(self.as_f32())
        }
        #[inline(always)]
        fn as_float8_e5m2(self) -> Float8E5M2 {
            Float8E5M2::from_f32(self.as_f32())
        }
        #[inline(always)]
        fn as_float8_e4m3fn(self) -> Float8E4M3Fn {
            Float8E4M3Fn::from_f32(self.as_f32())
        }
        #[inline(always)]
        fn as_float8_e5m2fnuz(self) -> Float8E5M2Fnuz {
            Float8E5M2Fnuz::from_f32(self.as_f32())
        }
        #[inline(always)]
        fn as_float8_e4m3fnuz(self) -> Float8E4M3Fnuz {
            Float8E4M3Fnuz::from_f32(self.as_f32())
        }
        #[inline(always)]
        fn as_float8_e8m0fnu(self) -> Float8E8M0Fnu {
            Float8E8M0Fnu::from_f32(self.as_f32())
        }
        #[inline(always)]
        fn as_complex_f16(self) -> Complex<f16> {
            Complex::new(self.as_f16(), f16::ZERO)
        }
        #[inline(always)]
        fn as_complex_bf16(self) -> Complex<bf16> {
            Complex::new(self.as_bf16(), bf16::ZERO)
        }
        #[inline(always)]
        fn as_complex_f32(self) -> Complex<f32> {
            Complex::new(self.as_f32(), 0.0)
        }
        #[inline(always)]
        fn as_complex_f64(self) -> Complex<f64> {
            Complex::new(self.as_f64(), 0.0)
        }
    }
}

macro_rules! element {
    ($ty:ty, $dtype:ident, $to_self:ident, |$x:ident| { $($method:ident: $target:ty = $value:expr,)+ }) => {
        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
        }

        impl convert::Convert for $ty {
            #[inline(always)]
            fn from_element<S: Element>(source: S) -> Self {
                source.$to_self()
            }
            $(
                #[inline(always)]
                fn $method(self) -> $target {
                    let $x = self;
                    $value
                }
            )+
        }
    };
}

/// Integers: `as` wraps and widens as C++ does.
macro_rules! integer {
    ($($ty:ty, $dtype:ident, $to_self:ident;)+) => { $(
        element!($ty, $dtype, $to_self, |x| {
            as_bool: bool = x != 0,
            as_u8: u8 = x as u8,
            as_i8: i8 = x as i8,
            as_i16: i16 = x as i16,
            as_i32: i32 = x as i32,
            as_i64: i64 = x as i64,
            as_u16: u16 = x as u16,
            as_u32: u32 = x as u32,
            as_u64: u64 = x as u64,
            as_f32: f32 = x as f32,
            as_f64: f64 = x as f64,
        });
    )+ };
}

/// Real floats: C++ leaves out-of-range conversions to the processor. On x86 the result is the smallest integer of the
/// register (32 bits for the narrow targets, 64 for the others); this does the same on every processor.
macro_rules! float {
    ($($ty:ty, $dtype:ident, $to_self:ident, |$x:ident| $wide:expr, { $($own:tt)* };)+) => { $(
        element!($ty, $dtype, $to_self, |$x| {
            as_bool: bool = $wide != 0.0,
            as_u8: u8 = truncate_to_i32($wide.into()) as u8,
            as_i8: i8 = truncate_to_i32($wide.into()) as i8,
            as_i16: i16 = truncate_to_i32($wide.into()) as i16,
            as_i32: i32 = truncate_to_i32($wide.into()),
            as_i64: i64 = truncate_to_i64($wide.into()),
            as_u16: u16 = truncate_to_i32($wide.into()) as u16,
            as_u32: u32 = truncate_to_i64($wide.into()) as u32,
            as_u64: u64 = truncate_to_u64($wide.into()),
            as_f32: f32 = $wide as f32,
            as_f64: f64 = $wide as f64,
            $($own)*
        });
    )+ };
}

/// Complex numbers: the real part is converted, except that `bool` looks at both parts.
macro_rules! complex {
    ($($ty:ty, $dtype:ident, $to_self:ident;)+) => { $(
        element!($ty, $dtype, $to_self, |x| {
            as_bool: bool = x.re.as_bool() || x.im.as_bool(),
            as_u8: u8 = x.re.as_u8(),
            as_i8: i8 = x.re.as_i8(),
            as_i16: i16 = x.re.as_i16(),
            as_i32: i32 = x.re.as_i32(),
            as_i64: i64 = x.re.as_i64(),
            as_u16: u16 = x.re.as_u16(),
            as_u32: u32 = x.re.as_u32(),
            as_u64: u64 = x.re.as_u64(),
            as_f32: f32 = x.re.as_f32(),
            as_f64: f64 = x.re.as_f64(),
            as_complex_f16: Complex<f16> = Complex::new(x.re.as_f16(), x.im.as_f16()),
            as_complex_bf16: Complex<bf16> = Complex::new(x.re.as_bf16(), x.im.as_bf16()),
            as_complex_f32: Complex<f32> = Complex::new(x.re.as_f32(), x.im.as_f32()),
            as_complex_f64: Complex<f64> = Complex::new(x.re.as_f64(), x.im.as_f64()),
        });
    )+ };
}

#[inline(always)]
fn truncate_to_i32(x: f64) -> i32 {
    if x < 2_147_483_648.0 { x as i32 } else { i32::MIN } // NaN compares false; `as` saturates at the lower end
}

#[inline(always)]
fn truncate_to_i64(x: f64) -> i64 {
    if x < 9_223_372_036_854_775_808.0 { x as i64 } else { i64::MIN }
}

/// The register has a sign: the upper half of the range is converted less 2^63.
#[inline(always)]
fn truncate_to_u64(x: f64) -> u64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    if x >= HALF { truncate_to_i64(x - HALF) as u64 ^ (1 << 63) } else { truncate_to_i64(x) as u64 }
}

integer! {
    u8, UInt8, as_u8;
    i8, Int8, as_i8;
    i16, Int16, as_i16;
    i32, Int32, as_i32;
    i64, Int64, as_i64;
    u16, UInt16, as_u16;
    u32, UInt32, as_u32;
    u64, UInt64, as_u64;
}

float! {
    f32, Float32, as_f32, |x| x, {};
    f64, Float64, as_f64, |x| x, {};
    f16, Float16, as_f16, |x| x.to_f32(), { as_f16: f16 = x, };
    bf16, BFloat16, as_bf16, |x| x.to_f32(), { as_bf16: bf16 = x, };
    Float8E5M2, Float8E5M2, as_float8_e5m2, |x| x.to_f32(), { as_float8_e5m2: Float8E5M2 = x, };
    Float8E4M3Fn, Float8E4M3Fn, as_float8_e4m3fn, |x| x.to_f32(), { as_float8_e4m3fn: Float8E4M3Fn = x, };
    Float8E5M2Fnuz, Float8E5M2Fnuz, as_float8_e5m2fnuz, |x| x.to_f32(), { as_float8_e5m2fnuz: Float8E5M2Fnuz = x, };
    Float8E4M3Fnuz, Float8E4M3Fnuz, as_float8_e4m3fnuz, |x| x.to_f32(), { as_float8_e4m3fnuz: Float8E4M3Fnuz = x, };
    Float8E8M0Fnu, Float8E8M0Fnu, as_float8_e8m0fnu, |x| x.to_f32(), { as_float8_e8m0fnu: Float8E8M0Fnu = x, };
}

complex! {
    Complex<f16>, Complex32, as_complex_f16;
    Complex<bf16>, BComplex32, as_complex_bf16;
    Complex<f32>, Complex64, as_complex_f32;
    Complex<f64>, Complex128, as_complex_f64;
}

element!(bool, Bool, as_bool, |x| {
    as_bool: bool = x,
    as_u8: u8 = x.into(),
    as_i8: i8 = x.into(),
    as_i16: i16 = x.into(),
    as_i32: i32 = x.into(),
    as_i64: i64 = x.into(),
    as_u16: u16 = x.into(),
    as_u32: u32 = x.into(),
    as_u64: u64 = x.into(),
    as_f32: f32 = u8::from(x).into(),
    as_f64: f64 = u8::from(x).into(),
});

/// Runs an expression with a type name bound to the [`Element`] type of a [`DType`].
///
/// The arms are either for all types, or for some classes of them with an `else` for the rest. The classes are `Bool`,
/// `Integer` (`u8`, `i8` … `i64`), `Unsigned` (`u16`, `u32`, `u64`, which few kernels support), `Half` (`f16`,
/// `bf16`), `Float` (`f32`, `f64`), `Complex`, `HalfComplex` (complex numbers of halves, which few kernels support) and
/// `Float8` (the five types of [`DType::is_float8`]). `NotFloat8` stands for all classes but the last: kernels that
/// handle floats of eight bits as `f32`, as bytes or not at all are compiled for fewer types.
///
/// ```
/// use torch_library::{DType, Element, match_dtype};
///
/// let size = |dtype| match_dtype!(dtype, T => size_of::<T>());
/// assert_eq!(size(DType::Complex64), 8);
///
/// let smallest = |dtype| match_dtype!(dtype, T: Half | Float => Some(T::EPSILON.cast::<f64>()), else => None);
/// assert_eq!(smallest(DType::Float64), Some(f64::EPSILON));
/// assert_eq!(smallest(DType::Int64), None);
/// ```
///
/// For a type that the program is [built without](DType::is_built) nothing is compiled: the `else` handles it, if there
/// is one. There are no tensors of such a type.
///
/// PyTorch: `AT_DISPATCH_SWITCH` and its relatives.
#[macro_export]
macro_rules! match_dtype {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::match_dtype!(@arms ($dtype, $T, $body, _ => $crate::element::left_out()) []
            NotFloat8 Float8)
    };
    ($dtype:expr, $T:ident: $($class:ident)|+ => $body:expr, else => $otherwise:expr $(,)?) => {
        $crate::match_dtype!(@arms ($dtype, $T, $body, _ => $otherwise) [] $($class)+)
    };
    ($dtype:expr, $T:ident: $($class:ident)|+ => $body:expr $(,)?) => {
        $crate::__private::error_at!([$($class)+] "a match over classes needs `, else => …` for the other dtypes")
    };
    ($dtype:expr, $T:ident => $body:expr, $($rest:tt)+) => {
        $crate::__private::error_at!([$T]
            "a match over all dtypes has no `else`; name classes for fewer, as in \
             `T: Integer | Float => …, else => …`")
    };
    (@arms $in:tt [$($arms:tt)*] NotFloat8 $($rest:ident)*) => {
        $crate::match_dtype!(@arms $in [$($arms)*]
            Bool Integer Unsigned Half Float HalfComplex Complex $($rest)*)
    };
    (@arms $in:tt [$($arms:tt)*] Float8 $($rest:ident)*) => {
        $crate::match_dtype!(@arms $in
            [$($arms)*
                Float8E5M2 $crate::element::Float8E5M2,
                Float8E4M3Fn $crate::element::Float8E4M3Fn,
                Float8E5M2Fnuz $crate::element::Float8E5M2Fnuz,
                Float8E4M3Fnuz $crate::element::Float8E4M3Fnuz,
                Float8E8M0Fnu $crate::element::Float8E8M0Fnu,]
            $($rest)*)
    };
    (@arms $in:tt [$($arms:tt)*] Bool $($rest:ident)*) => {
        $crate::match_dtype!(@arms $in [$($arms)* Bool bool,] $($rest)*)
    };
    (@arms $in:tt [$($arms:tt)*] Integer $($rest:ident)*) => {
        $crate::match_dtype!(@arms $in
            [$($arms)* UInt8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64,] $($rest)*)
    };
    (@arms $in:tt [$($arms:tt)*] Unsigned $($rest:ident)*) => {
        $crate::match_dtype!(@arms $in [$($arms)* UInt16 u16, UInt32 u32, UInt64 u64,] $($rest)*)
    };
    (@arms $in:tt [$($arms:tt)*] Half $($rest:ident)*) => {
        $crate::match_dtype!(@arms $in
            [$($arms)* Float16 $crate::element::f16, BFloat16 $crate::element::bf16,] $($rest)*)
    };
    (@arms $in:tt [$($arms:tt)*] Float $($rest:ident)*) => {
        $crate::match_dtype!(@arms $in [$($arms)* Float32 f32, Float64 f64,] $($rest)*)
    };
    (@arms $in:tt [$($arms:tt)*] HalfComplex $($rest:ident)*) => {
        $crate::match_dtype!(@arms $in
            [$($arms)* Complex32 $crate::element::ComplexF16, BComplex32 $crate::element::ComplexBF16,] $($rest)*)
    };
    (@arms $in:tt [$($arms:tt)*] Complex $($rest:ident)*) => {
        $crate::match_dtype!(@arms $in
            [$($arms)* Complex64 $crate::element::Complex32, Complex128 $crate::element::Complex64,] $($rest)*)
    };
    (@arms $in:tt [$($arms:tt)*] $unknown:ident $($rest:ident)*) => {
        $crate::__private::error_at!([$unknown]
            "expected a class of dtypes: `Bool`, `Integer` (u8, i8, i16, i32, i64), `Unsigned` (u16, u32, u64), \
            `Half` (f16, bf16), `Float` (f32, f64), `HalfComplex`, `Complex`, `Float8` or `NotFloat8` (all but `Float8`)")
    };
    (@arms ($dtype:expr, $T:ident, $body:expr, $($otherwise:tt)*) [$($variant:ident $ty:ty,)+]) => {
        match $dtype {
            $($crate::DType::$variant if const { $crate::DType::$variant.is_built() } => {
                type $T = $ty;
                $body
            })+
            $($otherwise)*
        }
    };
}

/// Reached where [`match_dtype!`] over all types meets a type that the program is built without, of which there are no
/// tensors.
#[doc(hidden)]
#[cold]
pub fn left_out() -> ! {
    panic!("no tensor can have an element type that this program is built without")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dtype_has_its_element_type() {
        for dtype in DType::all() {
            match_dtype!(dtype, T => {
                assert_eq!(T::DTYPE, dtype);
                assert_eq!((size_of::<T>(), align_of::<T>()), (dtype.size(), dtype.align()));
            });
        }
    }

    #[test]
    fn floats_become_integers_as_on_x86() {
        let values =
            [3e9, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 300.0, -1.0, -1.5, 2.9, 70000.0, -40000.0];
        assert_eq!(values.map(|x| x.cast::<u8>()), [0, 0, 0, 0, 44, 255, 255, 2, 112, 192]);
        assert_eq!(values.map(|x| x.cast::<i8>()), [0, 0, 0, 0, 44, -1, -1, 2, 112, -64]);
        let min = i32::MIN;
        assert_eq!(values.map(|x| x.cast::<i32>()), [min, min, min, min, 300, -1, -1, 2, 70000, -40000]);
        let min = i64::MIN;
        assert_eq!(
            values.map(|x| x.cast::<i64>()),
            [3_000_000_000, min, min, min, 300, -1, -1, 2, 70000, -40000]
        );
        assert_eq!(f32::NAN.cast::<i16>(), 0);
        assert_eq!(f16::from_f32(2.9).cast::<i64>(), 2);
    }

    #[test]
    fn everything_but_zero_is_true() {
        assert!(f64::NAN.cast::<bool>() && (-1i8).cast::<bool>() && Complex32::new(0.0, 1.0).cast::<bool>());
        assert!(!(-0.0f32).cast::<bool>() && !Complex64::new(0.0, 0.0).cast::<bool>());
        assert_eq!(true.cast::<bf16>(), bf16::ONE);
    }

    #[test]
    fn complex_numbers_lose_their_imaginary_part() {
        assert_eq!(Complex64::new(-1.5, 7.0).cast::<i32>(), -1);
        assert_eq!(Complex64::new(-1.5, 7.0).cast::<Complex32>(), Complex32::new(-1.5, 7.0));
        assert_eq!(2u8.cast::<Complex64>(), Complex64::new(2.0, 0.0));
        assert_eq!(
            Complex64::new(1.0, 2.0).cast::<ComplexF16>().cast::<Complex32>(),
            Complex32::new(1.0, 2.0)
        );
    }

    #[test]
    fn doubles_become_halves_through_floats() {
        let x = 1.0 + 2f64.powi(-11) + 2f64.powi(-40); // above the tie, but f32 rounds it to the tie
        assert_eq!(x.cast::<f16>(), f16::ONE);
        assert_eq!(u64::MAX.cast::<f32>(), 18_446_744_073_709_551_615f32);
    }

    #[test]
    fn classes_leave_the_rest_to_else() {
        let name = |dtype| match_dtype!(dtype, T: Integer | Bool => std::any::type_name::<T>(), else => "no");
        assert_eq!((name(DType::Int16), name(DType::Bool), name(DType::UInt16)), ("i16", "bool", "no"));
    }
}
