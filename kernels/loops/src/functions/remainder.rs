//! The remainder of a floating-point division (`fmod`), without branches for quotients of moderate size.

/// Floating-point numbers, whose divisions leave remainders.
pub trait Divisible: Copy {
    /// Whether the quotient is small enough for [`rest`](Self::rest). Quotients with more digits than the type holds,
    /// infinities and NaN need the operator `%`.
    fn has_moderate_quotient(self, divisor: Self) -> bool;

    /// The exact remainder, with the sign of `self`.
    ///
    /// The truncated quotient is too large by 1 if rounding made it an integer. The remainders with this quotient and
    /// with the corrected one both have no more digits than the divisor, so neither is rounded.
    fn rest(self, divisor: Self) -> Self;
}

macro_rules! divisible {
    ($($ty:ident)+) => { $(
        impl Divisible for $ty {
            #[inline(always)]
            fn has_moderate_quotient(self, divisor: $ty) -> bool {
                const MOST: $ty = (1u64 << ($ty::MANTISSA_DIGITS - 2)) as $ty;
                self.abs() < MOST * divisor.abs() && divisor.abs() < $ty::INFINITY
            }

            #[inline(always)]
            fn rest(self, divisor: $ty) -> $ty {
                let quotient = (self / divisor).trunc();
                let rest = (-quotient).mul_add(divisor, self);
                let is_over = rest != 0.0 && rest.is_sign_negative() != self.is_sign_negative();
                (if is_over { rest + divisor.copysign(self) } else { rest }).copysign(self)
            }
        }
    )+ };
}

divisible! { f32 f64 }

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of all magnitudes, with few and with many digits.
    fn numbers() -> impl Iterator<Item = f32> + Clone {
        let some = (0..300u32).map(|i| f32::from_bits(i.wrapping_mul(28_000_003) >> 1));
        some.chain((1..60).map(|i| i as f32)).chain((1..60).map(|i| 0.1 * i as f32))
    }

    #[test]
    fn what_is_left_is_exact() {
        for x in numbers().flat_map(|x| [x, -x]) {
            for y in numbers().flat_map(|y| [y, -y]).filter(|y| x.has_moderate_quotient(*y)) {
                assert_eq!(x.rest(y).to_bits(), (x % y).to_bits(), "{x} by {y}");
            }
        }
    }

    #[test]
    fn what_is_left_of_doubles_is_exact() {
        for x in numbers().map(|x| f64::from(x) * 1.000_000_000_1).flat_map(|x| [x, -x]) {
            for y in numbers().map(|y| f64::from(y) * 0.999_999_999_7).flat_map(|y| [y, -y]) {
                let (got, want) = (x.rest(y), x % y);
                assert!(!x.has_moderate_quotient(y) || got.to_bits() == want.to_bits(), "{x} by {y}");
            }
        }
    }

    #[test]
    fn some_quotients_are_not_moderate() {
        const INFINITY: f32 = f32::INFINITY;
        for (x, y) in [(1.0, 0.0), (0.0, 0.0), (INFINITY, 2.0), (1.0, INFINITY), (f32::NAN, 1.0), (1e30, 1.0)]
        {
            assert!(!x.has_moderate_quotient(y) && !f64::from(x).has_moderate_quotient(f64::from(y)));
            assert!(x.is_nan() || !f64::NAN.has_moderate_quotient(1.0));
        }
    }
}
