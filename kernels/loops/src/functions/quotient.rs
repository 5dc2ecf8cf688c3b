//! Integer division in double precision, since vector instructions divide doubles but not integers.

use num_traits::PrimInt;

use crate::inlined::from_fn;

/// Integers that may be divided as doubles.
pub trait Quotient: PrimInt {
    /// Whether the divisor is not zero and both numbers are small enough for [`quotient`](Self::quotient).
    fn has_short_quotient(self, divisor: Self) -> bool;

    /// The quotient and the remainder; the quotient is truncated, or rounded down if `goes_down`.
    ///
    /// Rounding cannot make a fractional quotient an integer: the nearest integer differs from it by at least one part
    /// in the dividend, which is more than the rounding error of a double. The product with the divisor is exact.
    fn quotient(self, divisor: Self, goes_down: bool) -> [Self; 2];
}

/// 1.5 · 2^52: doubles of this magnitude are 1 apart, so that their lowest bits are an integer.
const WHOLE: f64 = (3u64 << 51) as f64;

/// The number of bits, without the sign, that an integer may have to fit into these bits.
const BITS: u32 = 50;

macro_rules! quotient {
    ($($ty:ty: |$x:ident| $is_short:expr, $double:expr;)+) => { $(
        impl Quotient for $ty {
            #[inline(always)]
            fn has_short_quotient(self, divisor: Self) -> bool {
                let is_short = |$x: $ty| $is_short;
                (divisor != 0) & is_short(self) & is_short(divisor)
            }

            #[inline(always)]
            fn quotient(self, divisor: Self, goes_down: bool) -> [Self; 2] {
                let double = |$x: $ty| -> f64 { $double };
                let (a, b) = (double(self), double(divisor));
                let quotient = (a / b).trunc();
                let rest = a - quotient * b;
                let is_over = goes_down & (rest != 0.0) & ((rest < 0.0) != (b < 0.0));
                let found = if is_over { [quotient - 1.0, rest + b] } else { [quotient, rest] };
                from_fn(|n| ((found[n] + WHOLE).to_bits() as i64).wrapping_sub(WHOLE.to_bits() as i64) as $ty)
            }
        }
    )+ };
}

quotient! {
    u8: |_x| true, f64::from(_x);
    i8: |_x| true, f64::from(_x);
    i16: |_x| true, f64::from(_x);
    i32: |_x| true, f64::from(_x);
    i64: |x| (x.wrapping_add(1 << BITS) as u64) < 2 << BITS,
        f64::from_bits((WHOLE.to_bits() as i64).wrapping_add(x) as u64) - WHOLE;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Quotient + std::fmt::Debug>(numbers: &[T]) {
        for (a, b) in numbers.iter().flat_map(|a| numbers.iter().map(|b| (*a, *b))) {
            if !a.has_short_quotient(b) {
                assert!(b.is_zero() || size_of::<T>() == 8, "{a:?} by {b:?}");
                continue;
            }
            let Some(cut) = a.checked_div(&b) else { continue }; // fails for the smallest integer by -1
            let rest = a % b;
            assert_eq!(a.quotient(b, false), [cut, rest], "{a:?} by {b:?}");
            let is_over = !rest.is_zero() && (rest < T::zero()) != (b < T::zero());
            let down = if is_over { [cut - T::one(), rest + b] } else { [cut, rest] };
            assert_eq!(a.quotient(b, true), down, "{a:?} by {b:?}");
        }
    }

    #[test]
    fn quotients_of_integers_are_exact() {
        check::<u8>(&(0..=255).collect::<Vec<_>>());
        check::<i8>(&(-128..=127).collect::<Vec<_>>());
        let near = |x: i64| [x - 1, x, x + 1, -x];
        let numbers: Vec<i64> =
            (0..62).flat_map(|bits| near(1 << bits)).chain((1..40).map(|i| i * i * i)).collect();
        check(&numbers);
        check(&numbers.iter().filter_map(|x| i32::try_from(*x).ok()).collect::<Vec<_>>());
        check(&numbers.iter().filter_map(|x| i16::try_from(*x).ok()).collect::<Vec<_>>());
    }

    #[test]
    fn the_smallest_integer_by_minus_one_wraps() {
        assert_eq!(i32::MIN.quotient(-1, true), [i32::MIN, 0]);
        assert_eq!(i8::MIN.quotient(-1, false), [i8::MIN, 0]);
        assert!(!i64::MIN.has_short_quotient(-1) && !1i64.has_short_quotient(0));
    }
}
