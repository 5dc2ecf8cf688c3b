//! The complementary error function in a register.
#![expect(unsafe_code, reason = "calls instructions that whoever calls these functions vouches for")]

use std::arch::x86_64::*;

use super::super::super::error::FACTOR_OF_SINGLE;
use super::super::{ComplementaryError, InRegisters};
use super::exponential::power_of_e;
use super::polynomial;

impl InRegisters for ComplementaryError {
    /// The formula for any processor, with an estimate of the reciprocal, whose error is part of the same correction as
    /// the rounding errors.
    #[inline(always)]
    unsafe fn of_singles(x: __m512) -> __m512 {
        // SAFETY: these instructions access no memory, and the caller vouches for the processor.
        unsafe {
            let (one, three) = (_mm512_set1_ps(1.0), _mm512_set1_ps(3.0));
            // The result is 0 or 2 beyond this; NaN stays, as the second operand.
            let size = _mm512_min_ps(_mm512_set1_ps(30.0), _mm512_abs_ps(x));
            let inverse = _mm512_rcp14_ps(_mm512_add_ps(size, three));
            let quotient = _mm512_mul_ps(_mm512_sub_ps(size, three), inverse);
            // The errors of `inverse`, relative to it, and of `quotient`.
            let excess = _mm512_fnmadd_ps(inverse, size, _mm512_fnmadd_ps(inverse, three, one));
            let rest = _mm512_fnmadd_ps(three, _mm512_add_ps(quotient, one), size);
            let rest = _mm512_fnmadd_ps(quotient, size, rest);
            let place = _mm512_fmadd_ps(inverse, rest, quotient);
            let factor = _mm512_mul_ps(polynomial(place, FACTOR_OF_SINGLE), inverse);
            let square = _mm512_mul_ps(size, size);
            let [n, less_one] = power_of_e(_mm512_sub_ps(_mm512_setzero_ps(), square));
            let correction = _mm512_sub_ps(excess, _mm512_fmsub_ps(size, size, square));
            let correction = _mm512_fmadd_ps(correction, less_one, correction);
            let value = _mm512_fmadd_ps(factor, _mm512_add_ps(less_one, correction), factor);
            let complement = _mm512_scalef_ps(value, n);
            let is_negative = _mm512_movepi32_mask(_mm512_castps_si512(x));
            _mm512_mask_sub_ps(complement, is_negative, _mm512_set1_ps(2.0), complement)
        }
    }
}
