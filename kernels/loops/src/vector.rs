//! Vector registers of floats, of the widths that processors have, and an array of numbers of any type in their place.
#![expect(unsafe_code, reason = "calls instructions that the caller vouches for")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use crate::inlined::from_fn;
use crate::number::Number;

/// A vector of as many floats as a register holds.
///
/// # Safety
/// - For all functions: the processor has the instructions of this width.
pub trait Vector: Copy {
    type Element: Number;
    const LANES: usize;
    /// The number of rows, of two vectors each, of a matrix tile that stays in registers, beside the operands that it
    /// is computed from.
    const ROWS: usize;

    /// # Safety
    /// - The processor has the instructions.
    unsafe fn zero() -> Self;

    /// # Safety
    /// - The element can be read: it is aligned and initialised, and nothing writes to it during the call.
    /// - The processor has the instructions.
    unsafe fn splat(from: *const Self::Element) -> Self;

    /// Loads the first `count` lanes; the others are zero.
    ///
    /// # Safety
    /// - `count` elements, at most all lanes, can be read: they are aligned and initialised, and nothing writes to them
    ///   during the call.
    /// - The processor has the instructions.
    unsafe fn load(from: *const Self::Element, count: usize) -> Self;

    /// Stores the first `count` lanes.
    ///
    /// # Safety
    /// - `count` elements, at most all lanes, can be written: they are aligned, and nothing else uses them during the
    ///   call.
    /// - The processor has the instructions.
    unsafe fn store(self, to: *mut Self::Element, count: usize);

    /// # Safety
    /// - The processor has the instructions.
    unsafe fn plus(self, other: Self) -> Self;

    /// `self * factor + summand`; in registers a fused multiply-add, which rounds once.
    ///
    /// # Safety
    /// - The processor has the instructions.
    unsafe fn times_plus(self, factor: Self, summand: Self) -> Self;

    /// The sum of all lanes.
    ///
    /// # Safety
    /// - The processor has the instructions.
    unsafe fn sum(self) -> Self::Element;
}

/// A few numbers of any type, which the compiler may keep in a register.
#[derive(Clone, Copy)]
pub struct Few<T>([T; 4]);

impl<T: Number> Vector for Few<T> {
    type Element = T;
    const LANES: usize = 4;
    const ROWS: usize = 4;

    #[inline(always)]
    unsafe fn zero() -> Self {
        Few([T::ZERO; 4])
    }

    #[inline(always)]
    unsafe fn splat(from: *const T) -> Self {
        // SAFETY: the caller vouches for an element to read.
        Few([unsafe { from.read() }; 4])
    }

    #[inline(always)]
    unsafe fn load(from: *const T, count: usize) -> Self {
        // SAFETY: the caller vouches for `count` elements to read, and `i` is less.
        let lane = |i| if i < count { unsafe { from.add(i).read() } } else { T::ZERO };
        Few(from_fn(lane))
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T, count: usize) {
        for (i, lane) in self.0.into_iter().enumerate().take(count) {
            // SAFETY: the caller vouches for `count` elements to write, and `take` keeps `i` below.
            unsafe { to.add(i).write(lane) };
        }
    }

    #[inline(always)]
    unsafe fn plus(self, other: Self) -> Self {
        Few(from_fn(|i| self.0[i].plus(other.0[i])))
    }

    #[inline(always)]
    unsafe fn times_plus(self, factor: Self, summand: Self) -> Self {
        Few(from_fn(|i| summand.0[i].plus(self.0[i].times(factor.0[i]))))
    }

    #[inline(always)]
    unsafe fn sum(self) -> T {
        self.0.into_iter().fold(T::ZERO, T::plus)
    }
}

#[cfg(target_arch = "x86_64")]
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
                // SAFETY: the caller vouches for the instructions.
                unsafe { $zero() }
            }

            #[inline(always)]
            unsafe fn splat(from: *const $element) -> Self {
                // SAFETY: the caller vouches for the instructions, and for an element to read.
                unsafe { $splat(*from) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $element, $count: usize) -> Self {
                // SAFETY: the caller vouches for the instructions, and for `count` elements; lanes that the mask
                // leaves out are not read.
                unsafe { if $count == $lanes { $load(from) } else { vector!(@load $load_some, from, $mask) } }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $element, $count: usize) {
                // SAFETY: the caller vouches for the instructions, and for `count` elements; lanes that the mask
                // leaves out are not written.
                unsafe { if $count == $lanes { $store(to, self) } else { $store_some(to, $mask, self) } }
            }

            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                // SAFETY: the caller vouches for the instructions.
                unsafe { $plus(self, other) }
            }

            #[inline(always)]
            unsafe fn times_plus(self, factor: Self, summand: Self) -> Self {
                // SAFETY: the caller vouches for the instructions.
                unsafe { $times_plus(self, factor, summand) }
            }

            #[inline(always)]
            unsafe fn sum(self) -> $element {
                let $x = self;
                // SAFETY: the caller vouches for the instructions.
                unsafe { $sum }
            }
        }
    )+ };
    (@load _mm256_maskload_ps, $from:ident, $mask:expr) => { _mm256_maskload_ps($from, $mask) };
    (@load _mm256_maskload_pd, $from:ident, $mask:expr) => { _mm256_maskload_pd($from, $mask) };
    (@load $load:ident, $from:ident, $mask:expr) => { $load($mask, $from) };
}

#[cfg(target_arch = "x86_64")]
vector! {
    __m512 = [f32; 16] in 12 rows:
        _mm512_setzero_ps _mm512_set1_ps _mm512_loadu_ps _mm512_maskz_loadu_ps _mm512_storeu_ps _mm512_mask_storeu_ps
        |count| (1 << count) - 1,
        _mm512_add_ps _mm512_fmadd_ps |x| _mm512_reduce_add_ps(x);
    __m512d = [f64; 8] in 12 rows:
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
