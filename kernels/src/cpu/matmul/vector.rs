//! Registers full of floats, of the widths that processors have.
#![expect(unsafe_code, reason = "calls instructions that the caller vouches for")]

use std::arch::x86_64::*;

use crate::cpu::number::Number;

/// As many floats as a register holds.
///
/// # Safety
/// All functions need a processor that has the instructions of this width.
pub(super) trait Vector: Copy {
    type Element: Turned;
    const LANES: usize;
    /// How many rows of two vectors each stay in registers, beside what they are computed from.
    const ROWS: usize;

    unsafe fn zero() -> Self;

    /// # Safety
    /// The element can be read.
    unsafe fn splat(from: *const Self::Element) -> Self;

    /// # Safety
    /// So many elements can be read: the first lanes. The others are zero.
    unsafe fn load(from: *const Self::Element, count: usize) -> Self;

    /// # Safety
    /// So many elements can be written: the first lanes.
    unsafe fn store(self, to: *mut Self::Element, count: usize);

    unsafe fn plus(self, other: Self) -> Self;

    /// `self * factor + summand`, rounded once.
    unsafe fn times_plus(self, factor: Self, summand: Self) -> Self;

    /// The sum of all lanes.
    unsafe fn sum(self) -> Self::Element;
}

macro_rules! vector {
    ($($vector:ty = [$element:ty; $lanes:literal] in $rows:literal rows:
        $zero:ident $splat:ident $load:ident $load_some:ident $store:ident $store_some:ident |$count:ident| $mask:expr,
        $plus:ident $times_plus:ident |$x:ident| $sum:expr;)+) => { $(
        impl Vector for $vector {
            type Element = $element;
            const LANES: usize = $lanes;
            const ROWS: usize = $rows;

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: passed on.
                unsafe { $zero() }
            }

            #[inline(always)]
            unsafe fn splat(from: *const $element) -> Self {
                // SAFETY: passed on.
                unsafe { $splat(*from) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $element, $count: usize) -> Self {
                // SAFETY: passed on; lanes that the mask leaves out are not read.
                unsafe { if $count == $lanes { $load(from) } else { vector!(@load $load_some, from, $mask) } }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $element, $count: usize) {
                // SAFETY: passed on; lanes that the mask leaves out are not written.
                unsafe { if $count == $lanes { $store(to, self) } else { $store_some(to, $mask, self) } }
            }

            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                // SAFETY: passed on.
                unsafe { $plus(self, other) }
            }

            #[inline(always)]
            unsafe fn times_plus(self, factor: Self, summand: Self) -> Self {
                // SAFETY: passed on.
                unsafe { $times_plus(self, factor, summand) }
            }

            #[inline(always)]
            unsafe fn sum(self) -> $element {
                let $x = self;
                // SAFETY: passed on.
                unsafe { $sum }
            }
        }
    )+ };
    (@load _mm256_maskload_ps, $from:ident, $mask:expr) => { _mm256_maskload_ps($from, $mask) };
    (@load _mm256_maskload_pd, $from:ident, $mask:expr) => { _mm256_maskload_pd($from, $mask) };
    (@load $load:ident, $from:ident, $mask:expr) => { $load($mask, $from) };
}

vector! {
    __m512 = [f32; 16] in 8 rows:
        _mm512_setzero_ps _mm512_set1_ps _mm512_loadu_ps _mm512_maskz_loadu_ps _mm512_storeu_ps _mm512_mask_storeu_ps
        |count| (1 << count) - 1,
        _mm512_add_ps _mm512_fmadd_ps |x| _mm512_reduce_add_ps(x);
    __m512d = [f64; 8] in 8 rows:
        _mm512_setzero_pd _mm512_set1_pd _mm512_loadu_pd _mm512_maskz_loadu_pd _mm512_storeu_pd _mm512_mask_storeu_pd
        |count| (1 << count) - 1,
        _mm512_add_pd _mm512_fmadd_pd |x| _mm512_reduce_add_pd(x);
    __m256 = [f32; 8] in 4 rows:
        _mm256_setzero_ps _mm256_set1_ps _mm256_loadu_ps _mm256_maskload_ps _mm256_storeu_ps _mm256_maskstore_ps
        |count| _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)),
        _mm256_add_ps _mm256_fmadd_ps |x| {
            let x = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
            let x = _mm_add_ps(x, _mm_movehl_ps(x, x));
            _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)))
        };
    __m256d = [f64; 4] in 4 rows:
        _mm256_setzero_pd _mm256_set1_pd _mm256_loadu_pd _mm256_maskload_pd _mm256_storeu_pd _mm256_maskstore_pd
        |count| _mm256_cmpgt_epi64(_mm256_set1_epi64x(count as i64), _mm256_setr_epi64x(0, 1, 2, 3)),
        _mm256_add_pd _mm256_fmadd_pd |x| {
            let x = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x));
            _mm_cvtsd_f64(_mm_add_sd(x, _mm_unpackhi_pd(x, x)))
        };
}

/// Floats that small blocks are turned of, from columns to rows.
pub(super) trait Turned: Number {
    /// How many rows and columns a block has.
    const BLOCK: [usize; 2];

    /// Writes the rows of a block, `pitch` apart, whose columns are contiguous and `stride` apart.
    ///
    /// # Safety
    /// The processor has AVX2; the block can be read and written.
    unsafe fn turn(from: *const Self, stride: isize, to: *mut Self, pitch: usize);
}

impl Turned for f32 {
    const BLOCK: [usize; 2] = [4, 8];

    #[inline(always)]
    unsafe fn turn(from: *const f32, stride: isize, to: *mut f32, pitch: usize) {
        // SAFETY: by contract.
        unsafe {
            // Columns 4 apart share a register, which makes a row of each half of it.
            let pair = |column: isize| {
                let (low, high) = (from.offset(column * stride), from.offset((column + 4) * stride));
                _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high))
            };
            let [a, b, c, d] = [pair(0), pair(1), pair(2), pair(3)];
            let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
            _mm256_storeu_ps(to, _mm256_shuffle_ps::<0x44>(ab, cd));
            _mm256_storeu_ps(to.add(pitch), _mm256_shuffle_ps::<0xee>(ab, cd));
            let (ab, cd) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
            _mm256_storeu_ps(to.add(2 * pitch), _mm256_shuffle_ps::<0x44>(ab, cd));
            _mm256_storeu_ps(to.add(3 * pitch), _mm256_shuffle_ps::<0xee>(ab, cd));
        }
    }
}

impl Turned for f64 {
    const BLOCK: [usize; 2] = [2, 4];

    #[inline(always)]
    unsafe fn turn(from: *const f64, stride: isize, to: *mut f64, pitch: usize) {
        // SAFETY: by contract.
        unsafe {
            let pair = |column: isize| {
                let (low, high) = (from.offset(column * stride), from.offset((column + 2) * stride));
                _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(_mm_loadu_pd(low)), _mm_loadu_pd(high))
            };
            let (a, b) = (pair(0), pair(1));
            _mm256_storeu_pd(to, _mm256_unpacklo_pd(a, b));
            _mm256_storeu_pd(to.add(pitch), _mm256_unpackhi_pd(a, b));
        }
    }
}
