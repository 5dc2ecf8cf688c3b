//! Small products, of which there are usually many: of matrices of up to four columns (rotations, poses, boxes), whose
//! sizes are constants, so that a matrix stays in registers; and of a row and a column.
#![expect(unsafe_code, reason = "reads and writes matrices that the caller vouches for")]

use std::ops::Range;

use torch_library::DType;

use super::Matrices;
use super::target::Target;
use crate::inlined::{from_fn, zip};
use crate::loops::{on_vectors, reduce};
use crate::number::Number;

/// With more rows, vectors along the rows or columns are faster.
const MOST_ROWS: usize = 16;

/// Longer rows are worth more than one loop.
const LONGEST_ROW: usize = 512;

/// Computes the products of a range of the batch.
pub(super) type Products<T> = unsafe fn(Target<T>, Matrices<T>, Matrices<T>, Range<usize>);

/// The loop over products of these sizes, if there is one.
pub(super) fn products<T: Number>(a: &Matrices<T>, b: &Matrices<T>) -> Option<Products<T>> {
    if !const {
        matches!(T::DTYPE, DType::Float32 | DType::Float64 | DType::Int32 | DType::Int64 | DType::Complex64)
    } || a.rows > MOST_ROWS
    {
        return None;
    }
    let are_lines = a.rows == 1 && b.columns == 1 && a.column_stride == 1 && b.row_stride == 1;
    if are_lines && (5..=LONGEST_ROW).contains(&b.rows) {
        return Some(dots);
    }
    Some(match (b.rows, b.columns) {
        (1, 1) => each::<T, 1, 1>,
        (1, 2) => each::<T, 1, 2>,
        (1, 3) => each::<T, 1, 3>,
        (1, 4) => each::<T, 1, 4>,
        (2, 1) => each::<T, 2, 1>,
        (2, 2) => each::<T, 2, 2>,
        (2, 3) => each::<T, 2, 3>,
        (2, 4) => each::<T, 2, 4>,
        (3, 1) => each::<T, 3, 1>,
        (3, 2) => each::<T, 3, 2>,
        (3, 3) => each::<T, 3, 3>,
        (3, 4) => each::<T, 3, 4>,
        (4, 1) => each::<T, 4, 1>,
        (4, 2) => each::<T, 4, 2>,
        (4, 3) => each::<T, 4, 3>,
        (4, 4) => each::<T, 4, 4>,
        _ => return None,
    })
}

/// # Safety
/// - The requirements of [`multiply_one`](super::multiply_one) on each product of the range: matrices in bounds and of
///   matching sizes, `out` disjoint from the others, and no other access.
/// - `b` has `INNER` rows and `COLUMNS` columns.
unsafe fn each<T: Number, const INNER: usize, const COLUMNS: usize>(
    to: Target<T>,
    a: Matrices<T>,
    b: Matrices<T>,
    range: Range<usize>,
) {
    for batch in range {
        let (to, a, b) = (to.at(batch), a.at(batch), b.at(batch));
        // SAFETY: all rows and columns of matrices that the caller vouches for.
        unsafe {
            let b: [[T; COLUMNS]; INNER] = from_fn(|step| from_fn(|column| b.from(step, column).data.read()));
            for row in 0..a.rows {
                let a: [T; INNER] = from_fn(|step| a.from(row, step).data.read());
                let mut sums: [T; COLUMNS] = from_fn(|column| a[0].times(b[0][column]));
                for (factor, line) in zip(&a, &b).skip(1) {
                    for (sum, x) in zip(&mut sums, line) {
                        *sum = sum.plus(factor.times(*x));
                    }
                }
                for (column, sum) in sums.into_iter().enumerate() {
                    to.out.from(row, column).data.write(to.sum(row, column, sum));
                }
            }
        }
    }
}

/// # Safety
/// - The requirements of [`each`] on the matrices.
/// - `a` has one contiguous row, `b` one contiguous column.
unsafe fn dots<T: Number>(to: Target<T>, a: Matrices<T>, b: Matrices<T>, range: Range<usize>) {
    for batch in range {
        let (to, a, b) = (to.at(batch), a.at(batch), b.at(batch));
        let mut sum = T::ZERO;
        // SAFETY: a row and a column as long as each other, and one element of the result, which the caller vouches
        // for.
        unsafe {
            let [row, column] =
                [a.data, b.data].map(|data| std::slice::from_raw_parts(data.cast_const(), a.columns));
            dot(row, column, &mut sum);
            to.out.data.write(to.sum(0, 0, sum));
        }
    }
}

on_vectors! {
    /// The sum of products of two lines.
    pub(super) fn dot<T: Number>(a: &[T], b: &[T], sum: &mut T) {
        const LANES: usize = 16;
        let long = if a.len() < LONG { 0 } else { a.len() - a.len() % MANY };
        if long > 0 {
            *sum = sum.plus(long_dot(&a[..long], &b[..long]));
        }
        let ((a, last_a), (b, last_b)) = (a[long..].as_chunks::<LANES>(), b[long..].as_chunks::<LANES>());
        let mut lanes = [T::ZERO; LANES];
        for (a, b) in zip(a, b) {
            for lane in 0..LANES {
                lanes[lane] = lanes[lane].plus(a[lane].times(b[lane]));
            }
        }
        for (a, b) in zip(last_a, last_b) {
            *sum = sum.plus(a.times(*b));
        }
        let [a, b, c, d]: [T; 4] =
            from_fn(|n| lanes[n].plus(lanes[n + 8]).plus(lanes[n + 4].plus(lanes[n + 12])));
        *sum = sum.plus(a.plus(c).plus(b.plus(d)));
    }
}

/// Lines of this length are worth more lanes. (LLVM would turn a long loop over fewer lanes inside out, and gather the
/// elements of one lane.)
const LONG: usize = 2 * MANY;

const MANY: usize = reduce::LANES;

/// The sum of products of two lines, whose length is a multiple of that of the lanes.
#[inline(always)]
fn long_dot<T: Number>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::ZERO; MANY];
    for (a, b) in zip(a.as_chunks::<MANY>().0, b.as_chunks::<MANY>().0) {
        for lane in 0..MANY {
            lanes[lane] = lanes[lane].plus(a[lane].times(b[lane]));
        }
    }
    reduce::halved_to_one(&lanes, &T::plus)
}
