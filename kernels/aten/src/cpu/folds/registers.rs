//! The largest or smallest of many floats, their sums, product and sum of squares, in AVX-512 registers.
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

/// Fewer elements are added one after the other, as in PyTorch.
const FEWEST: usize = 16;

/// The largest or smallest element and whether one is NaN; `None` for other types and processors.
#[inline(always)]
pub(super) fn extreme<T: Element, const LARGEST: bool>(elements: &[T]) -> Option<(T, bool)> {
    if !has_avx512() {
        return None;
    }
    // SAFETY: `has_avx512` found the features that the functions are compiled for; `f32` and `f64` are the only types
    // of elements of their dtypes, so these are the same slices.
    unsafe {
        match T::DTYPE {
            DType::Float32 => {
                let (best, is_unordered) = singles::extreme::<LARGEST>(cast(elements));
                Some((best.cast(), is_unordered))
            }
            DType::Float64 => {
                let (best, is_unordered) = doubles::extreme::<LARGEST>(cast(elements));
                Some((best.cast(), is_unordered))
            }
            _ => None,
        }
    }
}

/// For [`accumulated`]: the sum.
pub(super) const SUM: u8 = 0;
/// For [`accumulated`]: the product.
pub(super) const PRODUCT: u8 = 1;
/// For [`accumulated`]: the sum of squares.
pub(super) const SQUARES: u8 = 2;
/// For [`accumulated`]: the sum of the elements that are not NaN.
pub(super) const NUMBERS: u8 = 3;

/// What `WHAT` names, such as [`SUM`]; `None` for other types and processors, and for few elements.
#[inline(always)]
pub(super) fn accumulated<T: Element, const WHAT: u8>(elements: &[T]) -> Option<T> {
    if elements.len() < FEWEST || !has_avx512() {
        return None;
    }
    // SAFETY: `has_avx512` found the features that the functions are compiled for; `f32` and `f64` are the only types
    // of elements of their dtypes, so these are the same slices.
    unsafe {
        match T::DTYPE {
            DType::Float32 => Some(singles::accumulated::<WHAT>(cast(elements)).cast()),
            DType::Float64 => Some(doubles::accumulated::<WHAT>(cast(elements)).cast()),
            _ => None,
        }
    }
}

/// The same slice.
///
/// # Safety
/// - `T` and `U` are one type.
unsafe fn cast<T, U>(elements: &[T]) -> &[U] {
    // SAFETY: the caller guarantees that nothing changes.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), elements.len()) }
}

