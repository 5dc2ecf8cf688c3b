//! The square root in a register.
#![expect(unsafe_code, reason = "calls instructions that whoever calls these functions vouches for")]

use std::arch::x86_64::*;

use super::super::{InRegisters, SquareRoot};

impl InRegisters for SquareRoot {
    const OF_DOUBLES: bool = true;

    /// An estimate, refined twice, which takes less time than the instruction for square roots and rounds as it does,
    /// except for zeros, infinities, and numbers so small that a remainder would be subnormal.
    #[inline(always)]
    unsafe fn of_singles(x: __m512) -> __m512 {
        // SAFETY: these instructions access no memory, and the caller vouches for the processor.
        unsafe {
            let half = _mm512_set1_ps(0.5);
            let inverse = _mm512_rsqrt14_ps(x);
            let (root, inverse) = (_mm512_mul_ps(x, inverse), _mm512_mul_ps(inverse, half));
            let error = _mm512_fnmadd_ps(inverse, root, half);
            let (root, inverse) =
                (_mm512_fmadd_ps(root, error, root), _mm512_fmadd_ps(inverse, error, inverse));
            let left = _mm512_fnmadd_ps(root, root, x);
            let root = _mm512_fmadd_ps(left, inverse, root);
            let is_usual = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(x, _mm512_set1_ps(1e-30))
                & _mm512_cmp_ps_mask::<_CMP_LE_OQ>(x, _mm512_set1_ps(f32::MAX));
            if is_usual == __mmask16::MAX { root } else { _mm512_mask_sqrt_ps(root, !is_usual, x) }
        }
    }

    /// Like that of singles, refined three times. Before it is rounded, the result is within 2^-103 of the root, in
    /// relation to it: the second refinement leaves an error of at most 2^-52 in the root and 2^-51 in its inverse, and
    /// the third one multiplies these. So it is rounded as the root is, unless the root is that close to the middle
    /// between two doubles. There are a few dozen such numbers, which a test enumerates.
    #[inline(always)]
    unsafe fn of_doubles(x: __m512d) -> __m512d {
        // SAFETY: these instructions access no memory, and the caller vouches for the processor.
        unsafe {
            let half = _mm512_set1_pd(0.5);
            let inverse = _mm512_rsqrt14_pd(x);
            let (mut root, mut inverse) = (_mm512_mul_pd(x, inverse), _mm512_mul_pd(inverse, half));
            for _ in 0..2 {
                let error = _mm512_fnmadd_pd(inverse, root, half);
                root = _mm512_fmadd_pd(root, error, root);
                inverse = _mm512_fmadd_pd(inverse, error, inverse);
            }
            let left = _mm512_fnmadd_pd(root, root, x);
            let root = _mm512_fmadd_pd(left, inverse, root);
            let is_usual = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(x, _mm512_set1_pd(1e-280))
                & _mm512_cmp_pd_mask::<_CMP_LE_OQ>(x, _mm512_set1_pd(f64::MAX));
            if is_usual == __mmask8::MAX { root } else { _mm512_mask_sqrt_pd(root, !is_usual, x) }
        }
    }
}
