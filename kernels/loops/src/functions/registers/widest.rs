//! Functions of the floats in a register, with instructions that only AVX-512 has.
//!
//! These instructions split numbers into mantissa and exponent and put them together again, also for subnormal numbers
//! and infinities, which take extra steps on other processors.
#![expect(unsafe_code, reason = "calls instructions that whoever calls these functions vouches for")]

use std::arch::x86_64::*;

use torch_library::Element;

use super::InRegisters;
use crate::vector::Vector;

mod circular;
mod error;
mod exponential;
mod hyperbolic;
mod logarithm;
mod root;

pub use exponential::exponentials;

/// Computes `len` results, in registers of `f32` or of `f64`.
///
/// # Safety
/// - `T` is `f32` or `f64`.
/// - `len` elements can be read from `from` on, and nothing else writes to them during the call.
/// - `len` elements can be written from `out` on, which nothing else uses; `out` is `from`, or shares no memory with
///   it.
/// - The processor has the widest vectors.
#[inline(always)]
pub(super) unsafe fn each<T: Element, W: InRegisters>(out: *mut T, from: *const T, len: usize) {
    const SINGLES: usize = __m512::LANES;
    const DOUBLES: usize = __m512d::LANES;
    // SAFETY: `start + count` is at most `len`, and the caller vouches for `len` elements in both, of the type that has
    // this size, and for the processor. Each register is loaded before its place is written.
    unsafe {
        if size_of::<T>() == size_of::<f32>() {
            let (out, from) = (out.cast::<f32>(), from.cast::<f32>());
            for start in (0..len).step_by(SINGLES) {
                let count = SINGLES.min(len - start);
                W::of_singles(__m512::load(from.add(start), count)).store(out.add(start), count);
            }
        } else {
            let (out, from) = (out.cast::<f64>(), from.cast::<f64>());
            for start in (0..len).step_by(DOUBLES) {
                let count = DOUBLES.min(len - start);
                W::of_doubles(__m512d::load(from.add(start), count)).store(out.add(start), count);
            }
        }
    }
}

/// The value of a polynomial by Horner's rule, with the coefficient of the highest power first.
///
/// # Safety
/// - The processor has the widest vectors.
#[inline(always)]
unsafe fn polynomial<const N: usize>(x: __m512, coefficients: [f32; N]) -> __m512 {
    // SAFETY: these instructions access no memory, and the caller vouches for the processor.
    unsafe {
        let mut value = _mm512_set1_ps(coefficients[0]);
        for coefficient in &coefficients[1..] {
            value = _mm512_fmadd_ps(value, x, _mm512_set1_ps(*coefficient));
        }
        value
    }
}

/// Like [`polynomial`], in double precision.
///
/// # Safety
/// - The processor has the widest vectors.
#[inline(always)]
unsafe fn polynomial_of_doubles<const N: usize>(x: __m512d, coefficients: [f64; N]) -> __m512d {
    // SAFETY: these instructions access no memory, and the caller vouches for the processor.
    unsafe {
        let mut value = _mm512_set1_pd(coefficients[0]);
        for coefficient in &coefficients[1..] {
            value = _mm512_fmadd_pd(value, x, _mm512_set1_pd(*coefficient));
        }
        value
    }
}

