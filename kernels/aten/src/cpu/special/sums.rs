//! Logarithms of sums of exponentials, where the larger is taken out so that nothing overflows.

use num_complex::Complex;

use crate::functions::{Functions, NearOne, PowerOfTwo};

/// A number that is the logarithm of another.
pub(crate) trait LogOfSum: Sized {
    /// The logarithm of `exp(self) + exp(other)`.
    fn log_of_sum(self, other: Self) -> Self;
}

/// As [`LogOfSum`], to base 2 and of real numbers.
pub(super) trait BinaryLogOfSum: Sized {
    /// The logarithm to base 2 of `2^self + 2^other`.
    fn binary_log_of_sum(self, other: Self) -> Self;
}

macro_rules! sums {
    ($($ty:ident),+) => { $(
        impl LogOfSum for $ty {
            #[inline(always)]
            fn log_of_sum(self, other: $ty) -> $ty {
                taken_out(self, other, |distance: $ty| distance.exponential().logarithm_of_one_more())
            }
        }

        impl BinaryLogOfSum for $ty {
            #[inline(always)]
            fn binary_log_of_sum(self, other: $ty) -> $ty {
                taken_out(self, other, |distance: $ty| {
                    distance.power_of_two().logarithm_of_one_more() / std::$ty::consts::LN_2
                })
            }
        }

        /// By the real parts one is larger. The logarithm is the one whose imaginary part is within half a turn of
        /// zero.
        impl LogOfSum for Complex<$ty> {
            fn log_of_sum(self, other: Self) -> Self {
                if self.re.is_nan() || other.re.is_nan() || self.im.is_nan() || other.im.is_nan() {
                    return Complex::new($ty::NAN, $ty::NAN);
                }
                let (smaller, larger) = if self.re <= other.re { (self, other) } else { (other, self) };
                if !smaller.re.is_finite() && smaller.re == larger.re {
                    // Nothing is left of two zeros, and of two infinities the sum says the direction.
                    return if smaller.re < 0.0 { larger } else { (smaller.exp() + larger.exp()).ln() };
                }
                larger + (smaller - larger).exp().logarithm_of_one_more()
            }
        }
    )+ };
}

sums!(f32, f64);

/// What two numbers are more than the larger of them is a function of their distance.
#[inline(always)]
fn taken_out<T: num_traits::Float>(a: T, b: T, more: impl Fn(T) -> T) -> T {
    if a.is_infinite() && a == b {
        return a;
    }
    let (larger, smaller) = if a > b { (a, b) } else { (b, a) };
    if a.is_nan() { a } else { larger + more(smaller - larger) }
}
