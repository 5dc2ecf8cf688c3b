//! The error function, its complement and its inverse, without branches.

use super::exponential::Power;
use super::{Functions, polynomial};

/// The error function and its relatives, for real numbers only.
pub trait ErrorFunction {
    /// `erf(self)`.
    fn error_function(self) -> Self;

    /// `1 - erf(self)`, precise also where it is small.
    fn complementary_error_function(self) -> Self;

    /// `erfinv(self)`: the argument for which the error function is `self`.
    fn inverse_error_function(self) -> Self;
}

macro_rules! complement {
    ($name:ident $scaled:ident $ty:ident, $factor:expr) => {
        /// `exp(x²) erfc(x)` for `x` from 0 to 30, and a relative correction to it: a polynomial in `(x - 3) / (x +
        /// 3)`, which varies little, divided by `x + 3`.
        #[inline(always)]
        pub(super) fn $scaled(x: $ty) -> [$ty; 2] {
            let inverse = 1.0 / (x + 3.0);
            let quotient = (x - 3.0) * inverse;
            // The rounding errors of `inverse`, relative to it, and of `quotient`.
            let excess = (-inverse).mul_add(x, (-inverse).mul_add(3.0, 1.0));
            let rest = (-quotient).mul_add(x, (quotient + 1.0).mul_add(-3.0, x));
            [polynomial(inverse.mul_add(rest, quotient), $factor) * inverse, excess]
        }

        /// `erfc(x)` for non-negative `x`.
        #[inline(always)]
        fn $name(x: $ty) -> $ty {
            let x = x.min(30.0); // the result is 0 beyond this
            let [factor, excess] = $scaled(x);
            let square = x * x;
            Power::<$ty, _>::of(-square).scaling(factor, excess - x.mul_add(x, -square))
        }
    };
}

/// A least-squares fit to the relative error, in which each coefficient is fitted after those before it were rounded.
pub(super) const FACTOR_OF_SINGLE: [f32; 10] = [
    -3.226_104_6e-4,
    -4.789_379e-4,
    3.078_521_2e-3,
    -1.230_822_3e-3,
    -2.683_948e-2,
    1.195_306_6e-1,
    -3.104_660_5e-1,
    5.902_281e-1,
    -8.833_945e-1,
    1.074_006_9,
];

complement! { complement_of_single scaled_single f32, FACTOR_OF_SINGLE }

complement! { complement_of_double scaled_double f64, [-1.448_831_516_518_006_2e-9, -5.983_880_909_666_312e-9,
2.184_191_631_086_622_6e-9, 4.744_816_795_038_494e-8, 4.000_236_287_227_248e-8,
    -2.311_941_892_246_146_6e-7, -4.017_940_690_303_530_5e-7, 9.978_725_646_092_348e-7,
        2.761_540_143_031_214e-6, -4.748_966_888_534_443e-6, -1.746_902_037_608_544_7e-5,
            3.039_813_224_517_669_6e-5, 1.075_610_827_155_475_3e-4, -2.767_778_467_743_464e-4,
                -5.483_096_240_711_89e-4, 3.034_062_001_754_118_2e-3, -1.212_416_634_171_931e-3,
                    -2.682_723_462_453_257e-2, 1.195_277_612_876_926_9e-1, -3.104_672_619_005_659e-1,
                        5.902_283_571_040_909e-1, -8.833_944_531_698_836e-1, 1.074_006_907_088_339_8] }

impl ErrorFunction for f32 {
    /// A quotient of polynomials, within a few units of the last place. Beyond 4 it is 1.
    #[inline(always)]
    fn error_function(self) -> f32 {
        let x = self.clamp(-3.832_507, 3.832_507);
        let square = x * x;
        let p = polynomial(
            square,
            [2.290_506_6e-4, 3.408_291e-3, 5.095_569_5e-2, 1.852_083_2e-1, std::f32::consts::FRAC_2_SQRT_PI],
        );
        let q = polynomial(
            square,
            [
                -1.179_160_3e-7,
                2.354_796_6e-5,
                1.017_962_5e-3,
                1.407_047e-2,
                1.109_850_5e-1,
                4.974_692_5e-1,
                1.0,
            ],
        );
        (x * p / q).clamp(-1.0, 1.0)
    }

    #[inline(always)]
    fn complementary_error_function(self) -> f32 {
        let complement = complement_of_single(self.abs());
        let value = if self < 0.0 { 2.0 - complement } else { complement };
        if self.is_nan() { self } else { value } // `min` drops NaN
    }

