//! Logarithms of sums of exponentials, from which the larger one is factored out so that nothing overflows.

use num_complex::Complex;

use crate::functions::{Functions, NearOne, PowerOfTwo};

/// A number that is the logarithm of another.
pub(crate) trait LogOfSum: Sized {
    /// The logarithm of `exp(self) + exp(other)`.
    fn log_of_sum(self, other: Self) -> Self;
}

/// Like [`LogOfSum`], to base 2 and for real numbers.
pub(crate) trait BinaryLogOfSum: Sized {
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

        /// The real parts determine which one is larger. Of the possible logarithms, the result has an imaginary part
        /// in `[-π, π]`.
        impl LogOfSum for Complex<$ty> {
            fn log_of_sum(self, other: Self) -> Self {
                if self.re.is_nan() || other.re.is_nan() || self.im.is_nan() || other.im.is_nan() {
                    return Complex::new($ty::NAN, $ty::NAN);
                }
                let (smaller, larger) = if self.re <= other.re { (self, other) } else { (other, self) };
                if !smaller.re.is_finite() && smaller.re == larger.re {
                    // The sum of two zeros is zero; for two infinities, the direction of the sum matters.
                    return if smaller.re < 0.0 { larger } else { (smaller.exp() + larger.exp()).ln() };
                }
                larger + (smaller - larger).exp().logarithm_of_one_more()
            }
        }
    )+ };
}

sums!(f32, f64);

/// Adds a function of the distance of two numbers to the larger of them.
#[inline(always)]
fn taken_out<T: num_traits::Float>(a: T, b: T, more: impl Fn(T) -> T) -> T {
    if a.is_infinite() && a == b {
        return a;
    }
    let (larger, smaller) = if a > b { (a, b) } else { (b, a) };
    if a.is_nan() { a } else { larger + more(smaller - larger) }
}
