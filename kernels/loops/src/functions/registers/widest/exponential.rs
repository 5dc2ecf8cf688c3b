//! Powers of *e* in a register.
#![expect(unsafe_code, reason = "calls instructions that whoever calls these functions vouches for")]

use std::arch::x86_64::*;

use super::super::{Exponential, InRegisters};
use super::{polynomial, polynomial_of_doubles};
use crate::vector::Vector;

impl InRegisters for Exponential {
    const OF_DOUBLES: bool = true;

    #[inline(always)]
    unsafe fn of_singles(x: __m512) -> __m512 {
        // SAFETY: these instructions access no memory, and the caller vouches for the processor.
        unsafe {
            // Beyond these limits the result is 0 or infinite. It is set to 0, since results that underflow take many
            // times as long, and masks of attention make many of them. NaN stays, as the second operand.
            let is_positive = _mm512_cmp_ps_mask::<_CMP_NLT_UQ>(x, _mm512_set1_ps(-104.0));
            let [n, rest] = power_of_e(_mm512_min_ps(_mm512_set1_ps(90.0), x));
            _mm512_maskz_scalef_ps(is_positive, _mm512_add_ps(rest, _mm512_set1_ps(1.0)), n)
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
            let p = polynomial_of_doubles(r, COEFFICIENTS);
            let less_one = _mm512_fmadd_pd(_mm512_mul_pd(p, r), r, r);
            let sixteenth = _mm512_castpd_si512(rounded); // the index, in the lowest bits
            let (power, lost) = (picked(&SIXTEENTHS, sixteenth), picked(&LOST, sixteenth));
            let value = _mm512_add_pd(power, _mm512_fmadd_pd(power, less_one, lost));
            _mm512_scalef_pd(value, n) // by the integer part of `n`
        }
    }
}

/// Writes `exp(x - largest)` for each of `len` numbers, and returns their sum.
///
/// # Safety
/// - `len` numbers can be read from `from` on, and written from `out` on; nothing else uses them during the call.
/// - `out` is `from`, or shares no memory with it.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
pub unsafe fn exponentials(out: *mut f32, from: *const f32, len: usize, largest: f32) -> f32 {
    const MANY: usize = 4;
    let (largest, mut sums) = (_mm512_set1_ps(largest), [_mm512_setzero_ps(); MANY]);
    let whole = len - len % (MANY * __m512::LANES);
    for start in (0..whole).step_by(MANY * __m512::LANES) {
        for (k, sum) in sums.iter_mut().enumerate() {
            let at = start + k * __m512::LANES;
            // SAFETY: `at` and the lanes after it are below `len`, for which the caller vouches; the features are on.
            // Each register is loaded before its place is written.
            unsafe {
                let power = Exponential::of_singles(_mm512_sub_ps(_mm512_loadu_ps(from.add(at)), largest));
                _mm512_storeu_ps(out.add(at), power);
                *sum = _mm512_add_ps(*sum, power);
            }
        }
    }
    for at in (whole..len).step_by(__m512::LANES) {
        let count = __m512::LANES.min(len - at);
        let mask = (1u32 << count).wrapping_sub(1) as __mmask16;
        // SAFETY: `at + count` is at most `len`, for which the caller vouches; the features are on. The register is
        // loaded before its place is written.
        unsafe {
            let power = Exponential::of_singles(_mm512_sub_ps(__m512::load(from.add(at), count), largest));
            power.store(out.add(at), count);
            sums[0] = _mm512_mask_add_ps(sums[0], mask, sums[0], power);
        }
    }
    _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3])))
}

/// `n` and `rest` such that `exp(x) = (1 + rest) 2^n`.
///
/// # Safety
/// - The processor has the widest vectors.
#[inline(always)]
pub(super) unsafe fn power_of_e(x: __m512) -> [__m512; 2] {
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