    /// Polynomials in `-ln(1 - x²)` or, near 1, in its square root, as in M. Giles, "Approximating the erfinv function"
    /// (2010).
    #[inline(always)]
    fn inverse_error_function(self) -> f32 {
        let w = -(-self).mul_add(self, 1.0).natural_logarithm();
        let coefficients = [
            2.791_239_8e-8,
            3.431_117_4e-7,
            -3.521_113_3e-6,
            -4.390_094e-6,
            2.185_718_8e-4,
            -1.253_728_2e-3,
            -4.177_668_6e-3,
            2.466_407_4e-1,
            1.501_409_4,
        ];
        let centre = polynomial(w - 2.5, coefficients);
        let coefficients = [
            -2.074_920_9e-4,
            1.032_919_75e-4,
            1.361_927_8e-3,
            -3.675_974_4e-3,
            5.732_052_5e-3,
            -7.621_727e-3,
            9.440_537e-3,
            1.001_674,
            2.832_976_8,
        ];
        let tail = polynomial(w.sqrt() - 3.0, coefficients);
        let value = self * if w < 5.0 { centre } else { tail };
        if self.abs() == 1.0 { self * f32::INFINITY } else { value }
    }
}

/// The error function for arguments up to 1 in magnitude.
#[inline(always)]
fn double_near_zero(x: f64) -> f64 {
    let coefficients = [
        -5.106_587_340_954_661e-11,
        -4.696_889_578_740_861e-10,
        1.289_640_284_598_283e-8,
        -1.608_257_641_646_504_8e-7,
        1.643_520_262_046_453_2e-6,
        -1.492_395_203_806_752_3e-5,
        1.205_526_122_007_455_9e-4,
        -8.548_325_021_657_61e-4,
        5.223_977_589_953_211e-3,
        -2.686_617_064_140_957e-2,
        1.128_379_167_093_490_5e-1,
        -3.761_263_890_318_332e-1,
    ];
    let square = x * x;
    x.mul_add(std::f64::consts::FRAC_2_SQRT_PI, polynomial(square, coefficients) * square * x)
}

impl ErrorFunction for f64 {
    #[inline(always)]
    fn error_function(self) -> f64 {
        let far = 1.0 - complement_of_double(self.abs());
        (if self.abs() > 1.0 { far } else { double_near_zero(self) }).copysign(self) // zeros keep their sign
    }

    #[inline(always)]
    fn complementary_error_function(self) -> f64 {
        let complement = complement_of_double(self.abs());
        let far = if self < 0.0 { 2.0 - complement } else { complement };
        if self.abs() > 0.5 { far } else { 1.0 - double_near_zero(self) }
    }

    /// M. Wichura's rational approximations for quantiles of the normal distribution (AS 241, 1988).
    #[inline(always)]
    fn inverse_error_function(self) -> f64 {
        let centre = both((-0.25 * self).mul_add(self, 0.180_625), CENTRE);
        let root = (-(0.5 * (1.0 - self.abs())).natural_logarithm()).sqrt();
        let (side, tail) = (both(root - 1.6, SIDE), both(root - 5.0, TAIL));
        let is_central = self.abs() <= 0.85;
        let [above, below] = match (is_central, root <= 5.0) {
            (true, _) => centre,
            (false, true) => side,
            (false, false) => tail,
        };
        let factor = if is_central { 0.5 * self } else { 1f64.copysign(self) };
        let value = factor * std::f64::consts::FRAC_1_SQRT_2 * above / below;
        if self.abs() == 1.0 { self * f64::INFINITY } else { value }
    }
}

/// Numerator and denominator for probabilities in the centre, where the error function is at most 0.85.
pub(super) const CENTRE: [[f64; 8]; 2] = [
    [
        2.509_080_928_730_122_7e3,
        3.343_057_558_358_813e4,
        6.726_577_092_700_87e4,
        4.592_195_393_154_987e4,
        1.373_169_376_550_946e4,
        1.971_590_950_306_551_3e3,
        1.331_416_678_917_843_8e2,
        3.387_132_872_796_366_5,
    ],
    [
        5.226_495_278_852_854e3,
        2.872_908_573_572_194_3e4,
        3.930_789_580_009_271e4,
        2.121_379_430_158_659_7e4,
        5.394_196_021_424_751e3,
        6.871_870_074_920_579e2,
        4.231_333_070_160_091e1,
        1.0,
    ],
];

