//! AVX-512 registers, which hold a number of each of several lines: sixteen in single precision, eight in double
//! precision.
#![expect(unsafe_code, reason = "calls instructions that the processor was found to have, on pointers")]

use std::arch::x86_64::*;

use num_complex::Complex;

use crate::inlined::from_fn;

/// Numbers of several lines.
pub(super) trait Register: Copy {
    type Real: Copy;
    const COUNT: usize;

    /// The order in which real and imaginary parts are told apart, and that in which they are put together; with
    /// `is_swapped`, each part is taken for the other.
    ///
    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn orders(is_swapped: bool) -> [[__m512i; 2]; 2];

    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn zero() -> Self;

    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn splat(x: Self::Real) -> Self;

    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn plus(self, other: Self) -> Self;

    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn minus(self, other: Self) -> Self;

    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn times(self, factor: Self) -> Self;

    /// `self * factor + summand`
    ///
    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn times_plus(self, factor: Self, summand: Self) -> Self;

    /// `from - self * factor`
    ///
    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn times_from(self, factor: Self, from: Self) -> Self;

    /// The first `count` numbers, at most all; the others are zero.
    ///
    /// # Safety
    /// - The processor has AVX-512, and as many numbers can be read from `from` on, to which nothing else writes.
    unsafe fn load(from: *const Self::Real, count: usize) -> Self;

    /// Writes the first `count` numbers, at most all.
    ///
    /// # Safety
    /// - The processor has AVX-512, and as many numbers can be written from `to` on, which nothing else uses.
    unsafe fn store(self, to: *mut Self::Real, count: usize);

    /// Numbers of this register and another one, in an order.
    ///
    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn merged(self, other: Self, order: __m512i) -> Self;

    /// Transposes as many registers as they have numbers.
    ///
    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn transpose(from: impl Fn(usize) -> Self, to: impl FnMut(usize, Self));
}

