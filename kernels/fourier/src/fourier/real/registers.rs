//! Separating and combining spectra in AVX-512 registers, of eight complex numbers in single precision, or four in
//! double precision.
#![expect(unsafe_code, reason = "calls instructions that the processor was found to have, on pointers")]

use std::any::TypeId;
use std::arch::x86_64::*;

use num_complex::Complex;

use super::super::plans::Real;
use crate::loops::has_avx512;

/// Some complex numbers in a register.
trait Register: Copy {
    type Real;
    const COUNT: usize;

    /// # Safety
    /// - The processor has AVX-512, and as many numbers can be read from `from` on, to which nothing else writes.
    unsafe fn load(from: *const Complex<Self::Real>) -> Self;

    /// # Safety
    /// - The processor has AVX-512, and as many numbers can be written from `to` on, which nothing else uses.
    unsafe fn store(self, to: *mut Complex<Self::Real>);

    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn splat(x: Self::Real) -> Self;

    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn plus(self, other: Self) -> Self;

    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn minus(self, other: Self) -> Self;

    /// The product of each part with that of `factor`.
    ///
    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn scaled(self, factor: Self) -> Self;

    /// The product of complex numbers.
    ///
    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn times(self, factor: Self) -> Self;

    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn conjugate(self) -> Self;

    /// The numbers in opposite order.
    ///
    /// # Safety
    /// - The processor has AVX-512.
    unsafe fn reversed(self) -> Self;
}

macro_rules! register {
    ($vector:ty: $count:literal of $real:ty,
     $load:ident $store:ident $splat:ident $add:ident $sub:ident $mul:ident $fmaddsub:ident $xor:ident,
     |$x:ident| real parts $re:expr, imaginary parts $im:expr, swapped $swapped:expr, reversed $reversed:expr,
     signs $signs:expr) => {
        impl Register for $vector {
            type Real = $real;
            const COUNT: usize = $count;

            #[inline(always)]
            unsafe fn load(from: *const Complex<$real>) -> Self {
                // SAFETY: the caller vouches for the processor, and for as many numbers; `Complex` is two of them.
                unsafe { $load(from.cast()) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut Complex<$real>) {
                // SAFETY: the caller vouches for the processor, and for as many numbers; `Complex` is two of them.
                unsafe { $store(to.cast(), self) }
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
            unsafe fn scaled(self, factor: Self) -> Self {
                // SAFETY: the caller vouches for the processor.
                unsafe { $mul(self, factor) }
            }

            #[inline(always)]
            unsafe fn times(self, $x: Self) -> Self {
                // SAFETY: the caller vouches for the processor.
                unsafe {
                    let (re, im) = ($re, $im);
                    let $x = self;
                    $fmaddsub(self, re, $mul($swapped, im))
                }
            }

            #[inline(always)]
            unsafe fn conjugate(self) -> Self {
                // SAFETY: the caller vouches for the processor.
                unsafe { $xor(self, $signs) }
            }

            #[inline(always)]
            unsafe fn reversed(self) -> Self {
                let $x = self;
                // SAFETY: the caller vouches for the processor.
                unsafe { $reversed }
            }
        }
    };
}

register! {
    __m512: 8 of f32,
    _mm512_loadu_ps _mm512_storeu_ps _mm512_set1_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_fmaddsub_ps
    _mm512_xor_ps,
    |x| real parts _mm512_moveldup_ps(x), imaginary parts _mm512_movehdup_ps(x),
    swapped _mm512_permute_ps::<0b10_11_00_01>(x),
    reversed _mm512_castsi512_ps(
        _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_castps_si512(x))
    ),
    signs _mm512_castsi512_ps(_mm512_set1_epi64(i64::MIN))
}

register! {
    __m512d: 4 of f64,
    _mm512_loadu_pd _mm512_storeu_pd _mm512_set1_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_fmaddsub_pd
    _mm512_xor_pd,
    |x| real parts _mm512_movedup_pd(x), imaginary parts _mm512_permute_pd::<0b1111_1111>(x),
    swapped _mm512_permute_pd::<0b0101_0101>(x),
    reversed _mm512_shuffle_f64x2::<0b00_01_10_11>(x, x),
    signs _mm512_castsi512_pd(_mm512_setr_epi64(0, i64::MIN, 0, i64::MIN, 0, i64::MIN, 0, i64::MIN))
}

/// The ends of a spectrum: pairs of numbers, one counted from the front, the other from the back.
pub(super) struct Ends<T> {
    pub(super) front: *mut Complex<T>,
    /// One past the last number.
    pub(super) back: *mut Complex<T>,
}

/// Turns each pair `a`, `b` and a root into the pair `even + odd`, `conj(even - odd)`, with
/// `even = (a + conj(b)) * factors[0]` and `odd = (a - conj(b)) * root * factors[1]`, or with the conjugate of the root
/// if `BACK`. Returns how many pairs it has done.
///
/// # Safety
/// - Both ends have as many numbers as there are roots, which nothing else uses; those of `from` may be read, those of
///   `to` written. `from` and `to` are the same, or share no memory.
#[inline(always)]
pub(super) unsafe fn combined<T: Real, const BACK: bool>(
    from: &Ends<T>,
    to: &Ends<T>,
    roots: &[Complex<T>],
    factors: [T; 2],
) -> usize {
    macro_rules! of {
        ($real:ty, $vector:ty) => {
            if TypeId::of::<T>() == TypeId::of::<$real>() && has_avx512() {
                // SAFETY: `T` is this type; `has_avx512` found the features; the rest is what the caller vouches for.
                return unsafe {
                    combined_in::<$vector, BACK>(
                        [from.front.cast(), from.back.cast()],
                        [to.front.cast(), to.back.cast()],
                        (roots.as_ptr().cast(), roots.len()),
                        factors.map(|factor| std::mem::transmute_copy::<T, $real>(&factor)),
                    )
                };
            }
        };
    }
    of!(f32, __m512);
    of!(f64, __m512d);
    0
}

/// # Safety
/// - The requirements of [`combined`]: both ends of `from` and `to` have as many numbers as there are roots, for this
///   call alone.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn combined_in<V: Register, const BACK: bool>(
    [front, back]: [*const Complex<V::Real>; 2],
    [to_front, to_back]: [*mut Complex<V::Real>; 2],
    (roots, count): (*const Complex<V::Real>, usize),
    [even, odd]: [V::Real; 2],
) -> usize {
    let whole = count - count % V::COUNT;
    // SAFETY: `at` and the numbers after it in a register are below `count`; the caller vouches for as many roots, and
    // for as many numbers at both ends. A register's numbers are loaded before their places are written.
    unsafe {
        let (even_factor, odd_factor) = (V::splat(even), V::splat(odd));
        for at in (0..whole).step_by(V::COUNT) {
            let before = at + V::COUNT;
            let root = V::load(roots.add(at)).scaled(odd_factor);
            let root = if BACK { root.conjugate() } else { root };
            let a = V::load(front.add(at));
            let b = V::load(back.sub(before)).reversed().conjugate();
            let (even, odd) = (a.plus(b).scaled(even_factor), a.minus(b).times(root));
            even.plus(odd).store(to_front.add(at));
            even.minus(odd).conjugate().reversed().store(to_back.sub(before));
        }
    }
    whole
}
