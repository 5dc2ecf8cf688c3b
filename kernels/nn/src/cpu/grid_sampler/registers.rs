//! Reading the pixels of a block of points into AVX-512 registers.
#![expect(unsafe_code, reason = "picks pixels that are known to lie in a channel")]

use std::arch::x86_64::*;

use torch_library::DType;

use super::axis::{BLOCK, Points, Real};
use crate::loops::has_avx512;

/// The elements of a channel at some indices, with zeros where `is_inside` is false. None for other types than `f32`,
/// on other processors, and for channels whose indices are not all positive as `i32`.
///
/// # Safety
/// - Each index that is inside is one of the channel.
#[inline(always)]
pub(super) unsafe fn gathered<T: Real>(
    channel: &[T],
    at: &Points<u32>,
    is_inside: &Points<bool>,
) -> Option<Points<T>> {
    if T::DTYPE != DType::Float32 || !has_avx512() || channel.len() > i32::MAX as usize {
        return None;
    }
    let mut values = [T::ZERO; BLOCK];
    // SAFETY: `has_avx512` found the features; `T` is `f32`, the only type of this dtype, so that the channel and
    // `values` are of it. The caller vouches for the indices, which are below `i32::MAX`.
    unsafe { gather(channel.as_ptr().cast(), at, is_inside, values.as_mut_ptr().cast()) };
    Some(values)
}

/// Reads the elements of a block, with zeros where `is_inside` is false, and writes them to `to`.
///
/// # Safety
/// - An element can be read at each index that is inside, which is at most `i32::MAX`, and nothing writes to it during
///   the call.
/// - `BLOCK` elements can be written from `to` on, which nothing else uses.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn gather(channel: *const f32, at: &Points<u32>, is_inside: &Points<bool>, to: *mut f32) {
    let lists = at.as_chunks::<16>().0.iter().zip(is_inside.as_chunks::<16>().0).enumerate();
    for (k, (at, is_inside)) in lists {
        // SAFETY: sixteen indices, and sixteen bytes that are 0 or 1; neither load needs to be aligned.
        let (at, is_inside) =
            unsafe { (_mm512_loadu_si512(at.as_ptr().cast()), _mm_loadu_si128(is_inside.as_ptr().cast())) };
        let mask = _mm_test_epi8_mask(is_inside, is_inside);
        // SAFETY: the caller vouches for an element at each index that is inside; the others are not read. There is
        // place for these sixteen elements in `to`, which need not be aligned.
        unsafe {
            let values = _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), mask, at, channel);
            _mm512_storeu_ps(to.add(16 * k), values);
        }
    }
}
