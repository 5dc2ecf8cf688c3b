//! Powers of *e*.
//!
//! `exp(x) = 2^n exp(r)` with an integer `n` and `r` at most `ln(2) / 2` in magnitude, for which a polynomial is
//! enough. Adding `ROUNDER`, 1.5 times the smallest power of two at which floats have no fraction, rounds to an integer
//! and leaves it in the lowest bits.

use super::polynomial;

/// `(1 + rest) · 2^exponent`: a power of *e*.
pub(super) struct Power<T, N> {
    rest: T,
    exponent: N,
}

macro_rules! power {
    ($($ty:ident $whole:ident $bits:ident $bias:literal $digits:literal),+) => { $(
        impl Power<$ty, $whole> {
            /// `2^exponent`, which must be a normal number.
            #[inline(always)]
            fn two(exponent: $whole) -> $ty {
                $ty::from_bits((exponent.wrapping_add($bias) as $bits) << $digits)
            }

            /// Two factors whose product is `2^exponent`, each a normal number.
            #[inline(always)]
            fn twos(&self) -> [$ty; 2] {
                let half = self.exponent >> 1;
                [Self::two(half), Self::two(self.exponent - half)]
            }

            /// The power, or 0. A product that underflows to 0 would take over a hundred cycles.
            #[inline(always)]
            fn or_zero(self, is_zero: bool) -> Self {
                Power { rest: if is_zero { -1.0 } else { self.rest }, ..self }
            }

            /// The power, within one unit of the last place.
            #[inline(always)]
            pub(super) fn value(self) -> $ty {
                let [first, second] = self.twos();
                (self.rest + 1.0) * first * second
            }

            /// Half the value, which may be finite where the value overflows.
            #[inline(always)]
            pub(super) fn half(self) -> $ty {
                let [first, second] = self.twos();
                (self.rest + 1.0) * (0.5 * first) * second
            }

            /// `factor * value * (1 + excess)`, for a small `excess`.
            #[inline(always)]
            pub(super) fn scaling(self, factor: $ty, excess: $ty) -> $ty {
                let [first, second] = self.twos();
                let rest = self.rest + excess.mul_add(self.rest, excess);
                factor.mul_add(rest, factor) * first * second
            }

            /// `value - 1`, precise also where it is small.
            #[inline(always)]
            pub(super) fn less_one(self) -> $ty {
                let half = self.exponent >> 1;
                let [first, second] = self.twos();
                self.rest.mul_add(first, first - Self::two(half - self.exponent)) * second
            }
        }
    )+ };
}

power!(f32 i32 u32 127 23, f64 i64 u64 1023 52);

impl Power<f32, i32> {
    const ROUNDER: f32 = 12_582_912.0; // 1.5 · 2^23

    #[inline(always)]
    pub(super) fn of(x: f32) -> Self {
        let (least, most) = (-104.0, 90.0); // beyond these, the value and its half are 0 or infinite
        Self::of_usual(x.clamp(least, most)).or_zero(x < least)
    }

    /// *e* to the power of a number from -104 to 90, or of NaN.
    #[inline(always)]
    pub(super) fn of_usual(x: f32) -> Self {
        let rounded = x.mul_add(std::f32::consts::LOG2_E, Self::ROUNDER);
        let n = rounded - Self::ROUNDER;
        Self::made(rounded, n.mul_add(2.121_944_4e-4, n.mul_add(-355.0 / 512.0, x)))
    }

    /// Like [`less_one`](Self::less_one), for powers that are normal numbers from 1 on.
    #[inline(always)]
    pub(super) fn usual_less_one(self) -> f32 {
        let two = Self::two(self.exponent);
        self.rest.mul_add(two, two - 1.0)
    }

    /// Two to the power of `x`.
    #[inline(always)]
    pub(super) fn of_two(x: f32) -> Self {
        let (least, most) = (-151.0, 129.0);
        let usual = x.clamp(least, most);
        let rounded = usual + Self::ROUNDER;
        let r = (usual - (rounded - Self::ROUNDER)) * std::f32::consts::LN_2;
        Self::made(rounded, r).or_zero(x < least)
    }

    /// The power from its rounded exponent and the remainder `r`, with the polynomial of Cephes.
    #[inline(always)]
    fn made(rounded: f32, r: f32) -> Self {
        let coefficients =
            [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
        let p = polynomial(r, coefficients);
        let exponent = rounded.to_bits().wrapping_sub(Self::ROUNDER.to_bits()) as i32;
        Power { rest: (p * r).mul_add(r, r), exponent }
    }
}

impl Power<f64, i64> {
    const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52

    #[inline(always)]
    pub(super) fn of(x: f64) -> Self {
        const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;
        let (least, most) = (-746.0, 711.0);
        let usual = x.clamp(least, most);
        let rounded = usual.mul_add(std::f64::consts::LOG2_E, Self::ROUNDER);
        let n = rounded - Self::ROUNDER;
        let r = n.mul_add(-LN_2_REST, n.mul_add(-std::f64::consts::LN_2, usual));
        Self::made(rounded, r).or_zero(x < least)
    }

    /// Two to the power of `x`.
    #[inline(always)]
    pub(super) fn of_two(x: f64) -> Self {
        let (least, most) = (-1076.0, 1025.0);
        let usual = x.clamp(least, most);
        let rounded = usual + Self::ROUNDER;
        let r = (usual - (rounded - Self::ROUNDER)) * std::f64::consts::LN_2;
        Self::made(rounded, r).or_zero(x < least)
    }

    /// The power from its rounded exponent and the remainder `r`, with the Taylor polynomial.
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
        Power { rest: (p * r).mul_add(r, r), exponent }
    }
}
