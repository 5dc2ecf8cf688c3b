//! Functions of one real number that the standard library has not, and shifts that every count of bits is right for.

use num_complex::Complex;

use crate::functions::{Gamma, hurwitz_zeta};

/// A real number with these functions.
pub(super) trait Real: Sized {
    /// The derivative of the digamma function of an order from 0 up.
    fn polygamma(self, order: i64) -> Self;
}

/// A real or complex number with this function.
pub(super) trait Sinc: Sized {
    /// `sin(πx) / πx`, and 1 at zero.
    fn normalized_sinc(self) -> Self;
}

/// A complex number.
pub(super) trait FiniteParts {
    /// Parts that are NaN, infinite or negatively infinite, replaced by these.
    fn with_finite_parts(self, instead: [f64; 3]) -> Self;
}

/// A floating-point number of any width.
pub(super) trait NextTowards {
    /// The next number of the type on the way to another.
    fn next_towards(self, other: Self) -> Self;
}

macro_rules! next_towards {
    ($($ty:ty),+) => { $(
        impl NextTowards for $ty {
            #[inline(always)]
            fn next_towards(self, other: $ty) -> $ty {
                let (zero, bits) = (<$ty>::from_bits(0), self.to_bits());
                // Of one sign, larger numbers have larger bits.
                let next = if (self < other) == (self > zero) { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
                let next = if self == zero { <$ty>::from_bits(1).copysign(other) } else { <$ty>::from_bits(next) };
                let next = if self == other { other } else { next };
                if self.is_nan() | other.is_nan() { <$ty>::NAN } else { next } // all choices are taken in lanes
            }
        }
    )+ };
}

next_towards!(f32, f64, torch_library::element::f16, torch_library::element::bf16);

macro_rules! real {
    ($($ty:ident),+) => { $(
        impl Real for $ty {
            fn polygamma(self, order: i64) -> $ty {
                if order == 0 {
                    return self.digamma();
                }
                if order == 1 && self < 0.5 && self == self.floor() {
                    // A pole, where PyTorch's reflection divides by a sine that is not zero but rounded.
                    const PI: $ty = std::$ty::consts::PI;
                    let sine = (PI * self).sin();
                    return PI * PI / (sine * sine) - (1.0 - self).polygamma(1);
                }
                if order == 1 && self == <$ty>::INFINITY {
                    return 0.0;
                }
                // Each factor is rounded, as in PyTorch: beyond what the type holds they make infinities and NaN.
                let [factor, sum] = polygamma(order, f64::from(self));
                factor as $ty * sum as $ty
            }
        }

        impl Sinc for $ty {
            fn normalized_sinc(self) -> $ty {
                let x = self * std::$ty::consts::PI;
                if self == 0.0 { 1.0 } else { x.sin() / x }
            }
        }

        impl FiniteParts for Complex<$ty> {
            fn with_finite_parts(self, [nan, above, below]: [f64; 3]) -> Self {
                let finite = |part: $ty| match part {
                    part if part.is_nan() => nan as $ty,
                    $ty::INFINITY => above as $ty,
                    $ty::NEG_INFINITY => below as $ty,
                    part => part,
                };
                Complex::new(finite(self.re), finite(self.im))
            }
        }

        impl Sinc for Complex<$ty> {
            fn normalized_sinc(self) -> Self {
                let x = self * std::$ty::consts::PI;
                if self == Complex::ZERO { Complex::ONE } else { x.sin() / x }
            }
        }
    )+ };
}

real!(f32, f64);

/// The factorial of the order, with the sign of the derivative, and the sum that it is a factor of.
fn polygamma(order: i64, x: f64) -> [f64; 2] {
    let (n, sign) = (order as f64, if order % 2 == 1 { 1.0 } else { -1.0 });
    [sign * libm::lgamma(n + 1.0).exp(), hurwitz_zeta(n + 1.0, x)]
}

/// A whole number whose bits move by a number of any size.
pub(super) trait Shifted: Copy {
    fn shifted_left(self, by: Self) -> Self;
    fn shifted_right(self, by: Self) -> Self;
}

macro_rules! shifted {
    ($($ty:ty),+) => { $(
        impl Shifted for $ty {
            #[inline]
            fn shifted_left(self, by: $ty) -> $ty {
                u32::try_from(by).ok().and_then(|by| self.checked_shl(by)).unwrap_or(0)
            }

            #[inline]
            fn shifted_right(self, by: $ty) -> $ty {
                let all = <$ty>::BITS - 1;
                let signed = if <$ty>::MIN == 0 { 0 } else { self >> all };
                u32::try_from(by).ok().and_then(|by| self.checked_shr(by)).unwrap_or(signed)
            }
        }
    )+ };
}

shifted!(u8, i8, i16, i32, i64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygamma_meets_known_values() {
        let near = |x: f64, want: f64| assert!((x - want).abs() < 1e-13 * want.abs(), "{x}, expected {want}");
        near(1f64.polygamma(1), 1.644_934_066_848_226_4);
        near((-0.5f64).polygamma(1), 8.934_802_200_544_68);
        near(0.5f64.polygamma(2), -16.828_796_644_234_32);
        near(20f64.polygamma(3), 2.693_742_213_396_39e-4);
        // PyTorch's numbers at poles.
        for (x, want) in [(-8f32, 2.017_765_1e13), (-4f32, 8.071_061e13)] {
            assert!((x.polygamma(1) / want - 1.0).abs() < 1e-5, "{}", x.polygamma(1));
        }
        assert_eq!([0f64.polygamma(1), (-2f64).polygamma(2)], [f64::INFINITY, -f64::INFINITY]);
        assert_eq!(f64::INFINITY.polygamma(1), 0.0);
        assert!(8f32.polygamma(100).is_nan()); // an infinite factor of zero
    }

    #[test]
    fn bits_may_move_too_far() {
        assert_eq!([1i8.shifted_left(7), 1i8.shifted_left(8), 1i8.shifted_left(-1)], [i8::MIN, 0, 0]);
        assert_eq!(
            [(-4i32).shifted_right(1), (-4i32).shifted_right(40), 4i32.shifted_right(-1)],
            [-2, -1, 0]
        );
    }
}
