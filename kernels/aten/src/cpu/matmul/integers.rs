//! Products of matrices of integers, which wrap, tile by tile.
#![expect(unsafe_code, reason = "reads and writes matrices that the caller vouches for")]

use super::{GRAIN, Matrices};
use crate::inlined::{fill, from_fn, zip};
use crate::loops::{on_vectors, parallel};
use crate::number::Number;

/// How many rows are summed up together, at most.
const HEIGHT: usize = 8;

/// The same of columns.
const WIDTH: usize = 64;

/// For how many steps of the sum a tile is in the first-level cache, with as many numbers of both factors.
const DEPTH: usize = 64;

/// Writes a product, or adds it to what is there.
///
/// # Safety
/// - What [`multiply_one`](super::multiply_one) asks for: matrices in bounds and of fitting sizes, `out` apart from
///   the others, and nobody else there.
pub(super) unsafe fn multiply<T: Number>(
    out: Matrices<T>,
    a: Matrices<T>,
    b: Matrices<T>,
    adds: bool,
    is_parallel: bool,
) {
    let grain = match is_parallel {
        true => (GRAIN / (out.columns * a.columns).max(1)).max(1),
        false => out.rows.max(1),
    };
    parallel::shares(out.rows, grain, |rows| {
        for step in (0..a.columns.max(1)).step_by(DEPTH) {
            let depth = a.columns.min(step + DEPTH) - step;
            let a = Matrices { columns: depth, ..a.rows(rows.clone()).from(0, step) };
            let b = Matrices { rows: depth, ..b.from(step, 0) };
            // SAFETY: some rows and steps of matrices that the caller vouches for; of the result, these rows are
            // this thread's alone.
            unsafe { tiles(out.rows(rows.clone()), a, b, adds || step > 0) };
        }
    });
}

/// As [`multiply`], of few steps.
///
/// # Safety
/// - What [`multiply`] asks for: matrices in bounds and of fitting sizes, `out` apart from the others, and nobody
///   else there.
unsafe fn tiles<T: Number>(out: Matrices<T>, a: Matrices<T>, b: Matrices<T>, adds: bool) {
    let (mut factors, mut panel) = (Vec::new(), Vec::new());
    let mut sums = [T::ZERO; HEIGHT * WIDTH];
    for left in (0..out.columns).step_by(WIDTH) {
        let columns = WIDTH.min(out.columns - left);
        // SAFETY: `columns` of those that are left of `b`, which the caller vouches for.
        unsafe { Matrices { columns, ..b.from(0, left) }.read_to(&mut panel) };
        for top in (0..out.rows).step_by(HEIGHT) {
            let rows = HEIGHT.min(out.rows - top);
            // SAFETY: `rows` of those that are left of `a`, which the caller vouches for.
            unsafe { Matrices { rows, ..a.from(top, 0) }.transposed().read_to(&mut factors) };
            sum_up(&mut sums[..rows * columns], &factors, rows, &panel, columns);
            for (row, sums) in sums[..rows * columns].chunks_exact(columns).enumerate() {
                for (column, sum) in sums.iter().enumerate() {
                    let to = out.from(top + row, left + column).data;
                    // SAFETY: a row and a column that `out` has, which the caller vouches for; it holds a value if
                    // `adds`.
                    unsafe { to.write(if adds { to.read().plus(*sum) } else { *sum }) };
                }
            }
        }
    }
}

impl<T: Number> Matrices<T> {
    /// Reads the numbers, row by row.
    ///
    /// # Safety
    /// - The rows and columns lie in bounds, aligned and initialised, and nobody writes them meanwhile.
    unsafe fn read_to(self, numbers: &mut Vec<T>) {
        numbers.clear();
        numbers.reserve(self.rows * self.columns);
        for row in 0..self.rows {
            for column in 0..self.columns {
                // SAFETY: less than `rows` and `columns`, as many as the caller vouches for.
                numbers.push(unsafe { self.from(row, column).data.read() });
            }
        }
    }
}

/// For how many steps of the sum numbers of a tile are in registers before they go back to the cache.
const STEPS: usize = 4;

on_vectors! {
    /// The products of a tile's rows and columns, summed up over all steps: a step's factors lie side by side, and
    /// so do the numbers of the panel.
    fn sum_up<T: Number>(sums: &mut [T], factors: &[T], rows: usize, panel: &[T], columns: usize) {
        fill(sums, T::ZERO);
        let (mut steps, mut panels) = (factors.chunks_exact(STEPS * rows), panel.chunks_exact(STEPS * columns));
        for (factors, panel) in steps.by_ref().zip(panels.by_ref()) {
            let lines: [&[T]; STEPS] = from_fn(|step| &panel[step * columns..][..columns]);
            // Zipped, not by index: a loop that may leave early has its last numbers added up one by one.
            let [first, second, third, fourth] = lines;
            for (row, sums) in sums.chunks_exact_mut(columns).enumerate() {
                let factors: [T; STEPS] = from_fn(|step| factors[step * rows + row]);
                for (sum, ((a, b), (c, d))) in zip(sums, zip(zip(first, second), zip(third, fourth))) {
                    for (factor, x) in zip(&factors, &[a, b, c, d]) {
                        *sum = sum.plus(factor.times(**x));
                    }
                }
            }
        }
        let rest = steps.remainder().chunks_exact(rows).zip(panels.remainder().chunks_exact(columns));
        for (factors, line) in rest {
            for (sums, factor) in sums.chunks_exact_mut(columns).zip(factors) {
                for (sum, x) in zip(sums, line) {
                    *sum = sum.plus(factor.times(*x));
                }
            }
        }
    }
}
