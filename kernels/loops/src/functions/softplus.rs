//! Softplus, the smooth form of `max(x, 0)`.

use num_traits::Float;

use super::{Functions, NearOne};

/// `ln(1 + exp(x))`, without overflow.
#[inline(always)]
pub fn softplus_of<T: Float + Functions + NearOne>(x: T) -> T {
    x.max(T::zero()) + (-x.abs()).exponential().logarithm_of_one_more()
}
