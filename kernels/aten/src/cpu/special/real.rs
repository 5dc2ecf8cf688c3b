//! Functions of a real number that the standard library lacks.

use num_complex::Complex;

use crate::functions::{Gamma, hurwitz_zeta};

/// A real number with a polygamma function.
pub trait Real: Sized {
    /// The derivative of order `order`, from 0 up, of the digamma function.
    fn polygamma(self, order: i64) -> Self;
}

/// A real or complex number with a `sinc` function.
pub trait Sinc: Sized {
    /// `sin(πx) / πx`, and 1 at zero.
    fn normalized_sinc(self) -> Self;
}

/// A complex number.
pub trait FiniteParts {
    /// Replaces parts that are NaN, infinity or negative infinity by the numbers in `instead`, in this order.
    fn with_finite_parts(self, instead: [f64; 3]) -> Self;
}

/// A floating-point number of any width.
pub trait NextTowards {
    /// The next representable number in the direction of another.
    fn next_towards(self, other: Self) -> Self;
}

macro_rules! next_towards {
    ($($ty:ty),+) => { $(
        impl NextTowards for $ty {
            #[inline(always)]
            fn next_towards(self, other: $ty) -> $ty {
                let (zero, bits) = (<$ty>::from_bits(0), self.to_bits());
                // Among numbers of one sign, larger magnitudes have larger bits.
                let next = if (self < other) == (self > zero) { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
                let next = if self == zero { <$ty>::from_bits(1).copysign(other) } else { <$ty>::from_bits(next) };
                let next = if self == other { other } else { next };
                if self.is_nan() | other.is_nan() { <$ty>::NAN } else { next } // without branches, for vectorisation
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
                    // A pole, where PyTorch's reflection formula divides by a sine that rounding keeps from being zero.
                    const PI: $ty = std::$ty::consts::PI;
                    let sine = (PI * self).sin();
                    return PI * PI / (sine * sine) - (1.0 - self).polygamma(1);
                }
                if order == 1 && self == <$ty>::INFINITY {
                    return 0.0;
                }
                // Each factor is rounded, as in PyTorch: if they overflow, the result is infinite or NaN.
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

/// The factorial of the order, with the sign of the derivative, and the Hurwitz zeta function, which it multiplies.
fn polygamma(order: i64, x: f64) -> [f64; 2] {
    let (n, sign) = (order as f64, if order % 2 == 1 { 1.0 } else { -1.0 });
    [sign * libm::lgamma(n + 1.0).exp(), hurwitz_zeta(n + 1.0, x)]
}
