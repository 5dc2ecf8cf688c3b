//! Powers of *e*.
//!
//! `exp(x) = 2^n exp(r)` with `n` whole and `r` at most half a `ln 2` from zero, where a polynomial serves. Adding 1.5 times the
//! power of two that leaves no digits behind the point rounds to a whole number, and leaves it in the lowest bits.

use super::polynomial;

/// `(1 + rest) · powers[0] · powers[1]`: a power of *e*. The powers of two are two, so that each is a normal number.
pub(super) struct Power<T> {
    rest: T,
    powers: [T; 2],
    /// One over the second.
    inverse: T,
}

macro_rules! power {
    ($($ty:ty),+) => { $(
        impl Power<$ty> {
            /// Within one unit of the last place.
            #[inline(always)]
            pub(super) fn value(self) -> $ty {
                (self.rest + 1.0) * self.powers[0] * self.powers[1]
            }

            /// Half the value, which may be finite where that is not.
            #[inline(always)]
            pub(super) fn half(self) -> $ty {
                (self.rest + 1.0) * (0.5 * self.powers[0]) * self.powers[1]
            }

            /// `factor` times the value and `1 + excess`, where that is little more than 1.
            #[inline(always)]
            pub(super) fn scaling(self, factor: $ty, excess: $ty) -> $ty {
                let rest = self.rest + excess.mul_add(self.rest, excess);
                factor.mul_add(rest, factor) * self.powers[0] * self.powers[1]
            }

            /// The value less one, which is precise where that is small.
            #[inline(always)]
            pub(super) fn less_one(self) -> $ty {
                self.rest.mul_add(self.powers[0], self.powers[0] - self.inverse) * self.powers[1]
            }
        }
    )+ };
}

power!(f32, f64);

impl Power<f32> {
    const ROUNDER: f32 = 12_582_912.0; // 1.5 · 2^23

    #[inline(always)]
    pub(super) fn of(x: f32) -> Self {
        let x = x.clamp(-104.0, 90.0); // what is beyond is 0 or infinite, as is half of it
        let rounded = x.mul_add(std::f32::consts::LOG2_E, Self::ROUNDER);
        let n = rounded - Self::ROUNDER;
        Self::made(rounded, n.mul_add(2.121_944_4e-4, n.mul_add(-355.0 / 512.0, x)))
    }

    /// Of two, not of *e*.
    #[inline(always)]
    pub(super) fn of_two(x: f32) -> Self {
        let x = x.clamp(-151.0, 129.0);
        let rounded = x + Self::ROUNDER;
        Self::made(rounded, (x - (rounded - Self::ROUNDER)) * std::f32::consts::LN_2)
    }

    /// With the polynomial of Cephes.
    #[inline(always)]
    fn made(rounded: f32, r: f32) -> Self {
        let coefficients =
            [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
        let p = polynomial(r, coefficients);
        let exponent = rounded.to_bits().wrapping_sub(Self::ROUNDER.to_bits()) as i32;
        let half = exponent >> 1;
        let power = |exponent: i32| f32::from_bits((exponent.wrapping_add(127) as u32) << 23);
        let powers = [power(half), power(exponent - half)];
        Power { rest: (p * r).mul_add(r, r), powers, inverse: power(half - exponent) }
    }
}

impl Power<f64> {
    const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52

    #[inline(always)]
    pub(super) fn of(x: f64) -> Self {
        const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;
        let x = x.clamp(-746.0, 711.0);
        let rounded = x.mul_add(std::f64::consts::LOG2_E, Self::ROUNDER);
        let n = rounded - Self::ROUNDER;
        Self::made(rounded, n.mul_add(-LN_2_REST, n.mul_add(-std::f64::consts::LN_2, x)))
    }

    /// Of two, not of *e*.
    #[inline(always)]
    pub(super) fn of_two(x: f64) -> Self {
        let x = x.clamp(-1076.0, 1025.0);
        let rounded = x + Self::ROUNDER;
        Self::made(rounded, (x - (rounded - Self::ROUNDER)) * std::f64::consts::LN_2)
    }

    /// With the polynomial of Taylor.
    #[inline(always)]
    fn made(rounded: f64, r: f64) -> Self {
        let coefficients = const {
            let (mut coefficients, mut factorial, mut k) = ([0.0; 12], 1.0, 2);
            while k < 14 {
                factorial *= k as f64;
                coefficients[13 - k] = 1.0 / factorial;
                k += 1;
            }
            coefficients
        };
        let p = polynomial(r, coefficients);
        let exponent = rounded.to_bits().wrapping_sub(Self::ROUNDER.to_bits()) as i64;
        let half = exponent >> 1;
        let power = |exponent: i64| f64::from_bits((exponent.wrapping_add(1023) as u64) << 52);
        let powers = [power(half), power(exponent - half)];
        Power { rest: (p * r).mul_add(r, r), powers, inverse: power(half - exponent) }
    }
}
