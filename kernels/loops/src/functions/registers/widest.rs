//! Functions of the floats in a register, with instructions that only AVX-512 has.
//!
//! These instructions split numbers into mantissa and exponent and put them together again, also for subnormal numbers
//! and infinities, which take extra steps on other processors.
#![expect(unsafe_code, reason = "calls instructions that whoever calls these functions vouches for")]

use std::arch::x86_64::*;

use torch_library::Element;

use super::{Exponential, InRegisters, Logarithm, Tangent};
use crate::vector::Vector;

/// Computes `len` results, in registers of `f32` or of `f64`.
///
/// # Safety
/// - `T` is `f32` or `f64`.
/// - `len` elements can be read from `from` on, and nothing else writes to them during the call.
/// - `len` elements can be written from `out` on, which nothing else uses; `out` is `from`, or shares no memory with
///   it.
/// - The processor has the widest vectors.
#[inline(always)]
pub(super) unsafe fn each<T: Element, W: InRegisters>(out: *mut T, from: *const T, len: usize) {
    const SINGLES: usize = __m512::LANES;
    const DOUBLES: usize = __m512d::LANES;
    // SAFETY: `start + count` is at most `len`, and the caller vouches for `len` elements in both, of the type that has
    // this size, and for the processor. Each register is loaded before its place is written.
    unsafe {
        if size_of::<T>() == size_of::<f32>() {
            let (out, from) = (out.cast::<f32>(), from.cast::<f32>());
            for start in (0..len).step_by(SINGLES) {
                let count = SINGLES.min(len - start);
                W::of_singles(__m512::load(from.add(start), count)).store(out.add(start), count);
            }
        } else {
            let (out, from) = (out.cast::<f64>(), from.cast::<f64>());
            for start in (0..len).step_by(DOUBLES) {
                let count = DOUBLES.min(len - start);
                W::of_doubles(__m512d::load(from.add(start), count)).store(out.add(start), count);
            }
        }
    }
}

impl InRegisters for Logarithm {
    /// `log(2^n (1 + f)) = n log(2) + log(1 + f)` with `1 + f` from ¾ to 1½. The instructions give an infinite exponent
    /// for zero, and a mantissa of NaN for negative numbers.
    #[inline(always)]
    unsafe fn of_singles(x: __m512) -> __m512 {
        // The coefficients with the smallest error relative to the logarithm, found by weighted least squares.
        const COEFFICIENTS: [f32; 9] = [
            3.767_292e-2,
            -9.116_191e-2,
            1.170_066_1e-1,
            -1.272_777_9e-1,
            1.427_624e-1,
            -1.665_529_7e-1,
            1.999_960_5e-1,
            -2.500_016_5e-1,
            3.333_334e-1,
        ];
        // The first part has few digits, so that its product with an exponent is exact; the rest is positive, so that
        // infinity stays infinity.
        const LN_2: [f32; 2] = [0.693_115_23, 3.194_618_5e-5];
        // SAFETY: these instructions access no memory, and the caller vouches for the processor.
        unsafe {
            let mantissa = _mm512_getmant_ps::<_MM_MANT_NORM_P75_1P5, _MM_MANT_SIGN_NAN>(x);
            let n = _mm512_sub_ps(_mm512_getexp_ps(x), _mm512_getexp_ps(mantissa));
            let f = _mm512_sub_ps(mantissa, _mm512_set1_ps(1.0));
            let p = _mm512_fmadd_ps(polynomial(f, COEFFICIENTS), f, _mm512_set1_ps(-0.5));
            let tail = _mm512_mul_ps(p, _mm512_mul_ps(f, f));
            let rest = _mm512_add_ps(f, _mm512_fmadd_ps(n, _mm512_set1_ps(LN_2[1]), tail));
            _mm512_fmadd_ps(n, _mm512_set1_ps(LN_2[0]), rest)
        }
    }
}

impl InRegisters for Exponential {
    const OF_DOUBLES: bool = true;

    #[inline(always)]
    unsafe fn of_singles(x: __m512) -> __m512 {
        // SAFETY: these instructions access no memory, and the caller vouches for the processor.
        unsafe {
            // Beyond these limits the result is 0 or infinite; NaN stays, as the second operand.
            let x = _mm512_max_ps(_mm512_set1_ps(-104.0), x);
            let [n, rest] = power_of_e(_mm512_min_ps(_mm512_set1_ps(90.0), x));
            _mm512_scalef_ps(_mm512_add_ps(rest, _mm512_set1_ps(1.0)), n)
        }
    }

