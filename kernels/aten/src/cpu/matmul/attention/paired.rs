//! The products of attention in `bfloat16`, by the instructions that multiply pairs.
//!
//! The keys and values of a head are packed once for all blocks of its queries that a thread computes. Where a head has
//! few queries, as in a decoding step, these are packed instead, and the keys are read in place. Scores are accumulated
//! in `float32`; weights are rounded to `bfloat16` before they are multiplied by the values, as in PyTorch.
#![expect(unsafe_code, reason = "multiplies in tiles, which read through pointers")]

use std::ops::Range;

use torch_library::Element;
use torch_library::prelude::*;

use super::{KEYS, Operands, Score, Sizes};
use crate::cpu::matmul::Matrices;
use crate::cpu::matmul::amx::{DEPTH, ROWS, Sums, WIDTH};
use crate::cpu::matmul::implicit_gemm::Aligned;
use crate::cpu::matmul::pairs::{self, Rows, Unit};

/// Up to this many queries form a single panel, by which the keys of a head are multiplied.
const FEW: usize = WIDTH;

/// The largest number of elements that a thread packs at a time, of keys and of values each.
const MOST: i64 = 1 << 20;

/// The buffers of a thread.
#[derive(Default)]
pub(super) struct Packed {
    /// The batch and head of the keys.
    head: Option<[usize; 2]>,
    /// The keys of the head, or its queries if they are few.
    keys: Aligned,
    values: Aligned,
    /// The weights of a block of rows.
    weights: Vec<u16>,
    /// Rows that are filled up with zeros.
    rows: Vec<u16>,
    sums: Vec<Sums>,
}

/// What multiplies these queries, keys and values, if it can be done in pairs.
pub(super) fn unit(tensors: [&Tensor; 3], sizes: &Sizes, is_causal: bool) -> Option<Unit> {
    let ([.., queries, width], keys) = (sizes.query, sizes.keys);
    // The last keys that a query may attend to fill a tile, so that no keys beyond them are multiplied by zeros.
    let fills_tiles = !is_causal || queries % WIDTH as i64 == 0 || keys <= queries;
    let is_suitable =
        |tensor: &&Tensor| tensor.dtype() == DType::BFloat16 && tensor.strides().last() == Some(&1);
    let fits =
        tensors.iter().all(is_suitable) && keys > 0 && keys.saturating_mul(width) <= MOST && fills_tiles;
    Unit::best().filter(|_| fits)
}

impl<T: Score> Operands<T> {
    /// The lines of a panel of keys, and of one of values.
    fn lines(&self) -> [usize; 2] {
        [self.sizes[3], self.keys].map(Rows::lines)
    }

    /// Packs the keys and values of a head, unless they are already.
    ///
    /// # Safety
    /// - [`unit`] returned one for these operands, the head exists, and its keys and values are still leased.
    pub(super) unsafe fn pack(&self, head: [usize; 2], packed: &mut Packed) {
        let head = self.of_keys(head);
        if packed.head == Some(head) {
            return;
        }
        let (width, [of_keys, of_values]) = (self.sizes[3], self.lines());
        let [key, value] = [&self.key, &self.value].map(|heads| {
            let data = heads.at([head[0], head[1], 0, 0]).cast::<u16>();
            Matrices::one(data, [self.keys, width], [heads.strides[2] as usize, 1])
        });
        let keys = packed.keys.numbers::<u32>(self.keys.div_ceil(WIDTH) * of_keys * WIDTH).as_chunks_mut().0;
        let values =
            packed.values.numbers::<u32>(width.div_ceil(WIDTH) * of_values * WIDTH).as_chunks_mut().0;
        // SAFETY: the caller guarantees the keys and values of the head, whose rows are contiguous, and the
        // instructions; there are panels for all columns.
        unsafe {
            if self.sizes[2] > FEW {
                pairs::pack(key.transposed(), 0..self.keys, of_keys, keys);
            }
            pairs::pack(value, 0..width, of_values, values);
        }
        packed.head = Some(head);
    }

    /// Writes the scores of some rows of queries with keys, row by row.
    ///
    /// # Safety
    /// - [`pack`](Self::pack) was called for this head, which has these rows and keys and is still leased.
    /// - The first of the keys is a multiple of [`KEYS`].
    /// - `scores` has room for one of each row and key.
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    pub(super) unsafe fn scores(
        &self,
        unit: Unit,
        head: [usize; 2],
        rows: Range<usize>,
        keys: Range<usize>,
        packed: &mut Packed,
        scores: &mut [T],
    ) {
        let (width, [lines, _]) = (self.sizes[3], self.lines());
        if self.sizes[2] <= FEW {
            // SAFETY: the caller guarantees all of this.
            return unsafe { self.scores_of_few(unit, head, rows, keys, packed, scores) };
        }
        let Packed { keys: panels, rows: buffer, sums, .. } = packed;
        let panels = panels.numbers::<u32>(self.keys.div_ceil(WIDTH) * lines * WIDTH).as_chunks_mut().0;
        let sums = resized(sums, keys.len().div_ceil(WIDTH));
        for first in rows.clone().step_by(ROWS) {
            let count = ROWS.min(rows.end - first);
            let from = self.query.at([head[0], head[1], first, 0]).cast::<u16>();
            // SAFETY: the caller guarantees `count` rows of queries, whose elements are contiguous, under a lease, and
            // the instructions; the panels from this one on have the lines for a query.
            unsafe {
                Rows::new(unit, from, self.query.strides[2], count, width, buffer).multiply(
                    &panels[keys.start / WIDTH * lines..],
                    lines,
                    sums,
                    false,
                );
            }
            let scores = &mut scores[(first - rows.start) * keys.len()..];
            for (i, scores) in scores.chunks_exact_mut(keys.len()).take(count).enumerate() {
                for (scores, sums) in scores.chunks_mut(WIDTH).zip(&*sums) {
                    for (score, sum) in scores.iter_mut().zip(&sums.0[i]) {
                        *score = sum.cast::<T>() * self.scale;
                    }
                }
            }
        }
    }

