//! The inverses of sines, cosines and tangents, without branches.

use num_complex::Complex;

use super::complex::{self, Wide};
use super::polynomial;

/// The inverse trigonometric functions.
pub trait Inverse {
    fn arcsine(self) -> Self;

    fn arccosine(self) -> Self;

    fn arctangent(self) -> Self;
}

/// A coordinate of a point.
pub trait Coordinate {
    /// `atan2(self, x)`: the angle from the positive x-axis to the point `(x, self)`, from -π to π, with C's
    /// conventions for signed zeros.
    fn angle(self, x: Self) -> Self;
}

macro_rules! inverse {
    ($module:ident $ty:ident, $rest_of_quarter:literal, $tangent:expr, $sine:expr) => {
        mod $module {
            use super::polynomial;

            /// `quarters` quarter turns plus an angle, which is given as an unevaluated sum of two numbers.
            #[inline(always)]
            fn turned(quarters: $ty, [angle, rest]: [$ty; 2]) -> $ty {
                let turn = quarters * std::$ty::consts::FRAC_PI_2;
                let sum = turn + angle;
                let lost = (turn - sum) + angle;
                sum + (quarters.mul_add($rest_of_quarter, rest) + lost)
            }

            /// A polynomial gives the arctangent of the smaller coordinate over the larger. In two of the eight octants
            /// that is the angle; in the others it is added to or subtracted from whole quarter turns.
            #[inline(always)]
            pub(super) fn angle(y: $ty, x: $ty) -> $ty {
                let (a, b) = (y.abs(), x.abs());
                let is_steep = a > b;
                let (smaller, larger) = if is_steep { (b, a) } else { (a, b) };
                let tangent = match (smaller == larger, larger == 0.0) {
                    (true, true) => 0.0,
                    (true, false) => 1.0, // also for two infinities
                    (false, _) => smaller / larger,
                };
                let is_behind = x.is_sign_negative();
                let tangent = if is_steep == is_behind { tangent } else { -tangent };
                let square = tangent * tangent;
                let quarters = match (is_steep, is_behind) {
                    (true, _) => 1.0,
                    (false, true) => 2.0,
                    (false, false) => 0.0,
                };
                turned(quarters, [tangent, polynomial(square, $tangent) * square * tangent]).copysign(y)
            }

            /// Whether a sine is beyond ½ in magnitude, and the angle of its magnitude as an unevaluated sum of two
            /// numbers; beyond ½, a quarter turn minus that angle.
            ///
            /// The latter is twice the angle whose sine is `√((1 - |x|) / 2)`; the rounding error of that root is added
            /// back.
            #[inline(always)]
            fn angle_of_sine(x: $ty) -> (bool, [$ty; 2]) {
                let x = x.abs();
                let is_far = x > 0.5;
                let square = if is_far { (1.0 - x) * 0.5 } else { x * x };
                let root = square.sqrt();
                let lost = (-root).mul_add(root, square) / (2.0 * root).max($ty::MIN_POSITIVE);
                let (sine, lost) = if is_far { (2.0 * root, 2.0 * lost) } else { (x, 0.0) };
                (is_far, [sine, (polynomial(square, $sine) * square).mul_add(sine, lost)])
            }

            #[inline(always)]
            pub(super) fn arcsine(x: $ty) -> $ty {
                let (is_far, angle) = angle_of_sine(x);
                let (quarters, angle) = if is_far { (1.0, [-angle[0], -angle[1]]) } else { (0.0, angle) };
                turned(quarters, angle).copysign(x)
            }

            #[inline(always)]
            pub(super) fn arccosine(x: $ty) -> $ty {
                let (is_far, angle) = angle_of_sine(x);
                let quarters = match (is_far, x < 0.0) {
                    (false, _) => 1.0,
                    (true, true) => 2.0,
                    (true, false) => 0.0,
                };
                let is_less = is_far == (x < 0.0);
                turned(quarters, if is_less { [-angle[0], -angle[1]] } else { angle })
            }
        }

        impl Coordinate for $ty {
            #[inline(always)]
            fn angle(self, x: $ty) -> $ty {
                $module::angle(self, x)
            }
        }

        impl Inverse for $ty {
            #[inline(always)]
            fn arcsine(self) -> $ty {
                $module::arcsine(self)
            }

            #[inline(always)]
            fn arccosine(self) -> $ty {
                $module::arccosine(self)
            }

            #[inline(always)]
            fn arctangent(self) -> $ty {
                $module::angle(self, 1.0)
            }
        }
    };
}

// Coefficients with the smallest relative error, found by the Remez algorithm: for `(atan(√z) / √z - 1) / z` up to 1,
// and for `(asin(√z) / √z - 1) / z` up to ¼.
inverse! {
    single f32, -4.371_139e-8,
    [
        -1.782_386_3e-3,
        1.086_721_8e-2,
        -3.109_503e-2,
        5.788_009e-2,
        -8.399_261_5e-2,
        1.095_087_3e-1,
        -1.426_401_6e-1,
        1.999_853e-1,
        -3.333_33e-1,
    ],
    [4.215_832_4e-2, 2.418_476_7e-2, 4.546_915e-2, 7.495_309_4e-2, 1.666_675_2e-1]
}