/// A quotient by a divisor of moderate size: an estimate, refined, which takes a fraction of the time of the
/// instruction for division, and is within a unit of the last place.
///
/// # Safety
/// - The processor has the widest vectors.
#[inline(always)]
unsafe fn quotient_of_doubles(dividend: __m512d, divisor: __m512d) -> __m512d {
    // SAFETY: these instructions access no memory, and the caller vouches for the processor.
    unsafe {
        let one = _mm512_set1_pd(1.0);
        let inverse = _mm512_rcp14_pd(divisor);
        let inverse = _mm512_fmadd_pd(inverse, _mm512_fnmadd_pd(inverse, divisor, one), inverse);
        let quotient = _mm512_mul_pd(dividend, inverse);
        _mm512_fmadd_pd(_mm512_fnmadd_pd(quotient, divisor, dividend), inverse, quotient)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Circular;
    use super::super::super::errors::{largest, largest_double};
    use super::super::*;
    use super::*;
    use crate::loops::has_avx512;

    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    fn of<T: Element, W: InRegisters>(x: T) -> T {
        let mut value = x;
        // SAFETY: one number each, in two local variables; the types of the tests are `f32` and `f64`, and the caller
        // vouches for the features.
        unsafe { each::<T, W>(&raw mut value, &raw const x, 1) };
        value
    }

    /// The function of one number.
    fn one<T: Element, W: InRegisters>(x: T) -> T {
        // SAFETY: both tests return before where `has_avx512` does not find these features.
        unsafe { of::<T, W>(x) }
    }

    #[test]
    fn functions_are_within_a_few_units_of_the_last_place() {
        if !has_avx512() {
            return;
        }
        let angles = |f: fn(f32) -> f32| move |x: f32| if x.is_moderate() { f(x) } else { x.tan() };
        let odds = |x: f64| {
            let rest = 1.0 - x as f32;
            f64::from(x as f32 / rest).ln()
        };
        for (name, error, most) in [
            ("log", largest(one::<f32, Logarithm>, f64::ln), 1.0),
            ("log2", largest(one::<f32, BinaryLogarithm>, f64::log2), 2.0),
            ("log10", largest(one::<f32, DecimalLogarithm>, f64::log10), 2.0),
            ("logit", largest(one::<f32, LogOdds>, odds), 1.0),
            ("exp", largest(one::<f32, Exponential>, f64::exp), 1.0),
            ("tanh", largest(one::<f32, HyperbolicTangent>, f64::tanh), 1.4),
            ("tan", largest(angles(one::<f32, Tangent>), f64::tan), 1.4),
            ("erfc", largest(one::<f32, ComplementaryError>, libm::erfc), 3.0),
            ("double exp", largest_double(one::<f64, Exponential>, f64::exp), 1.1),
            ("double log", largest_double(one::<f64, Logarithm>, f64::ln), 1.1),
        ] {
            assert!(error <= most, "{name}: {error}");
        }
    }

    #[test]
    fn square_roots_are_those_of_the_processor() {
        if !has_avx512() {
            return;
        }
        // All mantissas of even and of odd exponents, where there is time for them.
        let step = if cfg!(debug_assertions) { 61 } else { 1 };
        let mantissas = (1f32.to_bits()..4f32.to_bits()).step_by(step).map(f32::from_bits);
        let all = (0..f32::INFINITY.to_bits()).step_by(16_001).map(f32::from_bits);
        for x in mantissas.chain(all).chain([f32::MAX, f32::INFINITY]) {
            assert_eq!(one::<f32, SquareRoot>(x), x.sqrt(), "{x}");
        }
        assert!([-1.0, f32::NAN, f32::NEG_INFINITY].iter().all(|x| one::<f32, SquareRoot>(*x).is_nan()));
        assert!(one::<f32, SquareRoot>(-0.0).is_sign_negative());
    }

    /// The numbers `m` below `2^bits` with `m * m % 2^bits == rest`, for a `rest` that is 1 modulo 8.
    fn roots_modulo(rest: i128, bits: u32) -> Vec<i128> {
        let mut roots = vec![1, 3, 5, 7];
        for bits in 4..=bits {
            let modulus = 1i128 << bits;
            let lifted = roots.iter().flat_map(|root| [*root, root + modulus / 2]);
            let fits = |root: &i128| (root * root - rest).rem_euclid(modulus) == 0;
            // A root modulo 2^bits may stem from one that differs by a quarter.
            roots = lifted.flat_map(|root| [root, (root + modulus / 4) % modulus]).filter(fits).collect();
            roots.sort_unstable();
            roots.dedup();
        }
        roots
    }

    #[test]
    fn square_roots_that_are_hard_to_round_are_right() {
        if !has_avx512() {
            return;
        }
        // The middles between two doubles are the odd numbers `m` of 54 bits. For a double `x` near the square of one,
        // `m * m - x` is small, and `x` is a multiple of 2^54 or 2^55.
        let mut count = 0;
        for distance in (-2047i128..2048).filter(|distance| distance.rem_euclid(8) == 1) {
            for bits in [54, 55] {
                let roots = roots_modulo(distance, bits);
                let middles = roots.iter().flat_map(|root| [*root, root + (1 << bits)]);
                for middle in middles.filter(|middle| (1i128 << 53..1 << 54).contains(middle)) {
                    let square = middle * middle - distance;
                    let x = square as f64;
                    if x as i128 == square {
                        assert_eq!(one::<f64, SquareRoot>(x), x.sqrt(), "{x}");
                        count += 1;
                    }
                }
            }
        }
        assert!(count > 700, "{count}");
        let mut bits = 0x3ff0_0000_0000_0000u64;
        for _ in 0..200_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let x = f64::from_bits(bits >> 1); // also subnormal numbers, infinities and NaN
            assert_eq!(one::<f64, SquareRoot>(x).to_bits(), x.sqrt().to_bits(), "{x}");
        }
        for x in [0.0, -0.0, 5e-324, 1e-280, f64::MAX, f64::INFINITY, 1.0, 4.0] {
            assert_eq!(one::<f64, SquareRoot>(x).to_bits(), x.sqrt().to_bits(), "{x}");
        }
        assert!(one::<f64, SquareRoot>(-1.0).is_nan() && one::<f64, SquareRoot>(f64::NAN).is_nan());
    }

    #[test]
    fn whole_logarithms_are_exact() {
        if !has_avx512() {
            return;
        }
        assert!((-149..128).all(|n| one::<f32, BinaryLogarithm>(2f64.powi(n) as f32) == n as f32));
        assert!((0..11).all(|n| one::<f32, DecimalLogarithm>(10f32.powi(n)) == n as f32));
    }

    #[test]
    fn the_ends_and_the_zeros_are_right() {
        if !has_avx512() {
            return;
        }
        const INFINITY: f32 = f32::INFINITY;
        for x in
            [0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, 88.7, 89.0, -104.0, f32::MAX, INFINITY, -INFINITY, f32::NAN]
        {
            let wide = f64::from(x);
            let pairs = [
                (one::<f32, Logarithm>(x), wide.ln()),
                (one::<f32, BinaryLogarithm>(x), wide.log2()),
                (one::<f32, DecimalLogarithm>(x), wide.log10()),
                (one::<f32, LogOdds>(x), (wide / (1.0 - wide)).ln()),
                (one::<f32, Exponential>(x), wide.exp()),
                (one::<f32, HyperbolicTangent>(x), wide.tanh()),
                (one::<f32, ComplementaryError>(x), libm::erfc(wide)),
                (one::<f64, Exponential>(wide) as f32, wide.exp()),
                (one::<f64, Logarithm>(wide) as f32, wide.ln()),
            ];
            for (k, (got, want)) in pairs.into_iter().enumerate() {
                let are_alike = got.to_bits().abs_diff((want as f32).to_bits()) < 2;
                assert!(are_alike || got.is_nan() && want.is_nan(), "{k} of {x}: {got}, expected {want}");
            }
        }
        assert_eq!([0.0, -0.0].map(|x: f32| one::<f32, Tangent>(x).to_bits()), [0, 1 << 31]);
        let beyond =
            (8f32.to_bits()..10f32.to_bits()).map(|bits| one::<f32, HyperbolicTangent>(f32::from_bits(bits)));
        assert!(beyond.is_sorted() && one::<f32, HyperbolicTangent>(9.1) == 1.0);
        assert_eq!(
            [745.2, -745.1, 709.7, 709.8].map(|x: f64| one::<f64, Exponential>(-x)),
            [-745.2f64, 745.1, -709.7, -709.8].map(f64::exp)
        );
    }
}
