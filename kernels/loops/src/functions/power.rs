//! Powers, and distances of points from the origin (`hypot`), without branches.

use num_traits::Float;

use super::exponential::Power;
use super::polynomial;

/// Functions of two numbers that are roots or powers.
pub trait Raised {
    /// `self` to the power of `exponent`.
    fn raised(self, exponent: Self) -> Self;

    /// The distance of the point from the origin (`hypot`); infinite if a coordinate is infinite, even if the other is
    /// NaN.
    fn distance(self, other: Self) -> Self;
}

impl Raised for f32 {
    /// `2^(y log2(x))` in double precision, so that the result is rounded once.
    #[inline(always)]
    fn raised(self, exponent: f32) -> f32 {
        let magnitude = power_of_two(f64::from(exponent) * logarithm(f64::from(self.abs()))) as f32;
        signed(self, exponent, magnitude)
    }

    #[inline(always)]
    fn distance(self, other: f32) -> f32 {
        let (x, y) = (f64::from(self), f64::from(other));
        let distance = x.mul_add(x, y * y).sqrt() as f32;
        if self.is_infinite() || other.is_infinite() { f32::INFINITY } else { distance }
    }
}

impl Raised for f64 {
    /// `exp(y log(x))`, of a logarithm in two parts, so that its error is not multiplied by a large exponent.
    #[inline(always)]
    fn raised(self, exponent: f64) -> f64 {
        let [high, low] = logarithm_in_parts(self.abs());
        let product = exponent * high;
        let rest = exponent.mul_add(high, -product) + exponent * low;
        let is_usual = product.abs() < 800.0; // beyond this the power is 0 or infinite
        let magnitude = Power::<f64, _>::of(product).scaling(1.0, if is_usual { rest } else { 0.0 });
        let power = signed(self, exponent, magnitude);
        if exponent == 2.0 { self * self } else { power }
    }

    #[inline(always)]
    fn distance(self, other: f64) -> f64 {
        const LARGE: f64 = f64::from_bits(1531 << 52); // 2^508
        const SCALE: f64 = f64::from_bits(1623 << 52); // 2^600
        // Scaled coordinates neither overflow nor underflow when they are squared.
        let larger = self.abs().max(other.abs());
        let (scale, inverse) = match (larger > LARGE, larger < 1.0 / LARGE) {
            (true, _) => (1.0 / SCALE, SCALE),
            (_, true) => (SCALE, 1.0 / SCALE),
            (false, false) => (1.0, 1.0),
        };
        let (x, y) = (self * scale, other * scale);
        let distance = x.mul_add(x, y * y).sqrt() * inverse;
        if larger == f64::INFINITY { larger } else { distance }
    }
}

/// The logarithm to base 2 of a magnitude, to a relative precision of 2^-37.
#[inline(always)]
fn logarithm(x: f64) -> f64 {
    const ROOT: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    let shifted = x.to_bits().wrapping_sub(ROOT);
    let whole = f64::from_bits(ROUNDER.to_bits().wrapping_add((shifted as i64 >> 52) as u64)) - ROUNDER;
    let mantissa = f64::from_bits((shifted & ((1 << 52) - 1)) + ROOT);
    let quotient = (mantissa - 1.0) / (mantissa + 1.0);
    let coefficients = [
        3.407_301_190_157_154e-1,
        4.116_727_169_235_864e-1,
        5.770_835_850_387_239e-1,
        9.617_966_733_410_208e-1,
        2.885_390_081_790_087_7,
    ];
    let value = polynomial(quotient * quotient, coefficients).mul_add(quotient, whole);
    match (x == 0.0, x < f64::INFINITY) {
        (true, _) => f64::NEG_INFINITY,
        (false, true) => value,
        (false, false) => x, // infinity or NaN
    }
}

