//! Logarithms in a register.
//!
//! `log(2^n (1 + f)) = n log(2) + log(1 + f)` with `1 + f` from ¾ to 1½. The instructions give an infinite exponent for
//! zero and for infinity, and a mantissa of NaN for negative numbers.
#![expect(unsafe_code, reason = "calls instructions that whoever calls these functions vouches for")]

use std::arch::x86_64::*;

use super::super::{BinaryLogarithm, DecimalLogarithm, InRegisters, LogOdds, Logarithm};
use super::{polynomial, polynomial_of_doubles, quotient_of_doubles};

/// Numbers `2^n (1 + f)`, and `tail = ln(1 + f) - f`.
struct Parts<V> {
    n: V,
    f: V,
    tail: V,
}

impl Parts<__m512> {
    /// # Safety
    /// - The processor has the widest vectors.
    #[inline(always)]
    unsafe fn of(x: __m512) -> Self {
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
        // SAFETY: these instructions access no memory, and the caller vouches for the processor.
        unsafe {
            let mantissa = _mm512_getmant_ps::<_MM_MANT_NORM_P75_1P5, _MM_MANT_SIGN_NAN>(x);
            let n = _mm512_sub_ps(_mm512_getexp_ps(x), _mm512_getexp_ps(mantissa));
            let f = _mm512_sub_ps(mantissa, _mm512_set1_ps(1.0));
            let p = _mm512_fmadd_ps(polynomial(f, COEFFICIENTS), f, _mm512_set1_ps(-0.5));
            Parts { n, f, tail: _mm512_mul_ps(p, _mm512_mul_ps(f, f)) }
        }
    }

    /// # Safety
    /// - The processor has the widest vectors.
    #[inline(always)]
    unsafe fn natural(self) -> __m512 {
        // The first part has few digits, so that its product with an exponent is exact; the rest is positive, so that
        // infinity stays infinity.
        const LN_2: [f32; 2] = [0.693_115_23, 3.194_618_5e-5];
        // SAFETY: these instructions access no memory, and the caller vouches for the processor.
        unsafe {
            let rest = _mm512_fmadd_ps(self.n, _mm512_set1_ps(LN_2[1]), self.tail);
            let rest = _mm512_add_ps(self.f, rest);
            _mm512_fmadd_ps(self.n, _mm512_set1_ps(LN_2[0]), rest)
        }
    }

    /// The logarithm to a base, from the logarithms of 2 and of *e* to that base, each as a sum of two parts. The first
    /// part of that of 2 has few digits.
    ///
    /// # Safety
    /// - The processor has the widest vectors.
    #[inline(always)]
    unsafe fn scaled(self, two: [f32; 2], e: [f32; 2]) -> __m512 {
        // SAFETY: these instructions access no memory, and the caller vouches for the processor.
        unsafe {
            const INFINITIES: i32 = 0b001_1000;
            let two = [_mm512_set1_ps(two[0]), _mm512_set1_ps(two[1])];
            let e = [_mm512_set1_ps(e[0]), _mm512_set1_ps(e[1])];
            let whole = _mm512_mul_ps(self.n, two[0]);
            let value = _mm512_fmadd_ps(self.f, e[0], whole);
            // The rounding error of this sum, and the terms that are not in it; an infinite sum needs neither.
            let lost = _mm512_fmadd_ps(self.f, e[0], _mm512_sub_ps(whole, value));
            let rest = _mm512_fmadd_ps(self.tail, e[0], lost);
            let rest = _mm512_fmadd_ps(self.f, e[1], rest);
            let rest = _mm512_fmadd_ps(self.n, two[1], rest);
            let is_finite = !_mm512_fpclass_ps_mask::<INFINITIES>(whole);
            _mm512_mask_add_ps(value, is_finite, value, rest)
        }
    }
}