macro_rules! register {
    ($vector:ty: $count:literal of $real:ty,
     $zero:ident $splat:ident $add:ident $sub:ident $mul:ident $fmadd:ident $fnmadd:ident
     $load:ident $store:ident $permute:ident |$lanes:ident| $of:expr, $transpose:ident) => {
        impl Register for $vector {
            type Real = $real;
            const COUNT: usize = $count;

            #[inline(always)]
            unsafe fn orders(is_swapped: bool) -> [[__m512i; 2]; 2] {
                // The part of an index that says which of two registers a number comes from.
                let other = $count * usize::from(is_swapped);
                let first = usize::from(is_swapped);
                let apart = |part: usize| {
                    let $lanes = from_fn(|i| (2 * i + part) as _);
                    // SAFETY: an array has as many bytes as a register, of which any are a value.
                    unsafe { $of }
                };
                let put = |start: usize| {
                    let $lanes = from_fn(|i| ((start + i / 2 + $count * (i % 2)) ^ other) as _);
                    // SAFETY: an array has as many bytes as a register, of which any are a value.
                    unsafe { $of }
                };
                [[apart(first), apart(1 - first)], [put(0), put($count / 2)]]
            }

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: the caller vouches for the processor.
                unsafe { $zero() }
            }

            #[inline(always)]
            unsafe fn splat(x: $real) -> Self {
                // SAFETY: the caller vouches for the processor.
                unsafe { $splat(x) }
            }

            #[inline(always)]
            unsafe fn plus(self, other: Self) -> Self {
                // SAFETY: the caller vouches for the processor.
                unsafe { $add(self, other) }
            }

            #[inline(always)]
            unsafe fn minus(self, other: Self) -> Self {
                // SAFETY: the caller vouches for the processor.
                unsafe { $sub(self, other) }
            }

            #[inline(always)]
            unsafe fn times(self, factor: Self) -> Self {
                // SAFETY: the caller vouches for the processor.
                unsafe { $mul(self, factor) }
            }

            #[inline(always)]
            unsafe fn times_plus(self, factor: Self, summand: Self) -> Self {
                // SAFETY: the caller vouches for the processor.
                unsafe { $fmadd(self, factor, summand) }
            }

            #[inline(always)]
            unsafe fn times_from(self, factor: Self, from: Self) -> Self {
                // SAFETY: the caller vouches for the processor.
                unsafe { $fnmadd(self, factor, from) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $real, count: usize) -> Self {
                // SAFETY: the caller vouches for the processor, and for `count` numbers; others are not read.
                unsafe { $load(((1u32 << count) - 1) as _, from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $real, count: usize) {
                // SAFETY: the caller vouches for the processor, and for `count` numbers; others are not written.
                unsafe { $store(to, ((1u32 << count) - 1) as _, self) }
            }

            #[inline(always)]
            unsafe fn merged(self, other: Self, order: __m512i) -> Self {
                // SAFETY: the caller vouches for the processor.
                unsafe { $permute(self, order, other) }
            }

            #[inline(always)]
            unsafe fn transpose(from: impl Fn(usize) -> Self, mut to: impl FnMut(usize, Self)) {
                // SAFETY: the caller vouches for the processor.
                let turned: [Self; $count] = unsafe { $transpose(from_fn(from)) };
                for i in 0..$count {
                    to(i, turned[i]);
                }
            }
        }
    };
}

register! {
    __m512: 16 of f32,
    _mm512_setzero_ps _mm512_set1_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_fmadd_ps _mm512_fnmadd_ps
    _mm512_maskz_loadu_ps _mm512_mask_storeu_ps _mm512_permutex2var_ps
    |lanes| std::mem::transmute::<[i32; 16], __m512i>(lanes), transpose_singles
}

register! {
    __m512d: 8 of f64,
    _mm512_setzero_pd _mm512_set1_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_fmadd_pd _mm512_fnmadd_pd
    _mm512_maskz_loadu_pd _mm512_mask_storeu_pd _mm512_permutex2var_pd
    |lanes| std::mem::transmute::<[i64; 8], __m512i>(lanes), transpose_doubles
}

/// Transposes 16 × 16 numbers: exchanges single numbers, then pairs, then quarters of registers, then halves.
///
/// # Safety
/// - The processor has AVX-512.
#[inline(always)]
unsafe fn transpose_singles(x: [__m512; 16]) -> [__m512; 16] {
    // SAFETY: the caller vouches for the processor.
    unsafe {
        let pairs: [__m512; 16] = from_fn(|i| {
            let (a, b) = (x[i & !1], x[i | 1]);
            if i & 1 == 0 { _mm512_unpacklo_ps(a, b) } else { _mm512_unpackhi_ps(a, b) }
        });
        // Of four lines each: numbers 0, 1, 2 and 3 of each quarter.
        let fours: [__m512; 16] = from_fn(|i| {
            let (a, b) = (pairs[i & !3 | (i >> 1) & 1], pairs[i & !3 | 2 | (i >> 1) & 1]);
            let (a, b) = (_mm512_castps_pd(a), _mm512_castps_pd(b));
            _mm512_castpd_ps(if i & 1 == 0 { _mm512_unpacklo_pd(a, b) } else { _mm512_unpackhi_pd(a, b) })
        });
        // Of eight lines each: two quarters with even numbers, and two with odd ones.
        let eights: [__m512; 16] = from_fn(|i| {
            let (n, half, is_odd) = (i & 3, i & 8, i & 4 != 0);
            let (a, b) = (fours[half + n], fours[half + 4 + n]);
            if is_odd {
                _mm512_shuffle_f32x4::<0b11_01_11_01>(a, b)
            } else {
                _mm512_shuffle_f32x4::<0b10_00_10_00>(a, b)
            }
        });
        from_fn(|i| {
            let (n, quarter) = (i & 3, i >> 2);
            let at = n + 4 * (quarter & 1);
            let (a, b) = (eights[at], eights[8 + at]);
            if quarter < 2 {
                _mm512_shuffle_f32x4::<0b10_00_10_00>(a, b)
            } else {
                _mm512_shuffle_f32x4::<0b11_01_11_01>(a, b)
            }
        })
    }
}

/// Transposes 8 × 8 numbers.
///
/// # Safety
/// - The processor has AVX-512.
#[inline(always)]
unsafe fn transpose_doubles(x: [__m512d; 8]) -> [__m512d; 8] {
    // SAFETY: the caller vouches for the processor.
    unsafe {
        let pairs: [__m512d; 8] = from_fn(|i| {
            let (a, b) = (x[i & !1], x[i | 1]);
            if i & 1 == 0 { _mm512_unpacklo_pd(a, b) } else { _mm512_unpackhi_pd(a, b) }
        });
        let fours: [__m512d; 8] = from_fn(|i| {
            let (n, half, is_odd) = (i & 1, i & 4, i & 2 != 0);
            let (a, b) = (pairs[half + n], pairs[half + 2 + n]);
            if is_odd {
                _mm512_shuffle_f64x2::<0b11_01_11_01>(a, b)
            } else {
                _mm512_shuffle_f64x2::<0b10_00_10_00>(a, b)
            }
        });
        from_fn(|i| {
            let (n, quarter) = (i & 1, i >> 1);
            let at = n + 2 * (quarter & 1);
            let (a, b) = (fours[at], fours[4 + at]);
            if quarter < 2 {
                _mm512_shuffle_f64x2::<0b10_00_10_00>(a, b)
            } else {
                _mm512_shuffle_f64x2::<0b11_01_11_01>(a, b)
            }
        })
    }
}

/// Complex numbers, one of each of several lines.
#[derive(Clone, Copy)]
pub(super) struct Parts<V> {
    pub(super) re: V,
    pub(super) im: V,
}

impl<V: Register> Parts<V> {
    /// # Safety
    /// - The processor has AVX-512.
    #[inline(always)]
    pub(super) unsafe fn plus(self, other: Self) -> Self {
        // SAFETY: the caller vouches for the processor.
        unsafe { Parts { re: self.re.plus(other.re), im: self.im.plus(other.im) } }
    }

    /// # Safety
    /// - The processor has AVX-512.
    #[inline(always)]
    pub(super) unsafe fn minus(self, other: Self) -> Self {
        // SAFETY: the caller vouches for the processor.
        unsafe { Parts { re: self.re.minus(other.re), im: self.im.minus(other.im) } }
    }

    /// `self + i * other`
    ///
    /// # Safety
    /// - The processor has AVX-512.
    #[inline(always)]
    pub(super) unsafe fn plus_i(self, other: Self) -> Self {
        // SAFETY: the caller vouches for the processor.
        unsafe { Parts { re: self.re.minus(other.im), im: self.im.plus(other.re) } }
    }

    /// `self - i * other`
    ///
    /// # Safety
    /// - The processor has AVX-512.
    #[inline(always)]
    pub(super) unsafe fn minus_i(self, other: Self) -> Self {
        // SAFETY: the caller vouches for the processor.
        unsafe { Parts { re: self.re.plus(other.im), im: self.im.minus(other.re) } }
    }

    /// # Safety
    /// - The processor has AVX-512.
    #[inline(always)]
    pub(super) unsafe fn times(self, factor: Complex<V::Real>) -> Self {
        // SAFETY: the caller vouches for the processor.
        unsafe {
            let (re, im) = (V::splat(factor.re), V::splat(factor.im));
            Parts {
                re: self.im.times_from(im, self.re.times(re)),
                im: self.im.times_plus(re, self.re.times(im)),
            }
        }
    }

    /// Each part multiplied by a real number.
    ///
    /// # Safety
    /// - The processor has AVX-512.
    #[inline(always)]
    pub(super) unsafe fn scaled(self, factor: V) -> Self {
        // SAFETY: the caller vouches for the processor.
        unsafe { Parts { re: self.re.times(factor), im: self.im.times(factor) } }
    }
}
