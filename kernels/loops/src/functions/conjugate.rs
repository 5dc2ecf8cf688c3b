//! Functions of complex numbers that real numbers have too: the conjugate and the direction (`sgn`).

use num_complex::Complex;
use num_traits::Float;

use super::power::Raised;
use crate::number::Number;

/// Functions of complex numbers that real numbers have too.
pub trait Conjugate {
    /// The conjugate; a real number is its own.
    fn conjugate(self) -> Self;

    /// The number divided by its magnitude; zero for zero.
    fn direction(self) -> Self;
}

macro_rules! real {
    ($($ty:ty),+) => { $(
        impl Conjugate for $ty {
            #[inline(always)]
            fn conjugate(self) -> Self {
                self
            }

            #[inline(always)]
            fn direction(self) -> Self {
                if self > 0.0 { 1.0 } else if self < 0.0 { -1.0 } else { 0.0 }
            }
        }
    )+ };
}

real!(f32, f64);

impl<T: Number + Float + Raised> Conjugate for Complex<T> {
    #[inline(always)]
    fn conjugate(self) -> Self {
        Complex::new(self.re, -self.im)
    }

    #[inline(always)]
    fn direction(self) -> Self {
        // Divided in any case, so that there is no branch.
        let direction = self / self.re.distance(self.im);
        if (self.re == T::ZERO) & (self.im == T::ZERO) { self } else { direction }
    }
}