impl Parts<__m512d> {
    /// Sums the series of the inverse hyperbolic tangent of `s = f / (2 + f)`.
    ///
    /// # Safety
    /// - The processor has the widest vectors.
    #[inline(always)]
    unsafe fn of(x: __m512d) -> Self {
        // With the smallest error for `s²` up to 1/25.
        const COEFFICIENTS: [f64; 8] = [
            1.361_404_704_104_133e-1,
            1.320_905_408_180_498_6e-1,
            1.538_890_111_368_912_4e-1,
            1.818_173_679_129_74e-1,
            2.222_222_305_900_626e-1,
            2.857_142_856_721_186e-1,
            4.000_000_000_000_808_5e-1,
            6.666_666_666_666_666e-1,
        ];
        // SAFETY: these instructions access no memory, and the caller vouches for the processor.
        unsafe {
            let mantissa = _mm512_getmant_pd::<_MM_MANT_NORM_P75_1P5, _MM_MANT_SIGN_NAN>(x);
            let n = _mm512_sub_pd(_mm512_getexp_pd(x), _mm512_getexp_pd(mantissa));
            // The mantissa of -0 is -1, which would make the divisor 0.
            let f = _mm512_sub_pd(_mm512_abs_pd(mantissa), _mm512_set1_pd(1.0));
            let s = quotient_of_doubles(f, _mm512_add_pd(f, _mm512_set1_pd(2.0)));
            let square = _mm512_mul_pd(s, s);
            let half = _mm512_mul_pd(_mm512_mul_pd(f, f), _mm512_set1_pd(0.5));
            let p = _mm512_fmadd_pd(polynomial_of_doubles(square, COEFFICIENTS), square, half);
            Parts { n, f, tail: _mm512_fmsub_pd(s, p, half) }
        }
    }

    /// # Safety
    /// - The processor has the widest vectors.
    #[inline(always)]
    unsafe fn natural(self) -> __m512d {
        const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
        // SAFETY: these instructions access no memory, and the caller vouches for the processor.
        unsafe {
            let rest = _mm512_fmadd_pd(self.n, _mm512_set1_pd(LN_2[1]), self.tail);
            let rest = _mm512_add_pd(self.f, rest);
            _mm512_fmadd_pd(self.n, _mm512_set1_pd(LN_2[0]), rest)
        }
    }
}

impl InRegisters for Logarithm {
    const OF_DOUBLES: bool = true;

    #[inline(always)]
    unsafe fn of_singles(x: __m512) -> __m512 {
        // SAFETY: the caller vouches for the processor.
        unsafe { Parts::<__m512>::of(x).natural() }
    }

    #[inline(always)]
    unsafe fn of_doubles(x: __m512d) -> __m512d {
        // SAFETY: the caller vouches for the processor.
        unsafe { Parts::<__m512d>::of(x).natural() }
    }
}

impl InRegisters for BinaryLogarithm {
    #[inline(always)]
    unsafe fn of_singles(x: __m512) -> __m512 {
        const LOG2_E: [f32; 2] = [std::f32::consts::LOG2_E, 1.925_963e-8];
        // SAFETY: the caller vouches for the processor.
        unsafe { Parts::<__m512>::of(x).scaled([1.0, 0.0], LOG2_E) }
    }
}

impl InRegisters for DecimalLogarithm {
    #[inline(always)]
    unsafe fn of_singles(x: __m512) -> __m512 {
        const LOG10_2: [f32; 2] = [0.301_025_4, 4.605_039e-6];
        const LOG10_E: [f32; 2] = [std::f32::consts::LOG10_E, -1.010_305e-8];
        // SAFETY: the caller vouches for the processor.
        unsafe { Parts::<__m512>::of(x).scaled(LOG10_2, LOG10_E) }
    }
}

impl InRegisters for LogOdds {
    #[inline(always)]
    unsafe fn of_singles(x: __m512) -> __m512 {
        // SAFETY: these instructions access no memory, and the caller vouches for the processor.
        unsafe {
            let odds = _mm512_div_ps(x, _mm512_sub_ps(_mm512_set1_ps(1.0), x));
            Parts::<__m512>::of(odds).natural()
        }
    }
}