/// Numerator and denominator for probabilities further out.
pub(super) const SIDE: [[f64; 8]; 2] = [
    [
        7.745_450_142_783_414e-4,
        2.272_384_498_926_918_4e-2,
        2.417_807_251_774_506e-1,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    [
        1.050_750_071_644_416_9e-9,
        5.475_938_084_995_345e-4,
        1.519_866_656_361_645_7e-2,
        1.481_039_764_274_800_8e-1,
        6.897_673_349_851e-1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
];

/// Numerator and denominator for probabilities near 0 and 1.
pub(super) const TAIL: [[f64; 8]; 2] = [
    [
        2.010_334_399_292_288_1e-7,
        2.711_555_568_743_487_6e-5,
        1.242_660_947_388_078_4e-3,
        2.653_218_952_657_612_4e-2,
        2.965_605_718_285_048_7e-1,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    [
        2.044_263_103_389_939_8e-15,
        1.421_511_758_316_446e-7,
        1.846_318_317_510_054_8e-5,
        7.868_691_311_456_133e-4,
        1.487_536_129_085_061_5e-2,
        1.369_298_809_227_358e-1,
        5.998_322_065_558_879e-1,
        1.0,
    ],
];

/// The values of two polynomials.
#[inline(always)]
pub(super) fn both(x: f64, [above, below]: [[f64; 8]; 2]) -> [f64; 2] {
    [polynomial(x, above), polynomial(x, below)]
}

#[cfg(test)]
mod tests {
    use super::super::errors::{largest, largest_double, units, units_double, worse};
    use super::*;

    #[test]
    fn error_functions_are_within_a_few_units_of_the_last_place() {
        for (name, error, most) in [
            ("erf", largest(f32::error_function, libm::erf), 5.0),
            ("erfc", largest(f32::complementary_error_function, libm::erfc), 3.0),
            ("double erf", largest_double(f64::error_function, libm::erf), 3.0),
            ("double erfc", largest_double(f64::complementary_error_function, libm::erfc), 4.0),
        ] {
            assert!(error <= most, "{name}: {error}");
        }
    }

    /// The error of `x` as the inverse of `y`: the error function's difference from `y`, divided by its slope.
    fn off(y: f64, x: f64) -> f64 {
        let error = match y {
            -0.5..=0.5 => libm::erf(x) - y,
            _ if y > 0.0 => (1.0 - y) - libm::erfc(x),
            _ => libm::erfc(-x) - (1.0 + y),
        };
        error / (std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp())
    }

    #[test]
    fn inverses_are_within_a_few_units_of_the_last_place() {
        let mut worst = [0f64; 2];
        let near_one = (0..24).flat_map(|n| (1..2000).map(move |k| 1.0 - f64::from(k) * 2f64.powi(-n - 12)));
        let near_zero = (1..30).map(|n| 10f64.powi(-n));
        let usual = (-9999..10_000).map(|k| f64::from(k) * 1e-4);
        for y in near_one.chain(near_zero).chain(usual).flat_map(|y| [y, -y]) {
            let single = y as f32;
            if y.abs() >= 1.0 || single.abs() >= 1.0 {
                continue;
            }
            let x = y.inverse_error_function();
            worst[1] = worse(worst[1], units_double(x, x - off(y, x)));
            let y = f64::from(single);
            let x = y.inverse_error_function();
            worst[0] = worse(worst[0], units(single.inverse_error_function(), x - off(y, x)));
        }
        assert!(worst[0] < 4.0 && worst[1] < 6.0, "{worst:?}"); // including the errors of the reference
    }

    #[test]
    fn the_ends_are_exact() {
        const INFINITY: f32 = f32::INFINITY;
        assert_eq!(
            [INFINITY, -INFINITY, 0.0, 11.0, -6.0].map(f32::complementary_error_function),
            [0.0, 2.0, 1.0, 0.0, 2.0]
        );
        assert_eq!(
            [INFINITY, -INFINITY, 0.0].map(|x| f64::from(x).complementary_error_function()),
            [0.0, 2.0, 1.0]
        );
        assert_eq!([INFINITY, -INFINITY, 7.0].map(|x| f64::from(x).error_function()), [1.0, -1.0, 1.0]);
        assert_eq!((-0f64).error_function().to_bits(), 1 << 63);
        assert_eq!([1.0, -1.0].map(f32::inverse_error_function), [INFINITY, -INFINITY]);
        assert_eq!([1.0, -1.0].map(f64::inverse_error_function), [f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!((-0f32).inverse_error_function().to_bits(), 1 << 31);
        for x in [1.5, -2.0, INFINITY, f32::NAN] {
            assert!(x.inverse_error_function().is_nan() && f64::from(x).inverse_error_function().is_nan());
        }
        assert!(
            f32::NAN.complementary_error_function().is_nan()
                && f64::NAN.complementary_error_function().is_nan()
        );
        assert!(f64::NAN.error_function().is_nan());
    }
}
