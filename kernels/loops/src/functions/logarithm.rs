//! Logarithms.
//!
//! `log(2^n (1 + f)) = n log(2) + log(1 + f)` with `1 + f` between `√½` and `√2`, for which a polynomial is enough.
//! Subnormal numbers are scaled first.

use super::polynomial;

/// A number `2^n (1 + f)`, and `tail = ln(1 + f) - f`.
struct Parts<T> {
    n: T,
    f: T,
    tail: T,
}

/// The logarithm of 2 or of *e* to some base as a sum of two parts; the first part of the logarithm of 2 has few
/// digits.
struct Factor<T> {
    most: T,
    rest: T,
}

macro_rules! logarithm {
    ($ty:ident, $bits:ident, $signed:ident, $digits:literal, $tail:expr, |$exponent:ident| $whole:expr) => {
        impl Parts<$ty> {
            #[inline(always)]
            fn of(x: $ty) -> Self {
                const SCALE: $ty = (1u64 << $digits) as $ty;
                const ROOT: $bits = std::$ty::consts::FRAC_1_SQRT_2.to_bits();
                let is_small = x < $ty::MIN_POSITIVE;
                let x = if is_small { x * SCALE } else { x };
                // Subtracting the bits of √½ moves mantissas from there on to the next exponent.
                let shifted = x.to_bits().wrapping_sub(ROOT);
                let $exponent = (shifted as $signed >> $digits) - if is_small { $digits } else { 0 };
                let mantissa = (shifted & ((1 << $digits) - 1)) + ROOT;
                let f = $ty::from_bits(mantissa) - 1.0;
                Parts { n: $whole, f, tail: $tail(f) }
            }

            /// The logarithm to a base, from the logarithms of 2 and of *e* to that base.
            #[inline(always)]
            fn scaled(self, two: &Factor<$ty>, e: &Factor<$ty>) -> $ty {
                let sum = self.f + self.tail;
                let lost = self.tail - (sum - self.f);
                let most = sum * e.most;
                let rest = sum.mul_add(e.most, -most) + sum.mul_add(e.rest, lost * e.most);
                let whole = self.n * two.most; // exact, since `most` has few digits
                let value = whole + most;
                let lost = (whole - value) + most;
                value + (self.n.mul_add(two.rest, rest) + lost)
            }
        }

        /// The special values that logarithms to all bases share.
        #[inline(always)]
        fn ends(x: $ty, value: $ty) -> $ty {
            let value = if x == $ty::INFINITY { x } else { value };
            let value = if x == 0.0 { $ty::NEG_INFINITY } else { value };
            if x >= 0.0 { value } else { $ty::NAN } // for negative numbers and NaN
        }

        /// The natural logarithm, within one unit of the last place.
        #[inline(always)]
        pub(in crate::functions) fn natural(x: $ty) -> $ty {
            let Parts { n, f, tail } = Parts::<$ty>::of(x);
            let value = n.mul_add(LN_2.most, f + n.mul_add(LN_2.rest, tail));
            ends(x, value)
        }

        /// The logarithm to base 2, an exact integer for powers of 2.
        #[inline(always)]
        pub(in crate::functions) fn binary(x: $ty) -> $ty {
            ends(x, Parts::<$ty>::of(x).scaled(&Factor { most: 1.0, rest: 0.0 }, &LOG2_E))
        }

        #[inline(always)]
        pub(in crate::functions) fn decimal(x: $ty) -> $ty {
            ends(x, Parts::<$ty>::of(x).scaled(&LOG10_2, &LOG10_E))
        }

        /// `ln(1 + x)`, precise for small `x`.
        #[inline(always)]
        pub(in crate::functions) fn of_one_more(x: $ty) -> $ty {
            let sum = 1.0 + x;
            let lost = if x.abs() < 1.0 { x - (sum - 1.0) } else { 1.0 - (sum - x) };
            let value = natural(sum);
            let is_plain = sum > 0.0 && sum < $ty::INFINITY;
            (if is_plain { value + lost / sum } else { value }).copysign(x)
        }
    };
}

/// In single precision.
pub(super) mod single {
    use super::{Factor, Parts, polynomial};

    const LN_2: Factor<f32> = Factor { most: 355.0 / 512.0, rest: -2.121_944_4e-4 };

    const LOG2_E: Factor<f32> = Factor { most: std::f32::consts::LOG2_E, rest: 1.925_963e-8 };
    const LOG10_2: Factor<f32> = Factor { most: 0.301_025_4, rest: 4.605_039e-6 };
    const LOG10_E: Factor<f32> = Factor { most: std::f32::consts::LOG10_E, rest: -1.010_305e-8 };

    logarithm!(f32, u32, i32, 23, tail, |exponent| exponent as f32);

    /// `ln(1 + f) - f`, with the polynomial of Cephes.
    #[inline(always)]
    fn tail(f: f32) -> f32 {
        let coefficients = [
            7.037_683_6e-2,
            -1.151_461e-1,
            1.167_699_9e-1,
            -1.242_014_1e-1,
            1.424_932_3e-1,
            -1.666_805_8e-1,
            2.000_071_5e-1,
            -2.499_999_4e-1,
            3.333_333e-1,
        ];
        (polynomial(f, coefficients) * f - 0.5) * (f * f)
    }
}

/// In double precision.
pub(super) mod double {
    use super::{Factor, Parts, polynomial};

    const LN_2: Factor<f64> = Factor { most: 6.931_471_803_691_238e-1, rest: 1.908_214_929_270_587_7e-10 };

    const LOG2_E: Factor<f64> = Factor { most: std::f64::consts::LOG2_E, rest: 2.035_527_374_093_103_3e-17 };
    const LOG10_2: Factor<f64> = Factor { most: 3.010_299_956_636_117_7e-1, rest: 3.694_239_077_158_931e-13 };
    const LOG10_E: Factor<f64> = Factor { most: std::f64::consts::LOG10_E, rest: 1.098_319_650_216_765e-17 };

    logarithm!(f64, u64, i64, 52, tail, |exponent| whole(exponent));

    /// `ln(1 + f) - f`, by the series of the inverse hyperbolic tangent, with the polynomial of fdlibm for it.
    #[inline(always)]
    fn tail(f: f64) -> f64 {
        let s = f / (2.0 + f);
        let square = s * s;
        let coefficients = [
            1.479_819_860_511_658_6e-1,
            1.531_383_769_920_937_3e-1,
            1.818_357_216_161_805e-1,
            2.222_219_843_214_978_4e-1,
            2.857_142_874_366_239e-1,
            3.999_999_999_940_942e-1,
            6.666_666_666_666_735e-1,
        ];
        let half = 0.5 * f * f;
        s.mul_add(polynomial(square, coefficients).mul_add(square, half), -half)
    }

    /// Converts an exponent by its bits, since only newer processors have vector instructions from `i64` to `f64`.
    #[inline(always)]
    fn whole(exponent: i64) -> f64 {
        const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
        f64::from_bits(ROUNDER.to_bits().wrapping_add(exponent as u64)) - ROUNDER
    }
}