/// The power of a base, from that of its magnitude: its sign, one where the exponent or the base says so, and NaN where
/// there is none.
#[inline(always)]
fn signed<T: Float>(base: T, exponent: T, magnitude: T) -> T {
    let is_one = exponent == T::zero() || base == T::one() || base == -T::one() && exponent.is_infinite();
    let is_whole = exponent.trunc() == exponent;
    let half = exponent / (T::one() + T::one());
    let is_odd = is_whole && half.trunc() != half;
    let has_power = is_whole || base >= T::zero() || base.is_infinite();
    let power = if is_odd { magnitude.copysign(base) } else { magnitude };
    match (is_one, has_power) {
        (true, _) => T::one(),
        (false, true) => power,
        (false, false) => T::nan(),
    }
}

/// The natural logarithm of a magnitude as a sum of two numbers, to a relative precision of 2^-64.
///
/// `log(2^k z) = k log(2) + 2 artanh(s)` with `s = (z - 1) / (z + 1)` and `z` from the root of one half to that of two.
/// The terms of the series in `s²` that weigh most are in two parts as well.
#[inline(always)]
fn logarithm_in_parts(x: f64) -> [f64; 2] {
    const ROOT: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const TWO_TO_54: f64 = (1u64 << 54) as f64;
    const LN_2: [f64; 2] = [std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17];
    const THIRD: [f64; 2] = [1.0 / 3.0, 1.850_371_707_708_594e-17];
    let is_subnormal = x < f64::MIN_POSITIVE;
    let (normal, scaled) = if is_subnormal { (x * TWO_TO_54, 54.0) } else { (x, 0.0) };
    let shifted = normal.to_bits().wrapping_sub(ROOT);
    let whole =
        f64::from_bits(ROUNDER.to_bits().wrapping_add((shifted as i64 >> 52) as u64)) - ROUNDER - scaled;
    let mantissa = f64::from_bits((shifted & ((1 << 52) - 1)) + ROOT);
    let above = mantissa - 1.0; // exact
    let [sum, sum_rest] = exact_sum(1.0, mantissa);
    let inverse = 1.0 / sum;
    let s = above * inverse;
    let s_rest = (-s).mul_add(sum_rest, (-s).mul_add(sum, above)) * inverse;
    let square = s * s;
    let square_rest = s.mul_add(s, -square) + 2.0 * s * s_rest;
    let coefficients = const {
        let (mut coefficients, mut k) = ([0.0; 11], 0);
        while k < 11 {
            coefficients[k] = 1.0 / (25 - 2 * k) as f64;
            k += 1;
        }
        coefficients
    };
    let [series, series_rest] = exact_sum(THIRD[0], square * polynomial(square, coefficients));
    let series_rest = series_rest + THIRD[1];
    let factor = square * series;
    let factor_rest = square.mul_add(series, -factor) + square.mul_add(series_rest, square_rest * series);
    let term = s * factor;
    let term_rest = s.mul_add(factor, -term) + s.mul_add(factor_rest, s_rest * factor);
    let [artanh, artanh_rest] = exact_sum(s, term);
    let artanh_rest = artanh_rest + (s_rest + term_rest);
    let power = whole * LN_2[0];
    let power_rest = whole.mul_add(LN_2[0], -power) + whole * LN_2[1];
    let [high, low] = exact_sum(power, 2.0 * artanh);
    let low = low + (power_rest + 2.0 * artanh_rest);
    match (x == 0.0, x < f64::INFINITY) {
        (true, _) => [f64::NEG_INFINITY, 0.0],
        (false, true) => [high, low],
        (false, false) => [x, 0.0], // infinity or NaN
    }
}

/// A sum, and its rounding error: exact if `a` is the larger one, or zero.
#[inline(always)]
fn exact_sum(a: f64, b: f64) -> [f64; 2] {
    let sum = a + b;
    [sum, (a - sum) + b]
}

