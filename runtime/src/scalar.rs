//! A number of any kind, as operator arguments hold it.

use std::fmt;

use num_complex::Complex64;

use crate::dtype::{DType, Element};
use crate::error::{Error, ErrorKind, Result};
use crate::match_dtype;

/// A number whose kind is known only at run time.
///
/// ```
/// use torch_library::Scalar;
///
/// let scalar = Scalar::from(300);
/// assert_eq!(scalar.to::<f32>()?, 300.0);
/// assert!(scalar.to::<u8>().is_err()); // out of range
/// assert_eq!(Scalar::from(2.9).to::<i64>()?, 2); // no error: the fraction is cut off
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// PyTorch: `c10::Scalar`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// An integer.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A bool.
    Bool(bool),
    /// A complex number.
    Complex(Complex64),
}

impl Scalar {
    /// The dtype of a tensor made from this number: the widest of its kind.
    ///
    /// PyTorch: `Scalar::type`.
    pub const fn dtype(self) -> DType {
        match self {
            Scalar::Int(_) => DType::Int64,
            Scalar::Float(_) => DType::Float64,
            Scalar::Bool(_) => DType::Bool,
            Scalar::Complex(_) => DType::Complex128,
        }
    }

    /// Converts the number to an element type.
    ///
    /// This is a check of the range, not of the value. For integer types, fractions are truncated: a kernel that must
    /// not lose them checks that itself. Negative numbers wrap for unsigned types as far as these reach, so that -1 is
    /// 255 as a `u8`; any number but zero is `true`.
    ///
    /// # Errors
    /// A number out of the type's range, NaN for an integer type, a complex number with an imaginary part for a real
    /// type.
    ///
    /// PyTorch: `Scalar::to`, `c10::checked_convert`.
    pub fn to<T: Element>(self) -> Result<T> {
        match self {
            _ if T::DTYPE == DType::Bool => Ok(self.cast()),
            Scalar::Complex(x) if !T::DTYPE.is_complex() && x.im != 0.0 => Err(self.overflow(T::DTYPE)),
            Scalar::Complex(x) if !T::DTYPE.is_complex() => Scalar::Float(x.re).to(),
            _ if self.fits(T::DTYPE) => Ok(self.cast()),
            _ => Err(self.overflow(T::DTYPE)),
        }
    }

    /// Converts the number to an element type without a range check.
    ///
    /// PyTorch: `static_cast`, as fill kernels do after their own checks.
    #[inline]
    pub fn cast<T: Element>(self) -> T {
        match self {
            Scalar::Int(x) => x.cast(),
            Scalar::Float(x) => x.cast(),
            Scalar::Bool(x) => x.cast(),
            Scalar::Complex(x) => x.cast(),
        }
    }

    /// The number for an element.
    ///
    /// # Errors
    /// A `u64` beyond `i64::MAX`.
    pub fn from_element<T: Element>(element: T) -> Result<Scalar> {
        match T::DTYPE {
            DType::Bool => Ok(Scalar::Bool(element.cast())),
            DType::UInt64 => match i64::try_from(element.cast::<u64>()) {
                Ok(x) => Ok(Scalar::Int(x)),
                Err(_) => Err(Error::new(
                    ErrorKind::DType,
                    format!(
                        "uint64 value {} is too large for a scalar, whose integers are int64",
                        element.cast::<u64>()
                    ),
                )),
            },
            dtype if dtype.is_complex() => Ok(Scalar::Complex(element.cast())),
            dtype if dtype.is_floating_point() => Ok(Scalar::Float(element.cast())),
            _ => Ok(Scalar::Int(element.cast())),
        }
    }

    /// Whether the number, without its fraction, is in the type's range.
    fn fits(self, dtype: DType) -> bool {
        let float_max =
            |dtype| match_dtype!(dtype, T: Half | Float | Float8 => T::MAX.cast::<f64>(), else => f64::MAX);
        let has_infinity = !dtype.is_float8() || dtype == DType::Float8E5M2;
        match self {
            Scalar::Bool(_) => true,
            Scalar::Int(x) => match_dtype!(dtype, T: Integer | Unsigned => {
                let (min, max) = (T::MIN as i128, T::MAX as i128);
                let min = if dtype.is_signed() { min } else { -max };
                (min..=max).contains(&i128::from(x))
            }, else => (x >= 0 || dtype.is_signed()) && x.unsigned_abs() as f64 <= float_max(dtype.to_real())),
            // The smallest of these powers of two is the lowest number of the type, too.
            Scalar::Float(x) if dtype == DType::Float8E8M0Fnu && x < 2f64.powi(-127) => false,
            Scalar::Float(x) => match_dtype!(dtype, T: Integer | Unsigned => {
                // Truncation brings some numbers above the maximum back into the range, as in PyTorch, but none below
                // the minimum. The maximum plus one is exact as a double.
                (T::MIN as f64) <= x && x < 2.0 * (T::MAX / 2 + 1) as f64
            }, else => x.is_nan() || x.is_infinite() && has_infinity || x.abs() <= float_max(dtype.to_real())),
            Scalar::Complex(x) => Scalar::Float(x.re).fits(dtype) && Scalar::Float(x.im).fits(dtype),
        }
    }