    /// `2^(n/16) exp(r)`, with the sixteen fractional powers of two in registers and `r` so small that a short
    /// polynomial is enough.
    #[inline(always)]
    unsafe fn of_doubles(x: __m512d) -> __m512d {
        // The polynomial through the Chebyshev nodes up to ln(2)/32 in magnitude, for a small error.
        const COEFFICIENTS: [f64; 5] = [
            1.388_903_889_983_822_7e-3,
            8.333_449_939_890_48e-3,
            4.166_666_666_471_183e-2,
            1.666_666_666_529_602_3e-1,
            5.000_000_000_000_002e-1,
        ];
        const LN_2: [f64; 2] = [6.931_471_805_582_987e-1, 1.646_594_958_289_708_2e-12];
        // 1.5 · 2^48, where the last digit of a double is a sixteenth: adding it rounds to sixteenths.
        const ROUNDER: f64 = 422_212_465_065_984.0;
        // SAFETY: `picked` gets tables of sixteen numbers, the other instructions access no memory, and the caller
        // vouches for the processor.
        unsafe {
            let x = _mm512_max_pd(_mm512_set1_pd(-746.0), x);
            let x = _mm512_min_pd(_mm512_set1_pd(711.0), x);
            let rounder = _mm512_set1_pd(ROUNDER);
            let rounded = _mm512_fmadd_pd(x, _mm512_set1_pd(std::f64::consts::LOG2_E), rounder);
            let n = _mm512_sub_pd(rounded, rounder);
            let r = _mm512_fnmadd_pd(n, _mm512_set1_pd(LN_2[0]), x);
            let r = _mm512_fnmadd_pd(n, _mm512_set1_pd(LN_2[1]), r);
            let mut p = _mm512_set1_pd(COEFFICIENTS[0]);
            for coefficient in &COEFFICIENTS[1..] {
                p = _mm512_fmadd_pd(p, r, _mm512_set1_pd(*coefficient));
            }
            let less_one = _mm512_fmadd_pd(_mm512_mul_pd(p, r), r, r);
            let sixteenth = _mm512_castpd_si512(rounded); // the index, in the lowest bits
            let (power, lost) = (picked(&SIXTEENTHS, sixteenth), picked(&LOST, sixteenth));
            let value = _mm512_add_pd(power, _mm512_fmadd_pd(power, less_one, lost));
            _mm512_scalef_pd(value, n) // by the integer part of `n`
        }
    }
}

impl InRegisters for Tangent {
    /// `t / (t + 2)` with `t = exp(2x) - 1`; the quotient is an estimate, refined once.
    #[inline(always)]
    unsafe fn of_singles(x: __m512) -> __m512 {
        // SAFETY: these instructions access no memory, and the caller vouches for the processor.
        unsafe {
            let size = _mm512_abs_ps(x);
            // Beyond this limit the result is 1.
            let [n, rest] = power_of_e(_mm512_min_ps(_mm512_set1_ps(20.0), _mm512_add_ps(size, size)));
            let (one, two) = (_mm512_set1_ps(1.0), _mm512_set1_ps(2.0));
            let power = _mm512_scalef_ps(one, n);
            let t = _mm512_fmadd_ps(rest, power, _mm512_sub_ps(power, one));
            let inverse = _mm512_rcp14_ps(_mm512_add_ps(t, two));
            let quotient = _mm512_mul_ps(t, inverse);
            // The remainder is computed with `t + 2` before it was rounded.
            let left = _mm512_fnmadd_ps(quotient, two, _mm512_fnmadd_ps(quotient, t, t));
            let quotient = _mm512_fmadd_ps(left, inverse, quotient);
            let sign = _mm512_and_ps(x, _mm512_set1_ps(-0.0));
            _mm512_or_ps(quotient, sign) // zeros keep their sign
        }
    }
}