/// Two to the power of a number, to a relative precision of 2^-34; 0 or infinite where an `f32` would be, after
/// rounding to one.
#[inline(always)]
fn power_of_two(x: f64) -> f64 {
    let x = x.clamp(-300.0, 300.0);
    let rounded = x + ROUNDER;
    let coefficients = [
        1.519_557_751_281_569_7e-5,
        1.546_923_648_171_627_3e-4,
        1.333_395_008_350_802_3e-3,
        9.618_027_457_966_801e-3,
        5.550_410_319_487_919_5e-2,
        2.402_265_119_625_284_2e-1,
        6.931_471_807_388_32e-1,
        9.999_999_999_619_436e-1,
    ];
    let power = f64::from_bits(rounded.to_bits().wrapping_sub(ROUNDER.to_bits()).wrapping_add(1023) << 52);
    polynomial(x - (rounded - ROUNDER), coefficients) * power
}

/// 1.5 · 2^52: adding it rounds a number to an integer, and leaves that in the lowest bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

#[cfg(test)]
mod tests {
    use super::super::errors::{units, units_double, worse};
    use super::*;

    const VALUES: [f32; 19] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        -2.5,
        1e-45,
        3e38,
        16_777_217.0,
        16_777_219.0,
        -8_388_609.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];

    #[test]
    fn powers_are_rounded_well() {
        let mut worst = 0f64;
        for i in 0..1000 {
            let x = f32::from_bits((f32::MAX.to_bits() / 1000) * i);
            for k in 0..300 {
                let y = (k - 150) as f32 * 0.37;
                for x in [x, 0.5 + i as f32 * 1e-3] {
                    worst = worse(worst, units(x.raised(y), f64::from(x).powf(f64::from(y))));
                }
            }
        }
        assert!(worst < 0.6, "{worst}");
    }

    #[test]
    fn powers_of_doubles_are_rounded_well() {
        let mut worst = 0f64;
        for i in 1..3000 {
            let x = f64::from_bits((f64::MAX.to_bits() / 3000) * i);
            let near = 0.5 + f64::from(i as u32) * 5.3e-4;
            for k in 0..200 {
                let (small, large) = (f64::from(k - 100) * 0.037, f64::from(k - 100) * 7.1);
                for (x, y) in [(x, small), (near, small), (near, large), (1.0 + 1e-4 * near, large * 1e3)] {
                    worst = worse(worst, units_double(x.raised(y), x.powf(y)));
                }
            }
        }
        assert!(worst <= 1.0, "{worst}");
    }

    #[test]
    fn special_powers_of_doubles_are_those_of_the_standard_library() {
        let large = [1e308, 5e-324, 1e-310, 9_007_199_254_740_993.0, 9_007_199_254_740_994.0, 1e300, -1e300];
        let values = VALUES.iter().map(|x| f64::from(*x)).chain(large).collect::<Vec<_>>();
        for x in &values {
            for y in &values {
                let (got, want) = (x.raised(*y), x.powf(*y));
                let are_alike =
                    got.is_nan() && want.is_nan() || got.is_sign_negative() == want.is_sign_negative();
                let is_close = got == want || got.is_nan() || units_double(got, want) <= 1.0;
                assert!(are_alike && is_close, "{x} to the power of {y}: {got}, expected {want}");
            }
        }
    }

    #[test]
    fn special_powers_are_those_of_the_standard_library() {
        for x in VALUES {
            for y in VALUES {
                let (got, want) = (x.raised(y), x.powf(y));
                let are_alike = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
                assert!(are_alike, "{x} to the power of {y}: {got}, expected {want}");
            }
        }
    }

    #[test]
    fn distances_are_those_of_the_standard_library() {
        for x in VALUES {
            for y in VALUES {
                assert_eq!(units(x.distance(y), f64::from(x).hypot(f64::from(y))), 0.0, "{x} and {y}");
                for scale in [1.0, 1e200, 1e-200, 3e269, 1e-250] {
                    let (x, y) = (f64::from(x) * scale, f64::from(y) * scale);
                    assert!(units_double(x.distance(y), x.hypot(y)) < 2.0, "{x} and {y}");
                }
            }
        }
    }
}
