//! The numbers that matrices have as elements: real or complex, of single or double precision.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use num_complex::Complex;
use num_traits::Float;

use crate::number::Divided;

/// An element of a matrix.
pub(in super::super) trait Field:
    Copy
    + Debug
    + PartialEq
    + Default
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Send
    + 'static
{
    /// The type of absolute values.
    type Real: Real;

    const ZERO: Self;
    const ONE: Self;
    /// Whether there are imaginary parts.
    const IS_COMPLEX: bool;

    /// The number with these parts; a real number has no imaginary part.
    fn of(re: Self::Real, im: Self::Real) -> Self;
    fn re(self) -> Self::Real;
    fn im(self) -> Self::Real;
    /// The conjugate; a real number is its own.
    fn conj(self) -> Self;
    /// The product with a real number.
    fn by(self, factor: Self::Real) -> Self;
    /// The product with a real number, added to another number.
    fn by_plus(self, factor: Self::Real, other: Self) -> Self;

    /// The quotient, whose intermediate results do not overflow.
    fn divided_by(self, divisor: Self) -> Self;

    /// The sum of the squared parts.
    #[inline(always)]
    fn square(self) -> Self::Real {
        self.re() * self.re() + self.im() * self.im()
    }

    /// The sum of the parts' absolute values: nearly the absolute value, but without a square root.
    #[inline(always)]
    fn size(self) -> Self::Real {
        self.re().abs() + self.im().abs()
    }

    #[inline(always)]
    fn real(re: Self::Real) -> Self {
        Self::of(re, Self::Real::ZERO)
    }
}

/// A real number, of which matrices are made, too.
pub(in super::super) trait Real: Float + Field<Real = Self> {
    /// The largest relative error of a rounded result.
    const ROUNDING: Self;
    /// The smallest number whose reciprocal does not overflow, which is also the smallest one of full precision.
    const LEAST: Self;

    fn from_f64(x: f64) -> Self;

    /// The absolute value of this number with the sign of another one; that of -0.0 is positive, as it is in Fortran.
    #[inline(always)]
    fn signed(self, like: Self) -> Self {
        if like < Self::ZERO { -self.abs() } else { self.abs() }
    }
}

macro_rules! field {
    ($($real:ty),+) => { $(
        impl Field for $real {
            type Real = $real;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const IS_COMPLEX: bool = false;

            #[inline(always)]
            fn of(re: $real, _: $real) -> Self {
                re
            }
            #[inline(always)]
            fn re(self) -> $real {
                self
            }
            #[inline(always)]
            fn im(self) -> $real {
                0.0
            }
            #[inline(always)]
            fn conj(self) -> Self {
                self
            }
            #[inline(always)]
            fn by(self, factor: $real) -> Self {
                self * factor
            }
            #[inline(always)]
            fn by_plus(self, factor: $real, other: Self) -> Self {
                self * factor + other
            }
            #[inline(always)]
            fn divided_by(self, divisor: Self) -> Self {
                self / divisor
            }
        }

        impl Field for Complex<$real> {
            type Real = $real;
            const ZERO: Self = Complex::new(0.0, 0.0);
            const ONE: Self = Complex::new(1.0, 0.0);
            const IS_COMPLEX: bool = true;

            #[inline(always)]
            fn of(re: $real, im: $real) -> Self {
                Complex::new(re, im)
            }
            #[inline(always)]
            fn re(self) -> $real {
                self.re
            }
            #[inline(always)]
            fn im(self) -> $real {
                self.im
            }
            #[inline(always)]
            fn conj(self) -> Self {
                Complex::new(self.re, -self.im)
            }
            #[inline(always)]
            fn by(self, factor: $real) -> Self {
                Complex::new(self.re * factor, self.im * factor)
            }
            #[inline(always)]
            fn by_plus(self, factor: $real, other: Self) -> Self {
                Complex::new(self.re * factor + other.re, self.im * factor + other.im)
            }
            #[inline]
            fn divided_by(self, divisor: Self) -> Self {
                Divided::over(self, divisor)
            }
        }

        impl Real for $real {
            const ROUNDING: $real = <$real>::EPSILON / 2.0;
            const LEAST: $real = <$real>::MIN_POSITIVE;

            #[inline(always)]
            fn from_f64(x: f64) -> $real {
                x as $real
            }
        }
    )+ };
}

field!(f32, f64);