    #[cold]
    fn overflow(self, dtype: DType) -> Error {
        let why = match self {
            Scalar::Complex(x) if x.im != 0.0 && !dtype.is_complex() => "it has an imaginary part",
            Scalar::Float(x) if x.is_nan() => "it is not a number",
            _ => "it is out of range",
        };
        Error::new(ErrorKind::Argument, format!("{self} does not convert to {dtype}: {why}"))
    }
}

macro_rules! scalar_from {
    ($($kind:ident($($ty:ty),+);)+) => { $($(
        impl From<$ty> for Scalar {
            #[inline]
            fn from(x: $ty) -> Scalar {
                Scalar::$kind(x.cast())
            }
        }
    )+)+ };
}

scalar_from! {
    Int(u8, u16, u32, i8, i16, i32, i64);
    Float(f32, f64, half::f16, half::bf16);
    Bool(bool);
    Complex(num_complex::Complex32, Complex64);
}

/// Prints the number as Python does: `2`, `2.0`, `nan`, `True`, `(1+2j)`.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Int(x) => write!(f, "{x}"),
            Scalar::Float(x) => write!(f, "{}", python_float(*x)),
            Scalar::Bool(true) => f.write_str("True"),
            Scalar::Bool(false) => f.write_str("False"),
            Scalar::Complex(x) => {
                let part = |x| python_float(x).trim_end_matches(".0").to_owned();
                let sign = if x.im.is_sign_negative() && !x.im.is_nan() { "" } else { "+" };
                match x.re == 0.0 && x.re.is_sign_positive() {
                    true => write!(f, "{}j", part(x.im)),
                    false => write!(f, "({}{sign}{}j)", part(x.re), part(x.im)),
                }
            }
        }
    }
}

/// Python's `repr` of a float: the shortest digits, with an exponent from 1e16 up and below 1e-4.
fn python_float(x: f64) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    let magnitude = x.abs();
    if x.is_finite() && magnitude != 0.0 && !(1e-4..1e16).contains(&magnitude) {
        let text = format!("{x:e}");
        let (digits, exponent) = text.split_once('e').expect("`{:e}` writes an e");
        let exponent: i32 = exponent.parse().expect("`{:e}` writes an integer exponent");
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    format!("{x:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_check_the_range() {
        assert_eq!(Scalar::from(-1).to::<u8>().unwrap(), 255);
        assert!(Scalar::from(-256).to::<u8>().is_err());
        assert_eq!(Scalar::from(2.9).to::<i32>().unwrap(), 2);
        assert!(Scalar::from(f64::NAN).to::<i64>().is_err());
        assert!(Scalar::from(9.3e18).to::<i64>().is_err());
        assert!(Scalar::from(i64::MAX as f64).to::<i64>().is_err());
        assert_eq!(Scalar::from(i64::MIN as f64).to::<i64>().unwrap(), i64::MIN);
        assert_eq!(Scalar::from(f64::INFINITY).to::<f32>().unwrap(), f32::INFINITY);
        assert!(Scalar::from(1e39).to::<f32>().is_err());
        assert!(Scalar::from(70000).to::<half::f16>().is_err());
        assert!(Scalar::from(f64::NAN).to::<bool>().unwrap());
        assert_eq!(Scalar::from(Complex64::new(2.0, 0.0)).to::<i64>().unwrap(), 2);
        let error = Scalar::from(Complex64::new(1.0, 2.0)).to::<f64>().unwrap_err();
        assert_eq!(error.to_string(), "(1+2j) does not convert to float64: it has an imaginary part");
        let error = Scalar::from(300).to::<u8>().unwrap_err();
        assert_eq!(error.to_string(), "300 does not convert to uint8: it is out of range");
        let error = Scalar::from(f64::NAN).to::<i64>().unwrap_err();
        assert_eq!(error.to_string(), "nan does not convert to int64: it is not a number");
    }

    #[test]
    fn printing_is_pythons() {
        let cases: [(Scalar, &str); 12] = [
            (2.into(), "2"),
            (2.0.into(), "2.0"),
            (1e16.into(), "1e+16"),
            (123456.5.into(), "123456.5"),
            (1.5e-5.into(), "1.5e-05"),
            (f64::NAN.into(), "nan"),
            (f64::NEG_INFINITY.into(), "-inf"),
            (true.into(), "True"),
            (Complex64::new(0.0, 1.0).into(), "1j"),
            (Complex64::new(1.0, -2.5).into(), "(1-2.5j)"),
            (Complex64::new(-0.0, 1.0).into(), "(-0+1j)"),
            (Complex64::new(1.0, f64::NAN).into(), "(1+nanj)"),
        ];
        for (scalar, want) in cases {
            assert_eq!(scalar.to_string(), want);
        }
    }

    #[test]
    fn elements_become_scalars_of_their_kind() {
        assert_eq!(Scalar::from_element(7u8).unwrap(), Scalar::Int(7));
        assert_eq!(Scalar::from_element(half::f16::ONE).unwrap(), Scalar::Float(1.0));
        assert!(Scalar::from_element(u64::MAX).is_err());
    }
}