    /// Like [`scores`](Self::scores), with the keys as the left factor.
    ///
    /// # Safety
    /// - The requirements of [`scores`](Self::scores), for at most [`FEW`] rows.
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    unsafe fn scores_of_few(
        &self,
        unit: Unit,
        head: [usize; 2],
        rows: Range<usize>,
        keys: Range<usize>,
        packed: &mut Packed,
        scores: &mut [T],
    ) {
        let (width, [lines, _]) = (self.sizes[3], self.lines());
        let Packed { keys: panel, rows: buffer, sums, .. } = packed;
        let panel = panel.numbers::<u32>(lines * WIDTH).as_chunks_mut().0;
        let sums = resized(sums, 1);
        let data = self.query.at([head[0], head[1], rows.start, 0]).cast::<u16>();
        let head = self.of_keys(head);
        let queries = Matrices::one(data, [rows.len(), width], [self.query.strides[2] as usize, 1]);
        // SAFETY: the caller guarantees these rows, whose elements are contiguous, under a lease, and the instructions;
        // there is a panel for all of them.
        unsafe { pairs::pack(queries.transposed(), 0..rows.len(), lines, panel) };
        for first in keys.clone().step_by(ROWS) {
            let count = ROWS.min(keys.end - first);
            let from = self.key.at([head[0], head[1], first, 0]).cast::<u16>();
            // SAFETY: the caller guarantees `count` keys, whose elements are contiguous, under a lease, and the
            // instructions; the panel has the lines for a key.
            unsafe {
                Rows::new(unit, from, self.key.strides[2], count, width, buffer)
                    .multiply(panel, lines, sums, false);
            }
            for (j, scores) in scores.chunks_exact_mut(keys.len()).take(rows.len()).enumerate() {
                for (score, sums) in scores[first - keys.start..].iter_mut().zip(&sums[0].0[..count]) {
                    *score = sums[j].cast::<T>() * self.scale;
                }
            }
        }
    }

    /// Adds the weighted values of some keys to the sums of the values of each row.
    ///
    /// # Safety
    /// - [`pack`](Self::pack) was called for a head that has these keys, of which the first is a multiple of [`KEYS`].
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    pub(super) unsafe fn add_values(
        &self,
        unit: Unit,
        keys: Range<usize>,
        packed: &mut Packed,
        weights: &[T],
        values: &mut [T],
    ) {
        const { assert!(KEYS.is_multiple_of(DEPTH), "a block of keys starts with a line of a tile") };
        let (width, [_, lines]) = (self.sizes[3], self.lines());
        let Packed { values: panels, weights: rounded, rows: buffer, sums, .. } = packed;
        let panels = panels.numbers::<u32>(width.div_ceil(WIDTH) * lines * WIDTH).as_chunks_mut().0;
        let sums = resized(sums, width.div_ceil(WIDTH));
        rounded.resize(weights.len(), 0);
        // SAFETY: as many places of two bytes as there are weights, in memory of our own; `store` rounds to `bfloat16`,
        // the dtype of the operands.
        unsafe { (self.store)(weights.as_ptr().cast(), weights.len(), rounded.as_mut_ptr().cast(), 1) };
        let rows = weights.len() / keys.len();
        for first in (0..rows).step_by(ROWS) {
            let count = ROWS.min(rows - first);
            // SAFETY: `count` rows of weights, one for each of the keys; the caller guarantees the instructions, and
            // the panels have the lines of all keys.
            unsafe {
                Rows::new(
                    unit,
                    rounded[first * keys.len()..].as_ptr(),
                    keys.len() as isize,
                    count,
                    keys.len(),
                    buffer,
                )
                .multiply(&panels[keys.start / 2..], lines, sums, false);
            }
            let values = &mut values[first * width..];
            for (i, values) in values.chunks_exact_mut(width).take(count).enumerate() {
                for (values, sums) in values.chunks_mut(WIDTH).zip(&*sums) {
                    for (value, sum) in values.iter_mut().zip(&sums.0[i]) {
                        *value = *value + sum.cast();
                    }
                }
            }
        }
    }
}

/// The first `count` sums, of which there may be more.
fn resized(sums: &mut Vec<Sums>, count: usize) -> &mut [Sums] {
    if sums.len() < count {
        sums.resize(count, Sums([[0.0; WIDTH]; ROWS]));
    }
    &mut sums[..count]
}
