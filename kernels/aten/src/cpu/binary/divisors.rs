//! The greatest common divisor and the least common multiple of two integers.

use num_traits::PrimInt;

use crate::number::Number;

/// The greatest common divisor by Euclid's algorithm, with PyTorch's steps: the smallest integer has no positive
/// counterpart, so a result may be negative.
pub(super) fn common_divisor<T: PrimInt + Number>(a: T, b: T) -> T {
    let (mut a, mut b) = (magnitude(a), magnitude(b));
    while a != T::ZERO {
        // The smallest integer divided by -1 overflows; its remainder is zero.
        (a, b) = (if b.checked_div(&a).is_some() { b % a } else { T::ZERO }, a);
    }
    b
}

/// The least common multiple; zero if one of the integers is.
pub(super) fn common_multiple<T: PrimInt + Number>(a: T, b: T) -> T {
    match common_divisor(a, b) {
        divisor if divisor == T::ZERO => T::ZERO,
        divisor => {
            // The smallest integer divided by -1 overflows, to itself.
            let quotient = a.checked_div(&divisor).unwrap_or(a);
            let product = quotient.times(b);
            match size_of::<T>() {
                // PyTorch computes with them as `int`, so the sign is dropped before anything is cut off.
                1 | 2 if (quotient < T::ZERO) != (b < T::ZERO) => product.negated(),
                1 | 2 => product,
                _ => magnitude(product),
            }
        }
    }
}

#[inline(always)]
fn magnitude<T: PrimInt + Number>(x: T) -> T {
    if x < T::ZERO { x.negated() } else { x }
}
