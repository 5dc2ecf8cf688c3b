//! Products of integer matrices, which wrap on overflow, tile by tile; on x86-64 without AVX2, of floats, too.
#![expect(unsafe_code, reason = "reads and writes matrices that the caller vouches for")]

use std::mem::MaybeUninit;

use super::target::Target;
use super::{GRAIN, Matrices};
use crate::inlined::{fill, from_fn, zip};
use crate::loops::{on_vectors, parallel};
use crate::number::Number;

/// The largest number of rows that are summed together.
const HEIGHT: usize = 8;

/// The largest number of columns that are summed together.
const WIDTH: usize = 64;

/// The number of steps of the sum for which a tile and its parts of both factors fit into the L1 cache.
const DEPTH: usize = 64;

/// Computes a product.
///
/// # Safety
/// - The requirements of [`multiply_one`](super::multiply_one): matrices in bounds and of matching sizes, `out`
///   disjoint from the others, and no other access.
pub(super) unsafe fn multiply<T: Number>(to: Target<T>, a: Matrices<T>, b: Matrices<T>, is_parallel: bool) {
    let out = to.out;
    let grain = match is_parallel {
        true => (GRAIN / (out.columns * a.columns).max(1)).max(1),
        false => out.rows.max(1),
    };
    parallel::shares(out.rows, grain, |rows| {
        for step in (0..a.columns.max(1)).step_by(DEPTH) {
            let depth = a.columns.min(step + DEPTH) - step;
            let a = Matrices { columns: depth, ..a.rows(rows.clone()).from(0, step) };
            let b = Matrices { rows: depth, ..b.from(step, 0) };
            // SAFETY: these are some rows and steps of matrices that the caller guarantees; only this thread writes
            // these rows of the result.
            unsafe { tiles(to.rows(rows.clone()).after(step), a, b) };
        }
    });
}

/// Like [`multiply`], for few steps.
///
/// # Safety
/// - The requirements of [`multiply`]: matrices in bounds and of matching sizes, `out` disjoint from the others, and no
///   other access.
unsafe fn tiles<T: Number>(to: Target<T>, a: Matrices<T>, b: Matrices<T>) {
    let out = to.out;
    let (mut factors, mut panel) = (Vec::new(), Vec::new());
    let mut sums = [T::ZERO; HEIGHT * WIDTH];
    for left in (0..out.columns).step_by(WIDTH) {
        let columns = WIDTH.min(out.columns - left);
        // SAFETY: `columns` of the remaining columns of `b`, which the caller guarantees.
        unsafe { Matrices { columns, ..b.from(0, left) }.read_to(&mut panel) };
        for top in (0..out.rows).step_by(HEIGHT) {
            let rows = HEIGHT.min(out.rows - top);
            // SAFETY: `rows` of the remaining rows of `a`, which the caller guarantees.
            unsafe { Matrices { rows, ..a.from(top, 0) }.transposed().read_to(&mut factors) };
            sum_up(&mut sums[..rows * columns], &factors, rows, &panel, columns);
            for (row, sums) in sums[..rows * columns].chunks_exact(columns).enumerate() {
                for (column, sum) in sums.iter().enumerate() {
                    let (row, column) = (top + row, left + column);
                    // SAFETY: the result has this row and column, which the caller guarantees, and what it is added to.
                    unsafe { out.from(row, column).data.write(to.sum(row, column, *sum)) };
                }
            }
        }
    }
}

