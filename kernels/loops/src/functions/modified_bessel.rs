//! The modified Bessel functions I and K of order 0 and 1: Chebyshev series, one near zero and one further out, of the
//! function with its exponential growth divided out.

use super::Functions;

/// The modified Bessel functions I and K of order 0 and 1, without branches.
pub trait ModifiedBessel {
    /// `I0(self)`; NaN at infinity, where an infinite exponential is multiplied by a scaled value of zero.
    fn i0(self) -> Self;

    /// `I1(self)`, with the same NaN.
    fn i1(self) -> Self;

    /// `exp(-|self|) I0(self)`.
    fn scaled_i0(self) -> Self;

    /// `exp(-|self|) I1(self)`.
    fn scaled_i1(self) -> Self;

    /// `K0(self)`; NaN below zero.
    fn k0(self) -> Self;

    /// `K1(self)`; NaN below zero.
    fn k1(self) -> Self;

    /// `exp(self) K0(self)`.
    fn scaled_k0(self) -> Self;

    /// `exp(self) K1(self)`.
    fn scaled_k1(self) -> Self;
}

/// The series that a type needs. Both types compute in double precision, but for `f32` the terms are left out that are
/// smaller than its rounding errors.
trait Terms {
    /// Of `I` near zero and further out, for either order.
    const I: [[&'static [f64]; 2]; 2];
    /// Likewise of `K`.
    const K: [[&'static [f64]; 2]; 2];
}

impl Terms for f32 {
    const I: [[&'static [f64]; 2]; 2] =
        [[I0_NEAR.split_at(11).1, I0_FAR.split_at(18).1], [I1_NEAR.split_at(11).1, I1_FAR.split_at(18).1]];
    const K: [[&'static [f64]; 2]; 2] =
        [[K0_NEAR.split_at(4).1, K0_FAR.split_at(14).1], [K1_NEAR.split_at(4).1, K1_FAR.split_at(14).1]];
}

impl Terms for f64 {
    const I: [[&'static [f64]; 2]; 2] = [[&I0_NEAR, &I0_FAR], [&I1_NEAR, &I1_FAR]];
    const K: [[&'static [f64]; 2]; 2] = [[&K0_NEAR, &K0_FAR], [&K1_NEAR, &K1_FAR]];
}

macro_rules! modified {
    ($ty:ident: $($name:ident => |$x:ident| $value:expr;)+) => {
        impl ModifiedBessel for $ty {
            $(
                #[inline(always)]
                fn $name(self) -> $ty {
                    let $x = f64::from(self);
                    $value as $ty
                }
            )+
        }
    };
    ($($ty:ident)+) => { $(
        modified! { $ty:
            i0 => |x| x.abs().exponential() * scaled_i0(x, $ty::I[0]);
            i1 => |x| x.abs().exponential() * scaled_i1(x, $ty::I[1]);
            scaled_i0 => |x| scaled_i0(x, $ty::I[0]);
            scaled_i1 => |x| scaled_i1(x, $ty::I[1]);
            k0 => |x| k::<0, $ty>(x);
            k1 => |x| k::<1, $ty>(x);
            scaled_k0 => |x| scaled_k::<0, $ty>(x);
            scaled_k1 => |x| scaled_k::<1, $ty>(x);
        }
    )+ };
}

modified! { f32 f64 }

/// The sum of a Chebyshev series by Clenshaw's recurrence, with the coefficient of the highest degree first.
///
/// The even and the odd degrees are summed apart, as series in `2x² - 1`, since the processor can then do both at once.
#[inline(always)]
fn series(x: f64, coefficients: &[f64]) -> f64 {
    let y = 2.0 * x * x - 1.0;
    let (highest, pairs) = coefficients.split_at(coefficients.len() % 2);
    let (mut even, mut odd) = ([highest.first().copied().unwrap_or(0.0), 0.0], [0.0; 2]);
    for pair in pairs.as_chunks::<2>().0 {
        odd = [(2.0 * y).mul_add(odd[0], pair[0] - odd[1]), odd[0]];
        even = [(2.0 * y).mul_add(even[0], pair[1] - even[1]), even[0]];
    }
    (even[0] - y * even[1]) + x * (odd[0] - odd[1])
}

/// The sum of a series up to 8, and of another one further out.
#[inline(always)]
fn sum(size: f64, [near, far]: [&[f64]; 2]) -> [f64; 2] {
    [series(size / 4.0 - 1.0, near), series(16.0 / size - 1.0, far) / size.sqrt()]
}

#[inline(always)]
fn scaled_i0(x: f64, terms: [&[f64]; 2]) -> f64 {
    let size = x.abs();
    let [near, far] = sum(size, terms);
    let value = if size <= 8.0 { near } else { far };
    if size == 0.0 { 1.0 } else { value } // exactly
}

#[inline(always)]
fn scaled_i1(x: f64, terms: [&[f64]; 2]) -> f64 {
    let size = x.abs();
    let [near, far] = sum(size, terms);
    let value = if size <= 8.0 { near * size } else { far };
    if x < 0.0 { -value } else { value }
}

/// `K0(x)` or `K1(x)`, as it is up to 2 and, without its decay, beyond; NaN below zero.
#[inline(always)]
fn decaying<const ORDER: usize, T: Terms>(x: f64) -> [f64; 2] {
    let ([near, far], growing) = (T::K[ORDER], T::I[ORDER][0]);
    let regular = series(0.5 * x * x - 1.0, near);
    let growing = x.exponential() * series(x / 4.0 - 1.0, growing);
    let logarithm = (0.5 * x).natural_logarithm() * growing;
    let value = if ORDER == 0 { regular - logarithm } else { regular / x + logarithm * x };
    [if x == 0.0 { f64::INFINITY } else { value }, series(4.0 / x - 1.0, far) / x.sqrt()]
}

#[inline(always)]
fn k<const ORDER: usize, T: Terms>(x: f64) -> f64 {
    let [near, far] = decaying::<ORDER, T>(x);
    if x > 2.0 { far * (-x).exponential() } else { near }
}

#[inline(always)]
fn scaled_k<const ORDER: usize, T: Terms>(x: f64) -> f64 {
    let [near, far] = decaying::<ORDER, T>(x);
    if x > 2.0 { far } else { near * x.exponential() }
}

/// `exp(-x) I0(x)` up to 8, as a series in `x / 4 - 1`.
const I0_NEAR: [f64; 31] = [
    5.669_178_006_921_496e-19,
    -4.415_341_646_479_339_5e-18,
    3.330_794_518_822_238_4e-17,
    -2.431_279_846_547_955e-16,
    1.715_391_285_555_133e-15,
    -1.168_533_287_799_345_1e-14,
    7.676_185_498_604_936e-14,
    -4.856_446_783_111_929e-13,
    2.955_052_663_129_64e-12,
    -1.726_826_291_441_556e-11,
    9.675_809_035_373_237e-11,
    -5.189_795_601_635_263e-10,
    2.659_823_724_682_386_6e-9,
    -1.300_025_009_986_248e-8,
    6.046_995_022_541_919e-8,
    -2.670_793_853_940_612e-7,
    1.117_387_539_120_103_7e-6,
    -4.416_738_358_458_750_5e-6,
    1.644_844_807_072_889_6e-5,
    -5.754_195_010_082_104e-5,
    1.885_028_850_958_416_5e-4,
    -5.763_755_745_385_824e-4,
    1.639_475_616_941_335_7e-3,
    -4.324_309_995_050_576e-3,
    0.010_546_460_394_594_998,
    -0.023_737_414_805_899_47,
    0.049_305_284_239_670_71,
    -0.094_901_097_048_047_64,
    0.171_620_901_522_208_77,
    -0.304_682_672_343_198_4,
    0.338_397_637_204_738_03,
];

/// `exp(-x) I1(x) / x` up to 8, as a series in `x / 4 - 1`.
const I1_NEAR: [f64; 30] = [
    -3.541_581_772_542_136e-19,
    2.777_914_112_761_046_4e-18,
    -2.111_421_214_358_166e-17,
    1.553_631_957_736_200_5e-16,
    -1.105_596_947_735_386_2e-15,
    7.600_684_294_735_408e-15,
    -5.042_185_504_727_912e-14,
    3.223_793_365_945_575e-13,
    -1.983_974_397_764_943_6e-12,
    1.173_618_629_889_090_1e-11,
    -6.663_489_723_502_027e-11,
    3.625_590_281_552_117e-10,
    -1.887_249_751_722_829_4e-9,
    9.381_537_386_495_773e-9,
    -4.445_059_128_796_328e-8,
    2.003_294_753_552_135_3e-7,
    -8.568_720_264_695_455e-7,
    3.470_251_308_137_678_5e-6,
    -1.327_316_365_603_943_6e-5,
    4.781_565_107_550_054e-5,
    -1.617_608_158_258_967_4e-4,
    5.122_859_561_685_758e-4,
    -1.513_572_450_631_253_2e-3,
    4.156_422_944_312_888e-3,
    -0.010_564_084_894_626_197,
    0.024_726_449_030_626_516,
    -0.052_945_981_208_094_99,
    0.102_643_658_689_847_1,
    -0.176_416_518_357_834_06,
    0.126_293_593_221_816_82,
];

/// `sqrt(x) exp(-x) I0(x)` from 8 on, as a series in `16 / x - 1`.
const I0_FAR: [f64; 27] = [
    1.193_650_890_845_982e-18,
    9.921_475_412_173_699e-19,
    -7.233_180_487_874_754e-18,
    -4.830_504_485_944_182e-18,
    4.465_621_420_296_76e-17,
    3.461_222_867_697_461e-17,
    -2.827_623_980_516_583_6e-16,
    -3.425_485_619_677_219e-16,
    1.772_560_133_056_526_3e-15,
    3.811_680_669_352_622_4e-15,
    -9.554_846_698_828_307e-15,
    -4.150_569_347_287_222e-14,
    1.540_086_217_521_41e-14,
    3.852_778_382_742_142_6e-13,
    7.180_124_451_383_666e-13,
    -1.794_178_531_506_806_2e-12,
    -1.321_581_184_044_771_3e-11,
    -3.149_916_527_963_241_6e-11,
    1.188_914_710_784_643_9e-11,
    4.940_602_388_224_97e-10,
    3.396_232_025_708_386_5e-9,
    2.266_668_990_498_178e-8,
    2.048_918_589_469_063_8e-7,
    2.891_370_520_834_756_7e-6,
    6.889_758_346_916_825e-5,
    3.369_116_478_255_694_3e-3,
    0.402_245_205_507_054_4,
];

/// `sqrt(x) exp(-x) I1(x)` from 8 on, as a series in `16 / x - 1`.
const I1_FAR: [f64; 27] = [
    -1.242_193_275_194_891e-18,
    -9.314_178_867_326_884e-19,
    7.517_296_310_842_105e-18,
    4.414_348_323_071_708e-18,
    -4.650_305_368_489_358_6e-17,
    -3.209_525_921_993_424e-17,
    2.962_628_997_645_95e-16,
    3.308_202_310_920_928_5e-16,
    -1.880_354_775_510_782_5e-15,
    -3.814_403_072_437_007_5e-15,
    1.042_027_698_412_880_2e-14,
    4.272_440_016_711_951e-14,
    -2.101_541_842_772_664_3e-14,
    -4.083_551_111_092_197_4e-13,
    -7.198_551_776_245_908e-13,
    2.035_628_544_147_089_6e-12,
    1.412_580_743_661_378_2e-11,
    3.252_603_583_015_488_4e-11,
    -1.897_495_812_350_541_3e-11,
    -5.589_743_462_196_584e-10,
    -3.835_380_385_964_237e-9,
    -2.631_468_846_889_519_6e-8,
    -2.512_236_237_870_209e-7,
    -3.882_564_808_877_691e-6,
    -1.105_889_387_626_237_1e-4,
    -9.761_097_491_361_469e-3,
    0.389_288_117_509_140_05,
];

/// `K0(x) + ln(x / 2) I0(x)` up to 2, as a series in `x² / 2 - 1`.
const K0_NEAR: [f64; 11] = [
    3.570_896_528_508_373_6e-19,
    1.374_465_435_880_750_8e-16,
    4.259_816_142_791_082_6e-14,
    1.034_969_525_763_362_5e-11,
    1.904_516_377_220_209e-9,
    2.534_791_079_026_149_4e-7,
    2.286_212_103_119_452e-5,
    1.264_615_411_446_926e-3,
    0.035_979_936_515_361_5,
    0.344_289_899_924_628_5,
    -0.267_663_696_616_951_4,
];

/// `x (K1(x) - ln(x / 2) I1(x))` up to 2, as a series in `x² / 2 - 1`.
const K1_NEAR: [f64; 11] = [
    -7.023_863_479_386_288e-18,
    -2.427_449_850_519_366e-15,
    -6.666_901_694_199_329e-13,
    -1.411_488_392_633_527_8e-10,
    -2.213_387_630_734_726e-8,
    -2.433_406_141_565_968_4e-6,
    -1.730_288_957_513_052e-4,
    -6.975_723_859_639_864e-3,
    -0.122_611_180_822_657_15,
    -0.353_155_960_776_544_9,
    0.762_650_113_669_473_9,
];

/// `sqrt(x) exp(x) K0(x)` from 2 on, as a series in `4 / x - 1`.
const K0_FAR: [f64; 26] = [
    -1.733_171_200_582_100_1e-18,
    5.300_433_771_177_335_4e-18,
    -1.647_580_593_984_263_2e-17,
    5.210_391_777_643_554_3e-17,
    -1.678_231_125_754_900_6e-16,
    5.512_055_999_404_333_5e-16,
    -1.848_593_377_920_907e-15,
    6.340_076_476_276_646e-15,
    -2.227_513_326_746_296_5e-14,
    8.032_890_775_068_375e-14,
    -2.980_096_923_148_178_4e-13,
    1.140_340_588_207_344_1e-12,
    -4.514_597_883_374_519e-12,
    1.855_949_114_954_926_4e-11,
    -7.957_489_244_477_396e-11,
    3.577_397_281_400_328_3e-10,
    -1.697_534_509_389_061_4e-9,
    8.574_034_017_414_225e-9,
    -4.660_489_897_687_948e-8,
    2.766_813_639_445_015e-7,
    -1.831_755_522_719_119_5e-6,
    1.394_981_371_887_65e-5,
    -1.284_954_958_162_780_2e-4,
    1.569_883_885_730_053_3e-3,
    -0.031_448_101_311_964_5,
    1.220_151_541_032_977_7,
];

/// `sqrt(x) exp(x) K1(x)` from 2 on, as a series in `4 / x - 1`.
const K1_FAR: [f64; 26] = [
    1.877_865_190_162_326_8e-18,
    -5.756_744_482_073_302_5e-18,
    1.794_051_047_886_357_2e-17,
    -5.689_462_849_193_648e-17,
    1.838_093_575_243_045_5e-16,
    -6.057_047_270_643_018e-16,
    2.038_703_166_239_861e-15,
    -7.019_837_089_214_768_5e-15,
    2.477_154_424_219_598_8e-14,
    -8.976_705_182_010_146e-14,
    3.348_419_666_052_243e-13,
    -1.289_173_960_949_822_9e-12,
    5.139_639_673_482_343e-12,
    -2.129_967_838_427_791e-11,
    9.218_315_187_605_315e-11,
    -4.190_354_759_341_925_4e-10,
    2.015_049_755_197_034_7e-9,
    -1.034_576_246_567_809_7e-8,
    5.741_084_125_450_049_5e-8,
    -3.501_960_603_087_812_6e-7,
    2.406_484_947_837_217e-6,
    -1.936_197_974_166_083e-5,
    1.952_155_184_713_516_2e-4,
    -2.857_816_859_622_779e-3,
    0.103_923_736_576_817_24,
    1.360_313_095_242_221_3,
];

#[cfg(test)]
mod tests {
    use super::super::errors::{units, worst};
    use super::*;

    /// A function, and pairs of arguments and expected values.
    type Known = (fn(f64) -> f64, [(f64, f64); 4]);

    const KNOWN: [Known; 8] = [
        (
            f64::i0,
            [
                (0.25, 1.015_686_141_223_608),
                (1.75, 1.925_252_153_858_502_3),
                (5.5, 42.694_645_151_847_79),
                (40.0, 1.489_477_479_341_99e16),
            ],
        ),
        (
            f64::i1,
            [
                (0.25, 0.125_979_108_945_467_93),
                (1.75, 1.255_537_512_240_173),
                (5.5, 38.588_164_616_327_39),
                (40.0, 1.470_739_616_325_935_2e16),
            ],
        ),
        (
            f64::scaled_i0,
            [
                (0.25, 0.791_017_162_139_719_4),
                (1.75, 0.334_558_658_912_455_06),
                (5.5, 0.174_483_256_381_929_88),
                (40.0, 0.063_278_279_875_235_34),
            ],
        ),
        (
            f64::scaled_i1,
            [
                (0.25, 0.098_112_628_697_368_24),
                (1.75, 0.218_179_704_651_936_37),
                (5.5, 0.157_701_009_016_756_52),
                (40.0, 0.062_482_229_074_442_064),
            ],
        ),
        (
            f64::k0,
            [
                (0.25, 1.541_506_751_248_302_7),
                (1.75, 0.155_379_812_386_603_6),
                (5.5, 2.138_708_565_950_287_5e-3),
                (40.0, 8.392_861_100_099_567e-19),
            ],
        ),
        (
            f64::k1,
            [
                (0.25, 3.747_025_974_440_711_5),
                (1.75, 0.195_477_453_474_393_02),
                (5.5, 2.325_569_008_849_005_3e-3),
                (40.0, 8.497_131_954_861_039e-19),
            ],
        ),
        (
            f64::scaled_k0,
            [
                (0.25, 1.979_333_848_598_568_8),
                (1.75, 0.894_149_084_157_217_4),
                (5.5, 0.523_324_731_552_415_7),
                (40.0, 0.197_555_584_957_298_16),
            ],
        ),
        (
            f64::scaled_k1,
            [
                (0.25, 4.811_276_588_171_025),
                (1.75, 1.124_895_076_862_527_7),
                (5.5, 0.569_047_974_389_050_9),
                (40.0, 0.200_009_967_254_433_49),
            ],
        ),
    ];

    #[test]
    fn modified_functions_meet_known_values() {
        for (at, (function, values)) in KNOWN.into_iter().enumerate() {
            for (x, want) in values {
                let found = function(x);
                assert!(
                    (found - want).abs() <= 1e-15 * want.abs(),
                    "function {at} of {x}: {found}, expected {want}"
                );
            }
        }
    }

    #[test]
    fn shorter_series_are_exact_to_single_precision() {
        type Pair = (fn(f32) -> f32, fn(f64) -> f64);
        const PAIRS: [Pair; 8] = [
            (f32::i0, f64::i0),
            (f32::i1, f64::i1),
            (f32::scaled_i0, f64::scaled_i0),
            (f32::scaled_i1, f64::scaled_i1),
            (f32::k0, f64::k0),
            (f32::k1, f64::k1),
            (f32::scaled_k0, f64::scaled_k0),
            (f32::scaled_k1, f64::scaled_k1),
        ];
        for (at, (single, double)) in PAIRS.into_iter().enumerate() {
            let error =
                worst((1..8000).map(|n| n as f32 * 0.01).map(|x| units(single(x), double(f64::from(x)))));
            assert!(error < 0.6, "function {at}: {error}");
        }
    }

    #[test]
    fn the_ends_are_those_of_pytorch() {
        const INFINITY: f64 = f64::INFINITY;
        assert!([f64::i0, f64::i1].iter().all(|f| f(INFINITY).is_nan() && f(-INFINITY).is_nan()));
        let decaying = [f64::k0, f64::k1, f64::scaled_k0, f64::scaled_k1];
        assert!(decaying.iter().all(|f| f(-1.0).is_nan() && f(f64::NAN).is_nan()));
        assert_eq!(decaying.map(|f| (f(-0.0), f(INFINITY))), [(INFINITY, 0.0); 4]);
        assert_eq!([f64::scaled_i0, f64::scaled_i1].map(|f| f(-INFINITY)), [0.0; 2]);
        assert_eq!([f64::i0, f64::i1].map(|f| f(0.0)), [1.0, 0.0]);
    }
}
