//! The largest or smallest of many `f32`, their sum, product and sum of squares, in AVX-512 registers.
//!
//! The compiler keeps an array of accumulators in memory, where each step waits for the store of the one before, and
//! adds the last elements, fewer than accumulators, one after the other.
#![expect(
    unsafe_code,
    reason = "looks at elements as the floats that they are, and loads them into registers"
)]

use std::arch::x86_64::*;

use torch_library::{DType, Element};

use crate::inlined::zip;
use crate::loops::has_avx512;

/// The number of accumulators.
const MANY: usize = 4;

/// The largest or smallest element and whether one is NaN; nothing for other types and processors.
#[inline(always)]
pub(super) fn extreme<T: Element, const LARGEST: bool>(elements: &[T]) -> Option<(T, bool)> {
    if T::DTYPE != DType::Float32 || !has_avx512() {
        return None;
    }
    // SAFETY: `f32` is the only type of elements of this dtype, so this is the same slice.
    let singles = unsafe { std::slice::from_raw_parts(elements.as_ptr().cast::<f32>(), elements.len()) };
    // SAFETY: `has_avx512` found the features that it is compiled for.
    let (best, is_unordered) = unsafe { of_singles::<LARGEST>(singles) };
    Some((best.cast(), is_unordered))
}

/// What [`accumulated`] computes of elements: their sum, their product, or the sum of their squares.
pub(super) const SUM: u8 = 0;
pub(super) const PRODUCT: u8 = 1;
pub(super) const SQUARES: u8 = 2;

/// The sum (or what else `WHAT` is); nothing for other types and processors, and for fewer elements than a register has,
/// which PyTorch adds one after the other, too.
#[inline(always)]
pub(super) fn accumulated<T: Element, const WHAT: u8>(elements: &[T]) -> Option<T> {
    if T::DTYPE != DType::Float32 || elements.len() < 16 || !has_avx512() {
        return None;
    }
    // SAFETY: `f32` is the only type of elements of this dtype, so this is the same slice.
    let singles = unsafe { std::slice::from_raw_parts(elements.as_ptr().cast::<f32>(), elements.len()) };
    // SAFETY: `has_avx512` found the features that it is compiled for.
    Some(unsafe { accumulated_singles::<WHAT>(singles) }.cast())
}

#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
fn accumulated_singles<const WHAT: u8>(elements: &[f32]) -> f32 {
    let neutral = _mm512_set1_ps(if WHAT == PRODUCT { 1.0 } else { 0.0 });
    let mut lanes = [neutral; MANY];
    let (chunks, rest) = elements.as_chunks::<{ 16 * MANY }>();
    for chunk in chunks {
        for (lanes, part) in zip(&mut lanes, chunk.as_chunks::<16>().0) {
            // SAFETY: sixteen elements, which need not be aligned.
            *lanes = accumulate::<WHAT>(*lanes, unsafe { _mm512_loadu_ps(part.as_ptr()) });
        }
    }
    for (lanes, part) in lanes.iter_mut().zip(rest.chunks(16)) {
        let mask = (1u32 << part.len()).wrapping_sub(1) as __mmask16;
        // SAFETY: at most sixteen elements, which need not be aligned; lanes that the mask leaves out are not read.
        let x = unsafe { _mm512_mask_loadu_ps(neutral, mask, part.as_ptr()) };
        *lanes = accumulate::<WHAT>(*lanes, x);
    }
    let [a, b, c, d] = lanes;
    match WHAT {
        PRODUCT => _mm512_reduce_mul_ps(_mm512_mul_ps(_mm512_mul_ps(a, b), _mm512_mul_ps(c, d))),
        _ => _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d))),
    }
}

/// Adds elements, or their squares, to the lanes, or multiplies them.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
fn accumulate<const WHAT: u8>(lanes: __m512, x: __m512) -> __m512 {
    match WHAT {
        PRODUCT => _mm512_mul_ps(lanes, x),
        SQUARES => _mm512_fmadd_ps(x, x, lanes),
        _ => _mm512_add_ps(lanes, x),
    }
}

#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
fn of_singles<const LARGEST: bool>(elements: &[f32]) -> (f32, bool) {
    let worst = _mm512_set1_ps(if LARGEST { f32::NEG_INFINITY } else { f32::INFINITY });
    let (mut best, mut unordered) = ([worst; MANY], 0);
    let (chunks, rest) = elements.as_chunks::<{ 16 * MANY }>();
    for chunk in chunks {
        let (parts, _) = chunk.as_chunks::<16>();
        let mut x = [worst; MANY];
        for (x, part) in zip(&mut x, parts) {
            // SAFETY: sixteen elements, which need not be aligned.
            *x = unsafe { _mm512_loadu_ps(part.as_ptr()) };
        }
        // One comparison checks two registers.
        unordered |= _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x[0], x[1]);
        unordered |= _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x[2], x[3]);
        for (best, x) in zip(&mut best, &x) {
            *best = better::<LARGEST>(*x, *best);
        }
    }
    for part in rest.chunks(16) {
        let mask = (1u32 << part.len()).wrapping_sub(1) as __mmask16;
        // SAFETY: at most sixteen elements, which need not be aligned; lanes that the mask leaves out are not read.
        let x = unsafe { _mm512_mask_loadu_ps(worst, mask, part.as_ptr()) };
        unordered |= _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
        best[0] = better::<LARGEST>(x, best[0]);
    }
    let halves = [better::<LARGEST>(best[0], best[1]), better::<LARGEST>(best[2], best[3])];
    let best = better::<LARGEST>(halves[0], halves[1]);
    let best = if LARGEST { _mm512_reduce_max_ps(best) } else { _mm512_reduce_min_ps(best) };
    (best, unordered != 0)
}

/// The better of two numbers in each lane; the second if one is NaN.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
fn better<const LARGEST: bool>(a: __m512, b: __m512) -> __m512 {
    if LARGEST { _mm512_max_ps(a, b) } else { _mm512_min_ps(a, b) }
}
