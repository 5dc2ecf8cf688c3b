//! The square root in a register.
#![expect(unsafe_code, reason = "calls instructions that whoever calls these functions vouches for")]

use std::arch::x86_64::*;

use super::super::{InRegisters, SquareRoot};

impl InRegisters for SquareRoot {
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
}