impl<T: Number> Matrices<T> {
    /// Reads the elements, row by row.
    ///
    /// # Safety
    /// - The rows and columns are in bounds, aligned and initialised, and nothing writes them during the call.
    pub(super) unsafe fn read_to(self, numbers: &mut Vec<T>) {
        let count = self.rows * self.columns;
        numbers.clear();
        numbers.reserve(count);
        let lines = numbers.spare_capacity_mut()[..count].chunks_exact_mut(self.columns.max(1));
        for (row, line) in lines.enumerate() {
            let first = self.from(row, 0).data.cast_const();
            let read = |line: &mut [MaybeUninit<T>], stride: isize| {
                for (column, number) in line.iter_mut().enumerate() {
                    // SAFETY: less than `columns`, as many as the caller guarantees, `stride` apart.
                    number.write(unsafe { first.offset(column as isize * stride).read() });
                }
            };
            match self.column_stride {
                1 => read(line, 1),
                stride => read(line, stride),
            }
        }
        // SAFETY: `count` numbers were written above, row by row.
        unsafe { numbers.set_len(count) };
    }
}

on_vectors! {
    /// The products of a tile's rows and columns, summed over all steps: the factors of a step are adjacent, and so are
    /// the elements of the panel.
    fn sum_up<T: Number>(sums: &mut [T], factors: &[T], rows: usize, panel: &[T], columns: usize) {
        // As many columns as fill a few registers, which long integers do sooner.
        let held = match const { size_of::<T>() } {
            8.. => held_columns::<T, 32>(sums, factors, rows, panel, columns),
            _ => held_columns::<T, 64>(sums, factors, rows, panel, columns),
        };
        if held < columns {
            other_columns(sums, factors, rows, panel, columns, held);
        }
    }
}

/// Sums up `N` columns at a time, which stay in registers for all steps. Returns the number of columns that are done.
#[inline(always)]
fn held_columns<T: Number, const N: usize>(
    sums: &mut [T],
    factors: &[T],
    rows: usize,
    panel: &[T],
    columns: usize,
) -> usize {
    for (row, sums) in sums.chunks_exact_mut(columns).enumerate() {
        for (n, sums) in sums.as_chunks_mut::<N>().0.iter_mut().enumerate() {
            let mut held = [T::ZERO; N];
            for (factors, line) in factors.chunks_exact(rows).zip(panel.chunks_exact(columns)) {
                let (factor, line) = (factors[row], &line[n * N..][..N]);
                for i in 0..N {
                    held[i] = held[i].plus(factor.times(line[i]));
                }
            }
            *sums = held;
        }
    }
    columns - columns % N
}

/// The number of steps of the sum for which elements stay in registers before they go back to the cache.
const STEPS: usize = 4;

/// Sums up the columns from the `first` on.
#[inline(always)]
fn other_columns<T: Number>(
    sums: &mut [T],
    factors: &[T],
    rows: usize,
    panel: &[T],
    columns: usize,
    first: usize,
) {
    sums.chunks_exact_mut(columns).for_each(|sums| fill(&mut sums[first..], T::ZERO));
    let (mut steps, mut panels) = (factors.chunks_exact(STEPS * rows), panel.chunks_exact(STEPS * columns));
    for (factors, panel) in steps.by_ref().zip(panels.by_ref()) {
        let lines: [&[T]; STEPS] = from_fn(|step| &panel[step * columns..][first..columns]);
        // Zipped, not indexed: in a loop with an early exit, the last elements would be added one by one.
        let [a, b, c, d] = lines;
        for (row, sums) in sums.chunks_exact_mut(columns).enumerate() {
            let factors: [T; STEPS] = from_fn(|step| factors[step * rows + row]);
            for (sum, ((a, b), (c, d))) in zip(&mut sums[first..], zip(zip(a, b), zip(c, d))) {
                for (factor, x) in zip(&factors, &[a, b, c, d]) {
                    *sum = sum.plus(factor.times(**x));
                }
            }
        }
    }
    let rest = steps.remainder().chunks_exact(rows).zip(panels.remainder().chunks_exact(columns));
    for (factors, line) in rest {
        for (sums, factor) in sums.chunks_exact_mut(columns).zip(factors) {
            for (sum, x) in zip(&mut sums[first..], &line[first..]) {
                *sum = sum.plus(factor.times(*x));
            }
        }
    }
}
