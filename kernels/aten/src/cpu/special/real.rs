//! The polygamma function.

use crate::functions::{Gamma, hurwitz_zeta};

/// A real number with a polygamma function.
pub trait Real: Copy {
    /// The derivative of order `order`, from 0 up, of the digamma function.
    fn polygamma(self, order: i64) -> Self;

    /// Whether polygamma functions are infinite here.
    fn is_pole(self) -> bool;
}

macro_rules! real {
    ($($ty:ident),+) => { $(
        impl Real for $ty {
            fn polygamma(self, order: i64) -> $ty {
                if order == 0 {
                    return self.digamma();
                }
                if order == 1 && self.is_pole() {
                    // A pole, where PyTorch's reflection formula divides by a sine that rounding keeps from being zero.
                    const PI: $ty = std::$ty::consts::PI;
                    let sine = (PI * self).sin();
                    return PI * PI / (sine * sine) - (1.0 - self).polygamma(1);
                }
                if order == 1 {
                    return self.trigamma();
                }
                // Each factor is rounded, as in PyTorch: if they overflow, the result is infinite or NaN.
                let [factor, sum] = polygamma(order, f64::from(self));
                factor as $ty * sum as $ty
            }

            #[inline(always)]
            fn is_pole(self) -> bool {
                self < 0.5 && self == self.floor()
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
