//! Reduction of a matrix to Hessenberg form, `A = Q H Qᴴ`, whose elements below the first subdiagonal are zero, by
//! reflections.

use std::ops::Range;

use super::columns::Columns;
use super::field::Field;
use super::reflection::{from_left, from_right, reflection};

/// Reduces the rows and columns of a range: outside of it, the matrix is upper triangular. Writes `Q` if there is
/// memory for it. `workspace` has two elements per row.
pub(super) fn reduce<T: Field>(
    a: &mut Columns<'_, T>,
    range: Range<usize>,
    q: &mut Columns<'_, T>,
    factors: &mut [T],
    workspace: &mut [T],
) {
    let (n, end) = (a.rows, range.end);
    let (vector, sums) = workspace.split_at_mut(n);
    let steps = end.saturating_sub(1);
    for (k, found) in factors.iter_mut().enumerate().take(steps).skip(range.start) {
        let column = &mut a.column(k)[k + 1..end];
        let factor = reflection(column);
        let vector = &mut vector[..column.len() - 1];
        vector.copy_from_slice(&column[1..]);
        *found = factor;
        from_right(vector, factor, a, k + 1, 0..end, sums);
        from_left(vector, factor.conj(), &mut a.elements[(k + 1) * n..], n, k + 1);
    }
    if q.rows > 0 {
        Columns::identity(q.elements, n);
        for k in (range.start..steps).rev() {
            let vector = &a.elements[k * n + k + 2..k * n + end];
            from_left(vector, factors[k], &mut q.elements[(k + 1) * n..], n, k + 1);
        }
    }
    for k in range.start..end {
        a.column(k).iter_mut().skip(k + 2).for_each(|x| *x = T::ZERO);
    }
}
