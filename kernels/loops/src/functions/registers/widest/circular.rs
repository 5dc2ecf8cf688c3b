//! The tangent in a register.
#![expect(unsafe_code, reason = "calls instructions that whoever calls these functions vouches for")]

use std::arch::x86_64::*;

use super::super::{InRegisters, Tangent};
use super::polynomial;

impl InRegisters for Tangent {
    /// The tangent of the angle reduced by multiples of π/2, or minus its reciprocal.
    #[inline(always)]
    unsafe fn of_singles(x: __m512) -> __m512 {
        // With the smallest relative error up to π/4, found by weighted least squares.
        const COEFFICIENTS: [f32; 6] =
            [9.390_681e-3, 3.111_146_9e-3, 2.443_551e-2, 5.340_980_4e-2, 1.333_881_6e-1, 3.333_315_6e-1];
        const ROUNDER: f32 = 12_582_912.0; // 1.5 · 2^23
        const QUARTER: f32 = std::f32::consts::FRAC_PI_2;
        const QUARTER_REST: f32 = 4.371_139e-8;
        const QUARTER_LAST: f32 = 1.715_124_5e-15;
        // SAFETY: these instructions access no memory, and the caller vouches for the processor.
        unsafe {
            let (angle, rounder) = (_mm512_abs_ps(x), _mm512_set1_ps(ROUNDER));
            let rounded = _mm512_fmadd_ps(angle, _mm512_set1_ps(std::f32::consts::FRAC_2_PI), rounder);
            let n = _mm512_sub_ps(rounded, rounder);
            let exact = _mm512_fnmadd_ps(n, _mm512_set1_ps(QUARTER), angle);
            // The reduced angle, and its rounding error.
            let r = _mm512_fmadd_ps(n, _mm512_set1_ps(QUARTER_REST), exact);
            let lost = _mm512_fmadd_ps(n, _mm512_set1_ps(QUARTER_REST), _mm512_sub_ps(exact, r));
            let lost = _mm512_fmadd_ps(n, _mm512_set1_ps(QUARTER_LAST), lost);
            let square = _mm512_mul_ps(r, r);
            let tail = _mm512_mul_ps(_mm512_mul_ps(square, r), polynomial(square, COEFFICIENTS));
            let tail = _mm512_add_ps(tail, _mm512_fmadd_ps(lost, square, lost));
            let tangent = _mm512_add_ps(r, tail);
            // After an odd number of quarter turns, minus the reciprocal: an estimate, refined twice, the second time
            // with the rounding error of the tangent.
            let lost = _mm512_sub_ps(tail, _mm512_sub_ps(tangent, r));
            let one = _mm512_set1_ps(1.0);
            let inverse = _mm512_rcp14_ps(tangent);
            let inverse = _mm512_fmadd_ps(inverse, _mm512_fnmadd_ps(inverse, tangent, one), inverse);
            let error = _mm512_fnmadd_ps(inverse, lost, _mm512_fnmadd_ps(inverse, tangent, one));
            let inverse = _mm512_fmadd_ps(inverse, error, inverse);
            let is_odd = _mm512_test_epi32_mask(_mm512_castps_si512(rounded), _mm512_set1_epi32(1));
            let sign = _mm512_set1_ps(-0.0);
            let value = _mm512_mask_xor_ps(tangent, is_odd, inverse, sign);
            _mm512_xor_ps(value, _mm512_and_ps(x, sign)) // zeros keep their sign
        }
    }
}
