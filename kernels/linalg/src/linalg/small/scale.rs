//! Factors that keep squares of a matrix's elements in range.

use num_traits::Float;

use super::field::{Field, Real};

/// A power of two that makes the largest element about one, if squares of the elements could overflow or underflow;
/// otherwise one.
pub(in super::super) fn factor<T: Field>(a: &[T]) -> T::Real {
    let (largest, least) = (largest(a), Float::sqrt(T::Real::LEAST) / T::Real::ROUNDING);
    if largest >= least && largest <= T::Real::ONE / least { T::Real::ONE } else { inverse(largest) }
}

/// A power of two that makes the largest element about one.
pub(super) fn to_one<T: Field>(a: &[T]) -> T::Real {
    inverse(largest(a))
}

fn largest<T: Field>(a: &[T]) -> T::Real {
    a.iter().fold(T::Real::ZERO, |largest, x| largest.max(x.re().abs()).max(x.im().abs()))
}

/// A power of two near the reciprocal, which is finite even if that of the number is not.
fn inverse<R: Real>(largest: R) -> R {
    if largest == R::ZERO {
        return R::ONE;
    }
    Float::exp2(-Float::floor(Float::log2(largest.max(R::LEAST))))
}