inverse! {
    double f64, 6.123_233_995_736_766e-17,
    [
        1.326_952_815_256_842_5e-5,
        -1.525_980_104_679_052e-4,
        8.333_075_094_976_949e-4,
        -2.890_445_256_146_688_2e-3,
        7.207_047_233_456_873e-3,
        -1.391_517_278_114_444_4e-2,
        2.200_006_483_511_596_2e-2,
        -2.991_598_916_144_220_4e-2,
        3.664_940_205_918_046e-2,
        -4.219_538_688_248_397e-2,
        4.722_456_370_571_983e-2,
        -5.253_557_151_519_195e-2,
        5.880_536_279_571_995e-2,
        -6.666_405_446_363_571e-2,
        7.692_280_005_155_144e-2,
        -9.090_907_016_852_114e-2,
        1.111_111_100_779_037_8e-1,
        -1.428_571_428_260_044_2e-1,
        1.999_999_999_995_188_7e-1,
        -3.333_333_333_333_307e-1,
    ],
    [
        3.191_415_273_334_466e-2,
        -1.622_693_411_475_238_7e-2,
        1.952_993_272_299_292e-2,
        6.527_380_389_016_609e-3,
        1.216_934_609_624_723_7e-2,
        1.388_521_540_295_013_6e-2,
        1.735_970_675_998_463_7e-2,
        2.237_175_791_971_446e-2,
        3.038_195_914_237_115_3e-2,
        4.464_285_682_819_879e-2,
        7.500_000_000_337_165e-2,
        1.666_666_666_666_540_8e-1,
    ]
}

macro_rules! of_complex {
    ($($ty:ty)+) => { $(
        impl Inverse for Complex<$ty> {
            #[inline]
            fn arcsine(self) -> Self {
                Self::narrow(complex::asin(self.wide()))
            }

            #[inline]
            fn arccosine(self) -> Self {
                Self::narrow(complex::acos(self.wide()))
            }

            #[inline]
            fn arctangent(self) -> Self {
                Self::narrow(complex::atan(self.wide()))
            }
        }
    )+ };
}

of_complex!(f32 f64);

#[cfg(test)]
mod tests {
    use super::super::errors::{largest, largest_double, units, units_double, worse};
    use super::*;

    #[test]
    fn angles_are_within_two_units_of_the_last_place() {
        for (name, error) in [
            ("asin", largest(f32::arcsine, f64::asin)),
            ("acos", largest(f32::arccosine, f64::acos)),
            ("atan", largest(f32::arctangent, f64::atan)),
            ("double asin", largest_double(f64::arcsine, f64::asin)),
            ("double acos", largest_double(f64::arccosine, f64::acos)),
            ("double atan", largest_double(f64::arctangent, f64::atan)),
        ] {
            assert!(error < 2.0, "{name}: {error}");
        }
    }

    #[test]
    fn angles_of_points_are_within_two_units_of_the_last_place() {
        let mut worst = [0f64; 2];
        for turn in 0..200_000 {
            let (y, x) = f64::from(turn).sin_cos();
            let far = 2f64.powi(turn % 60 - 30);
            let (y, x) = (y * far, x / far);
            let (y32, x32) = (y as f32, x as f32);
            worst[0] = worse(worst[0], units(y32.angle(x32), f64::from(y32).atan2(f64::from(x32))));
            worst[1] = worse(worst[1], units_double(y.angle(x), y.atan2(x)));
        }
        assert!(worst.iter().all(|error| *error < 2.0), "{worst:?}");
    }

    /// The functions are as precise as the standard library's, and zeros have the same signs.
    #[test]
    fn special_points_have_the_angles_of_the_standard_library() {
        let values = [0.0, -0.0, 1.0, -1.0, 1e-45, -3e38, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
        for y in values {
            for x in values {
                let (got, want) = (y.angle(x), y.atan2(x));
                let are_alike = got.to_bits().abs_diff(want.to_bits()) < 2 || got.is_nan() && want.is_nan();
                assert!(are_alike, "{y} {x}: {got}, expected {want}");
                let (y, x) = (f64::from(y), f64::from(x));
                let (got, want) = (y.angle(x), y.atan2(x));
                let are_alike = got.to_bits().abs_diff(want.to_bits()) < 2 || got.is_nan() && want.is_nan();
                assert!(are_alike, "{y} {x}: {got}, expected {want}");
            }
        }
    }

    #[test]
    fn there_is_no_angle_beyond_one() {
        for x in [1.000_001, -1.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert!(x.arcsine().is_nan() && x.arccosine().is_nan());
            assert!(f64::from(x).arcsine().is_nan() && f64::from(x).arccosine().is_nan());
        }
        assert_eq!(
            [1f32.arccosine(), (-0f32).arcsine(), (-0f32).arctangent()].map(f32::to_bits),
            [0, 1 << 31, 1 << 31]
        );
        assert_eq!(f32::INFINITY.arctangent(), std::f32::consts::FRAC_PI_2);
    }
}
