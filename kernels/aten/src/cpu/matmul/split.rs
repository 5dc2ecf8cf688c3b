//! Products with few elements, each of which sums a long row: threads share the steps of the sums (*split-K*).
#![expect(unsafe_code, reason = "hands parts of matrices that the caller vouches for to products")]

use super::{Matrices, Target, multiply_one};
use crate::loops::parallel;
use crate::number::Number;

/// The largest result: those of other sizes have enough rows or columns to share.
const MOST_ELEMENTS: usize = 256;

/// The fewest steps of a part.
const FEWEST_STEPS: usize = 4096;

/// The most parts, each of which is a result of its own.
const MOST_PARTS: usize = 64;

/// The number of parts into which the sums of a product are split: the same for any number of threads, so that results
/// do not depend on it.
pub(super) fn parts<T>(out: &Matrices<T>, a: &Matrices<T>) -> usize {
    let elements = out.rows.saturating_mul(out.columns);
    if out.count > 1 || elements > MOST_ELEMENTS {
        return 1;
    }
    let work = elements.saturating_mul(a.columns);
    (work / (2 * out.grain())).min(a.columns / FEWEST_STEPS).min(MOST_PARTS)
}

/// Computes a product in parts, each of some steps of all sums, and adds these.
///
/// # Safety
/// - The requirements of [`multiply_one`]: matrices in bounds and of matching sizes, `out` disjoint from the others,
///   and no other access.
pub(super) unsafe fn multiply<T: Number>(to: Target<T>, a: Matrices<T>, b: Matrices<T>, parts: usize) {
    let (rows, columns, steps) = (to.out.rows, to.out.columns, a.columns);
    let size = rows * columns;
    let mut sums = vec![T::ZERO; parts * size];
    let each = Matrices {
        count: parts,
        batch_stride: size as isize,
        ..Matrices::one(sums.as_mut_ptr(), [rows, columns], [columns, 1])
    };
    parallel::shares(parts, 1, |range| {
        for part in range {
            let steps = part * steps / parts..(part + 1) * steps / parts;
            let (a, b) = (a.transposed().rows(steps.clone()).transposed(), b.rows(steps));
            // SAFETY: some columns of `a` and as many rows of `b`, which the caller guarantees; the result of each part
            // has memory of its own in `sums`, which nothing else uses meanwhile.
            unsafe { multiply_one(Target::write(each.at(part)), a, b, false) };
        }
    });
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let parts = sums[row * columns + column..].iter().step_by(size);
        let sum = parts.fold(T::ZERO, |sum, part| sum.plus(*part));
        // SAFETY: the caller guarantees the result, of which this is an element, and what is added to it.
        unsafe { to.out.from(row, column).data.write(to.sum(row, column, sum)) };
    }
}
