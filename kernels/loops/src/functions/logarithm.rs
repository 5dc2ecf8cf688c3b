//! Logarithms.
//!
//! `log(2^n (1 + f)) = n log(2) + log(1 + f)` with `1 + f` between `√½` and `√2`, where a polynomial serves.
//! Numbers that are too small for a normal exponent are scaled first.

use super::polynomial;

/// The exponent of two of a number, `f`, and the natural logarithm of `1 + f` less `f`.
struct Parts<T> {
    n: T,
    f: T,
    tail: T,
}

/// The logarithm of 2 or of *e* to some base, in two parts of which the first has few digits.
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
                // Bits of a mantissa from √½ on belong to the next power of two.
                let shifted = x.to_bits().wrapping_sub(ROOT);
                let $exponent = (shifted as $signed >> $digits) - if is_small { $digits } else { 0 };
                let mantissa = (shifted & ((1 << $digits) - 1)) + ROOT;
                let f = $ty::from_bits(mantissa) - 1.0;
                Parts { n: $whole, f, tail: $tail(f) }
            }

            /// Times the logarithms of 2 and of *e*.
            #[inline(always)]
            fn scaled(self, two: &Factor<$ty>, e: &Factor<$ty>) -> $ty {
                let sum = self.f + self.tail;
                let lost = self.tail - (sum - self.f);
                let most = sum * e.most;
                let rest = sum.mul_add(e.most, -most) + sum.mul_add(e.rest, lost * e.most);
                let whole = self.n * two.most; // exactly, as it has few digits
                let value = whole + most;
                let lost = (whole - value) + most;
                value + (self.n.mul_add(two.rest, rest) + lost)
            }
        }

        /// What is true of the logarithm to any base.
        #[inline(always)]
        fn ends(x: $ty, value: $ty) -> $ty {
            let value = if x == $ty::INFINITY { x } else { value };
            let value = if x == 0.0 { $ty::NEG_INFINITY } else { value };
            if x >= 0.0 { value } else { $ty::NAN } // of a negative number or itself
        }

        /// Within one unit of the last place.
        #[inline(always)]
        pub(in crate::functions) fn natural(x: $ty) -> $ty {
            let Parts { n, f, tail } = Parts::<$ty>::of(x);
            let value = n.mul_add(LN_2.most, f + n.mul_add(LN_2.rest, tail));
            ends(x, value)
        }

        /// Whole for powers of 2.
        #[inline(always)]
        pub(in crate::functions) fn binary(x: $ty) -> $ty {
            ends(x, Parts::<$ty>::of(x).scaled(&Factor { most: 1.0, rest: 0.0 }, &LOG2_E))
        }

        #[inline(always)]
        pub(in crate::functions) fn decimal(x: $ty) -> $ty {
            ends(x, Parts::<$ty>::of(x).scaled(&LOG10_2, &LOG10_E))
        }

        /// The natural logarithm of one more, precise where that is small.
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

    /// With the polynomial of Cephes.
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

    /// With the series of the inverse hyperbolic tangent, and the polynomial of fdlibm for it.
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

    /// By its bits: only newer processors have an instruction that converts it.
    #[inline(always)]
    fn whole(exponent: i64) -> f64 {
        const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
        f64::from_bits(ROUNDER.to_bits().wrapping_add(exponent as u64)) - ROUNDER
    }
}
