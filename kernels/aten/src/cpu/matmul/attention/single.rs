//! The products of attention in `bfloat16` where each head has a single query, as in a decoding step.
//!
//! Keys and values are read once, in place, by the dot-product instruction for pairs of elements (AVX512-BF16). Scores
//! are accumulated in `float32`; weights are rounded to `bfloat16` before they are multiplied by the values, as in
//! PyTorch.
#![expect(unsafe_code, reason = "multiplies in registers, which it loads through pointers")]

use std::arch::x86_64::*;
use std::ops::Range;

use torch_library::Element;
use torch_library::prelude::*;

use super::{Operands, Score, Sizes};
use crate::inlined::from_fn;
use crate::loops;

/// The number of `bfloat16` elements in a register.
const LANES: usize = 32;

/// The number of keys whose scores are accumulated at a time, each in a register of its own.
const TOGETHER: usize = 4;

/// The number of registers of a key's values that are accumulated at a time: two cache lines.
const BLOCKS: usize = 2;

/// How many keys ahead memory is prefetched.
const AHEAD: isize = 16;

/// Whether this module computes the products of these queries, keys and values.
pub(super) fn suits(tensors: [&Tensor; 3], sizes: &Sizes) -> bool {
    let [.., queries, _] = sizes.query;
    tensors.iter().all(|tensor| tensor.dtype() == DType::BFloat16 && tensor.strides().last() == Some(&1))
        && queries == 1
        && loops::has_avx512()
        && is_x86_feature_detected!("avx512bf16")
}

impl<T: Score> Operands<T> {
    /// Writes the scores of the query of a head with some keys.
    ///
    /// # Safety
    /// - [`suits`] is true for these operands, the head and these keys exist, and they are still leased.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    pub(super) unsafe fn scores_of_one(&self, head: [usize; 2], keys: Range<usize>, scores: &mut [T]) {
        let width = self.sizes[3];
        let query = self.query.at([head[0], head[1], 0, 0]).cast::<i16>();
        let head = self.of_keys(head);
        for (first, scores) in keys.step_by(TOGETHER).zip(scores.chunks_mut(TOGETHER)) {
            // If fewer keys are left, the last one is computed several times.
            let rows: [*const i16; TOGETHER] = from_fn(|i| {
                self.key.at([head[0], head[1], first + i.min(scores.len() - 1), 0]).cast_const().cast()
            });
            let mut sums = [_mm512_setzero_ps(); TOGETHER];
            let ahead = AHEAD * self.key.strides[2];
            for start in (0..width).step_by(LANES) {
                let mask = lanes(width - start);
                for (sum, row) in sums.iter_mut().zip(rows) {
                    _mm_prefetch::<_MM_HINT_T0>(row.wrapping_add(start).wrapping_offset(ahead).cast());
                    // SAFETY: the mask selects elements of the query and of this key, which the caller guarantees;
                    // both are contiguous.
                    let (query, key) =
                        unsafe { (loaded(query.add(start), mask), loaded(row.add(start), mask)) };
                    *sum = _mm512_dpbf16_ps(*sum, query, key);
                }
            }
            for (score, sum) in scores.iter_mut().zip(sums) {
                *score = _mm512_reduce_add_ps(sum).cast::<T>() * self.scale;
            }
        }
    }

    /// Adds the weighted values of some keys of a head to the sums of the values.
    ///
    /// # Safety
    /// - [`suits`] is true for these operands, the head and these keys exist, and they are still leased.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    pub(super) unsafe fn add_values_of_one(
        &self,
        head: [usize; 2],
        keys: Range<usize>,
        weights: &[T],
        rounded: &mut Vec<[u16; 2]>,
        values: &mut [T],
    ) {
        let head = self.of_keys(head);
        rounded.clear();
        rounded.resize(weights.len().div_ceil(2), [0; 2]);
        // SAFETY: there are places of two bytes for all weights, in memory of our own; `store` rounds to `bfloat16`,
        // the dtype of the operands.
        unsafe { (self.store)(weights.as_ptr().cast(), weights.len(), rounded.as_mut_ptr().cast(), 1) };
        for (n, values) in values.chunks_mut(BLOCKS * LANES).enumerate() {
            let masks: [u32; BLOCKS] = from_fn(|block| lanes(values.len().saturating_sub(block * LANES)));
            let row = |key: usize, block: usize| match key < keys.end {
                true => {
                    let at = self.value.at([head[0], head[1], key, n * BLOCKS * LANES]).cast::<i16>();
                    let from = at.wrapping_add(block * LANES);
                    _mm_prefetch::<_MM_HINT_T0>(from.wrapping_offset(AHEAD * self.value.strides[2]).cast());
                    // SAFETY: the mask selects elements of this key's values, which the caller guarantees, and which
                    // are contiguous.
                    unsafe { _mm512_maskz_loadu_epi16(masks[block], from) }
                }
                false => _mm512_setzero_si512(), // the other half of the last pair
            };
            // Alternate pairs of keys have their own accumulators, since an addition waits for the previous one to the
            // same accumulator.
            let mut sums = [[[_mm512_setzero_ps(); 2]; BLOCKS]; 2];
            for (pair, weights) in rounded.iter().enumerate() {
                let weights = pairs(_mm512_set1_epi32(i32::from(weights[0]) | i32::from(weights[1]) << 16));
                for (block, sums) in sums[pair % 2].iter_mut().enumerate() {
                    let key = keys.start + 2 * pair;
                    let (a, b) = (row(key, block), row(key + 1, block));
                    sums[0] = _mm512_dpbf16_ps(sums[0], weights, pairs(_mm512_unpacklo_epi16(a, b)));
                    sums[1] = _mm512_dpbf16_ps(sums[1], weights, pairs(_mm512_unpackhi_epi16(a, b)));
                }
            }
            for (block, values) in values.chunks_mut(LANES).enumerate() {
                let [low, high]: [[f32; LANES / 2]; 2] = from_fn(|half| {
                    let sum = _mm512_add_ps(sums[0][block][half], sums[1][block][half]);
                    // SAFETY: an array of this many numbers has the size of a register.
                    unsafe { std::mem::transmute::<__m512, [f32; LANES / 2]>(sum) }
                });
                // In each quarter of a register the first four elements are in the low half, the others in the high.
                for (i, value) in values.iter_mut().enumerate() {
                    let (quarter, place) = (i / 8, i % 8);
                    let sum =
                        if place < 4 { low[quarter * 4 + place] } else { high[quarter * 4 + place - 4] };
                    *value = *value + sum.cast();
                }
            }
        }
    }
}

/// A mask of the first `count` lanes, of all if there are as many.
fn lanes(count: usize) -> u32 {
    u32::MAX.checked_shr((LANES - count.min(LANES)) as u32).unwrap_or(0)
}

/// # Safety
/// - The elements that the mask selects can be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn loaded(from: *const i16, mask: u32) -> __m512bh {
    // SAFETY: the caller vouches for the elements.
    pairs(unsafe { _mm512_maskz_loadu_epi16(mask, from) })
}

#[inline(always)]
fn pairs(bits: __m512i) -> __m512bh {
    // SAFETY: both are registers of one size, for which any bits are valid.
    unsafe { std::mem::transmute::<__m512i, __m512bh>(bits) }
}
