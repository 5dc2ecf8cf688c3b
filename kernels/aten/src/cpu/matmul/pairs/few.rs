//! Products of a few rows and a matrix whose columns are contiguous, such as the weight of a linear layer: sums of
//! products along both, which read the matrix once, as it lies in memory. To pack it would take as long as to multiply.
#![expect(
    unsafe_code,
    reason = "reads and writes elements through pointers, and uses instructions that callers ask for"
)]

use std::arch::x86_64::*;
use std::ops::Range;

use super::vector::{LANES, add_pairs, load};
use super::{GRAIN, Product, Unit, WIDTH};
use crate::cpu::matmul::fetch::fetch;
use crate::inlined::from_fn;
use crate::loops::parallel;

/// With more rows, packing the matrix pays off.
const MOST_ROWS: usize = 12;

/// For shorter sums, to add up the elements of a register takes longer than the products.
const FEWEST_STEPS: usize = 2 * LANES;

/// The number of rows, and of columns, that are multiplied with each other at a time: their sums take 16 registers.
const SIDE: usize = 4;

impl Product {
    /// Whether the product is computed here.
    pub(super) fn has_few_rows(&self) -> bool {
        // Tiles read such a matrix as it is, too.
        self.unit == Unit::Registers
            && self.a.rows <= MOST_ROWS
            && self.a.columns >= FEWEST_STEPS
            && self.b.row_stride == 1
            && self.b.columns >= WIDTH
    }

    /// Computes the products of a whole batch.
    ///
    /// # Safety
    /// - [`has_few_rows`](Self::has_few_rows) is true.
    /// - The matrices are in bounds, not empty, and of matching sizes; the rows of `a` are contiguous.
    /// - Nothing else writes the factors, or uses the result.
    /// - The processor has the instructions of [`Unit::Registers`].
    pub(super) unsafe fn times_columns(&self) {
        let parts = self.b.columns.div_ceil(WIDTH);
        let work = self.a.rows * self.a.columns * WIDTH;
        parallel::shares(self.out.count * parts, (GRAIN / work.max(1)).max(1), |range| {
            for index in range {
                let first = index % parts * WIDTH;
                let columns = first..self.b.columns.min(first + WIDTH);
                // SAFETY: a part of the columns, which only this thread has; the caller guarantees the rest.
                unsafe { self.at(index / parts).rows_by_columns(columns) };
            }
        });
    }

    /// Computes some columns of the result, at most [`WIDTH`].
    ///
    /// # Safety
    /// - As for [`times_columns`](Self::times_columns), for these columns.
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,avx512bf16")]
    unsafe fn rows_by_columns(&self, columns: Range<usize>) {
        let mut sums = [[0f32; WIDTH]; MOST_ROWS];
        let column = |n: usize| {
            let offset = (columns.start + n.min(columns.len() - 1)) as isize * self.b.column_stride;
            self.b.data.cast_const().wrapping_offset(offset)
        };
        for first in (0..columns.len()).step_by(SIDE) {
            // What lies beyond the matrix is not read: the last column, or row, takes its place.
            let own: [*const u16; SIDE] = from_fn(|n| column(first + n));
            let next = column(first + SIDE).addr().wrapping_sub(own[0].addr());
            for (n, sums) in sums[..self.a.rows].chunks_mut(SIDE).enumerate() {
                let rows = from_fn(|i| self.row((n * SIDE + i).min(self.a.rows - 1)));
                let next = if n == 0 { next } else { 0 };
                // SAFETY: rows and columns have as many elements as the rows have columns, which are contiguous: the
                // caller guarantees those of `a`, and `has_few_rows` those of `b`.
                let found = unsafe { dots(rows, own, self.a.columns, next) };
                for (sums, found) in sums.iter_mut().zip(&found) {
                    sums[first..first + SIDE].copy_from_slice(found);
                }
            }
        }
        let place = columns.start as isize * self.out.column_stride * self.size;
        let strides = [self.out.row_stride, self.out.column_stride];
        // SAFETY: these columns of all rows of the result, which the caller guarantees, like the instructions; there
        // are at most `WIDTH`, and one after the other if `is_rounded`.
        unsafe {
            let out = self.out.data.wrapping_offset(place);
            self.store_lines(&sums[..self.a.rows], columns.len(), out, strides);
        }
    }
}

/// The sums of products of each row with each column, of `len` elements. What lies `next` bytes after the columns is
/// prefetched.
///
/// # Safety
/// - From each address on, `len` elements can be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512bf16")]
unsafe fn dots(
    rows: [*const u16; SIDE],
    columns: [*const u16; SIDE],
    len: usize,
    next: usize,
) -> [[f32; SIDE]; SIDE] {
    let mut sums = [[_mm512_setzero_ps(); SIDE]; SIDE];
    for start in (0..len).step_by(LANES) {
        let left = len - start;
        // SAFETY: `left` elements are left of each.
        let columns: [__m512i; SIDE] = from_fn(|n| unsafe {
            let from = columns[n].add(start);
            fetch(from.wrapping_byte_add(next), 1);
            load(from, left)
        });
        for (row, sums) in rows.iter().zip(&mut sums) {
            // SAFETY: likewise.
            let row = unsafe { load(row.add(start), left) };
            for (sum, column) in sums.iter_mut().zip(&columns) {
                *sum = add_pairs(*sum, row, *column);
            }
        }
    }
    totals(sums)
}

/// The sum of each register: in a register, the sums of all.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn totals(sums: [[__m512; SIDE]; SIDE]) -> [[f32; SIDE]; SIDE] {
    // In each quarter, one sum of each register of four.
    let quarters: [__m512; SIDE] = from_fn(|i| {
        let [a, b, c, d] = sums[i];
        let pair = |a, b| _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
        let [low, high] = [pair(a, b), pair(c, d)].map(|pair| _mm512_castps_pd(pair));
        let (even, odd) = (_mm512_unpacklo_pd(low, high), _mm512_unpackhi_pd(low, high));
        _mm512_add_ps(_mm512_castpd_ps(even), _mm512_castpd_ps(odd))
    });
    let halved = |a, b| {
        let (even, odd) = (_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b));
        _mm512_add_ps(even, odd)
    };
    let [a, b, c, d] = quarters;
    // SAFETY: a register of sixteen numbers.
    unsafe { std::mem::transmute::<__m512, [[f32; SIDE]; SIDE]>(halved(halved(a, b), halved(c, d))) }
}