/// `n` and `rest` such that `exp(x) = (1 + rest) 2^n`.
///
/// # Safety
/// - The processor has the widest vectors.
#[inline(always)]
unsafe fn power_of_e(x: __m512) -> [__m512; 2] {
    // The coefficients of Cephes.
    const COEFFICIENTS: [f32; 6] =
        [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
    // SAFETY: these instructions access no memory, and the caller vouches for the processor.
    unsafe {
        let n = _mm512_mul_ps(x, _mm512_set1_ps(std::f32::consts::LOG2_E));
        let n = _mm512_roundscale_ps::<_MM_FROUND_TO_NEAREST_INT>(n);
        let r = _mm512_fmadd_ps(n, _mm512_set1_ps(-355.0 / 512.0), x);
        let r = _mm512_fmadd_ps(n, _mm512_set1_ps(2.121_944_4e-4), r);
        [n, _mm512_fmadd_ps(_mm512_mul_ps(polynomial(r, COEFFICIENTS), r), r, r)]
    }
}

/// The value of a polynomial by Horner's rule, with the coefficient of the highest power first.
///
/// # Safety
/// - The processor has the widest vectors.
#[inline(always)]
unsafe fn polynomial<const N: usize>(x: __m512, coefficients: [f32; N]) -> __m512 {
    // SAFETY: these instructions access no memory, and the caller vouches for the processor.
    unsafe {
        let mut value = _mm512_set1_ps(coefficients[0]);
        for coefficient in &coefficients[1..] {
            value = _mm512_fmadd_ps(value, x, _mm512_set1_ps(*coefficient));
        }
        value
    }
}

/// The entries of a table that the lowest four bits of each index select.
///
/// # Safety
/// - The processor has the widest vectors.
#[inline(always)]
unsafe fn picked(numbers: &[f64; 16], index: __m512i) -> __m512d {
    // SAFETY: two unaligned loads of eight numbers each, from a table of sixteen; only the lowest four bits of each
    // index count. The caller vouches for the processor.
    unsafe {
        let (low, high) = (_mm512_loadu_pd(numbers.as_ptr()), _mm512_loadu_pd(numbers.as_ptr().add(8)));
        _mm512_permutex2var_pd(low, index, high)
    }
}

/// Two to the power of 0 to 15 sixteenths.
const SIXTEENTHS: [f64; 16] = [
    1.0,
    1.044_273_782_427_413_8,
    1.090_507_732_665_257_7,
    1.138_788_634_756_691_6,
    1.189_207_115_002_721,
    1.241_857_812_073_484,
    1.296_839_554_651_009_6,
    1.354_255_546_936_892_7,
    std::f64::consts::SQRT_2,
    1.476_826_145_939_499_3,
    1.542_210_825_407_940_7,
    1.610_490_331_949_254_3,
    1.681_792_830_507_429,
    1.756_252_160_373_299_5,
    1.834_008_086_409_342_4,
    1.915_206_561_397_147_4,
];

/// The rounding errors of these powers.
const LOST: [f64; 16] = [
    0.0,
    8.551_889_705_537_965e-17,
    -3.046_782_079_812_471e-17,
    8.912_812_676_025_408e-17,
    3.982_015_231_465_646e-17,
    4.658_027_591_836_937e-17,
    2.538_250_279_488_831_5e-17,
    7.700_948_379_802_99e-17,
    -9.667_293_313_452_913e-17,
    -3.483_994_556_892_796e-17,
    7.949_834_809_697_621e-17,
    2.470_719_256_979_788_8e-17,
    8.199_010_020_581_497e-17,
    2.960_140_695_448_873e-17,
    3.283_107_224_245_627e-17,
    -1.061_994_605_619_596_3e-16,
];

#[cfg(test)]
mod tests {
    use super::super::super::errors::{largest, largest_double};
    use super::*;
    use crate::loops::is_widest;

    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    fn of<T: Element, W: InRegisters>(x: T) -> T {
        let mut value = x;
        // SAFETY: one number each, in two local variables; the types of the tests are `f32` and `f64`, and the caller
        // vouches for the features.
        unsafe { each::<T, W>(&raw mut value, &raw const x, 1) };
        value
    }

    /// The function of one number.
    fn one<T: Element, W: InRegisters>(x: T) -> T {
        // SAFETY: both tests return before where `is_widest` does not find these features.
        unsafe { of::<T, W>(x) }
    }

    #[test]
    fn functions_are_within_two_units_of_the_last_place() {
        if !is_widest() {
            return;
        }
        for (name, error, most) in [
            ("log", largest(one::<f32, Logarithm>, f64::ln), 1.0),
            ("exp", largest(one::<f32, Exponential>, f64::exp), 1.0),
            ("tanh", largest(one::<f32, Tangent>, f64::tanh), 2.0),
            ("double exp", largest_double(one::<f64, Exponential>, f64::exp), 1.1),
        ] {
            assert!(error <= most, "{name}: {error}");
        }
    }

    #[test]
    fn the_ends_and_the_zeros_are_right() {
        if !is_widest() {
            return;
        }
        const INFINITY: f32 = f32::INFINITY;
        for x in
            [0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, 88.7, 89.0, -104.0, f32::MAX, INFINITY, -INFINITY, f32::NAN]
        {
            let wide = f64::from(x);
            let pairs = [
                (one::<f32, Logarithm>(x), wide.ln()),
                (one::<f32, Exponential>(x), wide.exp()),
                (one::<f32, Tangent>(x), wide.tanh()),
                (one::<f64, Exponential>(wide) as f32, wide.exp()),
            ];
            for (k, (got, want)) in pairs.into_iter().enumerate() {
                let are_alike = got.to_bits().abs_diff((want as f32).to_bits()) < 2;
                assert!(are_alike || got.is_nan() && want.is_nan(), "{k} of {x}: {got}, expected {want}");
            }
        }
        assert_eq!(
            [745.2, -745.1, 709.7, 709.8].map(|x: f64| one::<f64, Exponential>(-x)),
            [-745.2f64, 745.1, -709.7, -709.8].map(f64::exp)
        );
    }
}