/// Writes the functions for one type, with the names of its instructions.
macro_rules! registers {
    (
        $module:ident: $float:ty, $register:ty, $mask:ty, $lanes:literal;
        $splat:ident $load:ident $masked:ident $add:ident $add_some:ident $times:ident $times_plus:ident
        $min:ident $max:ident $compare:ident $sum:ident $product:ident $smallest:ident $largest:ident
    ) => {
        mod $module {
            use super::*;

            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
            pub(super) fn accumulated<const WHAT: u8>(elements: &[$float]) -> $float {
                let neutral = $splat(if WHAT == PRODUCT { 1.0 } else { 0.0 });
                let mut lanes = [neutral; MANY];
                let (chunks, rest) = elements.as_chunks::<{ $lanes * MANY }>();
                for chunk in chunks {
                    for (lanes, part) in zip(&mut lanes, chunk.as_chunks::<$lanes>().0) {
                        // SAFETY: the elements of a register, which need not be aligned.
                        *lanes = accumulate::<WHAT>(*lanes, unsafe { $load(part.as_ptr()) });
                    }
                }
                for (lanes, part) in lanes.iter_mut().zip(rest.chunks($lanes)) {
                    let mask = (1u32 << part.len()).wrapping_sub(1) as $mask;
                    // SAFETY: at most the elements of a register, which need not be aligned; lanes that the mask leaves
                    // out are not read.
                    *lanes = accumulate::<WHAT>(*lanes, unsafe { $masked(neutral, mask, part.as_ptr()) });
                }
                let [a, b, c, d] = lanes;
                match WHAT {
                    PRODUCT => $product($times($times(a, b), $times(c, d))),
                    _ => $sum($add($add(a, b), $add(c, d))),
                }
            }

            /// Adds elements to the lanes, or what `WHAT` names.
            #[inline]
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
            fn accumulate<const WHAT: u8>(lanes: $register, x: $register) -> $register {
                match WHAT {
                    PRODUCT => $times(lanes, x),
                    SQUARES => $times_plus(x, x, lanes),
                    NUMBERS => $add_some(lanes, $compare::<_CMP_ORD_Q>(x, x), lanes, x),
                    _ => $add(lanes, x),
                }
            }

            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
            pub(super) fn extreme<const LARGEST: bool>(elements: &[$float]) -> ($float, bool) {
                let worst = $splat(if LARGEST { <$float>::NEG_INFINITY } else { <$float>::INFINITY });
                let (mut best, mut unordered) = ([worst; MANY], 0);
                let (chunks, rest) = elements.as_chunks::<{ $lanes * MANY }>();
                for chunk in chunks {
                    let mut x = [worst; MANY];
                    for (x, part) in zip(&mut x, chunk.as_chunks::<$lanes>().0) {
                        // SAFETY: the elements of a register, which need not be aligned.
                        *x = unsafe { $load(part.as_ptr()) };
                    }
                    // One comparison checks two registers.
                    unordered |= $compare::<_CMP_UNORD_Q>(x[0], x[1]);
                    unordered |= $compare::<_CMP_UNORD_Q>(x[2], x[3]);
                    for (best, x) in zip(&mut best, &x) {
                        *best = better::<LARGEST>(*x, *best);
                    }
                }
                for part in rest.chunks($lanes) {
                    let mask = (1u32 << part.len()).wrapping_sub(1) as $mask;
                    // SAFETY: at most the elements of a register, which need not be aligned; lanes that the mask leaves
                    // out are not read.
                    let x = unsafe { $masked(worst, mask, part.as_ptr()) };
                    unordered |= $compare::<_CMP_UNORD_Q>(x, x);
                    best[0] = better::<LARGEST>(x, best[0]);
                }
                let halves = [better::<LARGEST>(best[0], best[1]), better::<LARGEST>(best[2], best[3])];
                let best = better::<LARGEST>(halves[0], halves[1]);
                (if LARGEST { $largest(best) } else { $smallest(best) }, unordered != 0)
            }

            /// The better of two numbers in each lane; the second if one is NaN.
            #[inline]
            #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
            fn better<const LARGEST: bool>(a: $register, b: $register) -> $register {
                if LARGEST { $max(a, b) } else { $min(a, b) }
            }
        }
    };
}

registers! {
    singles: f32, __m512, __mmask16, 16;
    _mm512_set1_ps _mm512_loadu_ps _mm512_mask_loadu_ps _mm512_add_ps _mm512_mask_add_ps _mm512_mul_ps _mm512_fmadd_ps
    _mm512_min_ps _mm512_max_ps _mm512_cmp_ps_mask
    _mm512_reduce_add_ps _mm512_reduce_mul_ps _mm512_reduce_min_ps _mm512_reduce_max_ps
}

registers! {
    doubles: f64, __m512d, __mmask8, 8;
    _mm512_set1_pd _mm512_loadu_pd _mm512_mask_loadu_pd _mm512_add_pd _mm512_mask_add_pd _mm512_mul_pd _mm512_fmadd_pd
    _mm512_min_pd _mm512_max_pd _mm512_cmp_pd_mask
    _mm512_reduce_add_pd _mm512_reduce_mul_pd _mm512_reduce_min_pd _mm512_reduce_max_pd
}
