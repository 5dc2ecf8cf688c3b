//! Products of a matrix and a vector, of integers and complex numbers: the matrix is read once, as it lies in memory.
#![expect(unsafe_code, reason = "reads and writes matrices that the caller vouches for")]

use std::ops::Range;

use super::small::dot;
use super::target::Target;
use super::{GRAIN_OF_VECTORS, Matrices};
use crate::inlined::zip;
use crate::loops::{on_vectors, parallel};
use crate::number::Number;

/// Shorter lines do not fill vectors.
const SHORTEST: usize = 16;

/// The elements of the result that are summed together if columns are contiguous.
const PART: usize = 512;

/// The columns that are added to these sums together.
const COLUMNS: usize = 4;

/// Computes a product if one factor is a vector and the other one consists of contiguous lines. Returns
/// whether it did.
///
/// # Safety
/// - The requirements of [`multiply_one`](super::multiply_one): matrices in bounds and of matching sizes, `out`
///   disjoint from the others, and no other access.
pub(super) unsafe fn multiply<T: Number>(
    to: Target<T>,
    a: Matrices<T>,
    b: Matrices<T>,
    is_parallel: bool,
) -> bool {
    let (to, [matrix, vector]) = match a.rows == 1 && b.columns > 1 {
        true => (to.transposed(), [b.transposed(), a.transposed()]),
        false => (to, [a, b]),
    };
    let [is_by_rows, is_by_columns] =
        [(matrix.column_stride, matrix.columns), (matrix.row_stride, matrix.rows)]
            .map(|(stride, len)| stride == 1 && len >= SHORTEST);
    if vector.columns != 1 || !is_by_rows && !is_by_columns {
        return false;
    }
    let mut memory = Vec::new();
    let vector = match vector.row_stride {
        // SAFETY: the caller guarantees a column of these elements.
        1 => unsafe { std::slice::from_raw_parts(vector.data.cast_const(), vector.rows) },
        _ => {
            // SAFETY: the caller guarantees the column, whose elements are read one by one.
            unsafe { vector.read_to(&mut memory) };
            &memory
        }
    };
    let grain = match is_parallel {
        true => (GRAIN_OF_VECTORS / matrix.columns.max(1)).max(1),
        false => matrix.rows.max(1),
    };
    parallel::shares(matrix.rows, grain, |rows| {
        // SAFETY: some rows of matrices that the caller guarantees, in contiguous lines; only this thread writes these
        // rows of the result.
        unsafe {
            match is_by_rows {
                true => by_rows(to, matrix, vector, rows),
                false => by_columns(to, matrix, vector, rows),
            }
        }
    });
    true
}

/// # Safety
/// - The requirements of [`multiply`] on these rows, which are contiguous.
unsafe fn by_rows<T: Number>(to: Target<T>, matrix: Matrices<T>, vector: &[T], rows: Range<usize>) {
    for row in rows {
        let mut sum = T::ZERO;
        // SAFETY: the caller guarantees the row, and the element of the result.
        unsafe {
            let line = std::slice::from_raw_parts(matrix.from(row, 0).data.cast_const(), matrix.columns);
            dot(line, vector, &mut sum);
            to.out.from(row, 0).data.write(to.sum(row, 0, sum));
        }
    }
}

/// # Safety
/// - The requirements of [`multiply`] on these rows of columns that are contiguous.
unsafe fn by_columns<T: Number>(to: Target<T>, matrix: Matrices<T>, vector: &[T], rows: Range<usize>) {
    let mut sums = [T::ZERO; PART];
    for first in rows.clone().step_by(PART) {
        let sums = &mut sums[..PART.min(rows.end - first)];
        sums.fill(T::ZERO);
        for (n, factors) in vector.chunks(COLUMNS).enumerate() {
            // A column that does not exist is the first one once more, times zero.
            let column = |i: usize| {
                let column = n * COLUMNS + if i < factors.len() { i } else { 0 };
                // SAFETY: the caller guarantees these rows of the column.
                let line = unsafe { std::slice::from_raw_parts(matrix.from(first, column).data, sums.len()) };
                (line, if i < factors.len() { factors[i] } else { T::ZERO })
            };
            let columns = std::array::from_fn(column);
            add(sums, &columns);
        }
        for (row, sum) in (first..).zip(&*sums) {
            // SAFETY: the caller guarantees this element of the result.
            unsafe { to.out.from(row, 0).data.write(to.sum(row, 0, *sum)) };
        }
    }
}

on_vectors! {
    /// Adds a few columns, each times its factor.
    fn add<T: Number>(sums: &mut [T], columns: &[(&[T], T); COLUMNS]) {
        let [(a, x), (b, y), (c, z), (d, w)] = *columns;
        for (sum, ((a, b), (c, d))) in zip(sums, zip(zip(a, b), zip(c, d))) {
            let two = sum.plus(a.times(x)).plus(b.times(y));
            *sum = two.plus(c.times(z)).plus(d.times(w));
        }
    }
}
