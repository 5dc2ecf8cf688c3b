//! Reduction of a matrix with no more columns than rows to upper bidiagonal form, `A = Q B Pᴴ`, by reflections from
//! both sides.

use super::columns::Columns;
use super::field::Field;
use super::reflection::{from_left, from_right, reflection};

/// The factors of the reflections.
pub(super) struct Factors<'a, T> {
    pub(super) left: &'a mut [T],
    pub(super) right: &'a mut [T],
}

/// Writes the diagonal and the off-diagonal elements. The vectors of the reflections replace the matrix: those of `Q`
/// below the diagonal; those of `P` in rows, conjugated, to the right of the off-diagonal elements. `workspace` has an
/// element per row and per column.
pub(super) fn reduce<T: Field>(
    mut a: Columns<'_, T>,
    [diagonal, off_diagonal]: [&mut [T::Real]; 2],
    factors: &mut Factors<'_, T>,
    workspace: &mut [T],
) {
    let (rows, columns) = (a.rows, a.count());
    for k in 0..columns {
        let (left, right) = a.elements.split_at_mut((k + 1) * rows);
        let column = &mut left[k * rows + k..];
        let factor = reflection(column);
        (diagonal[k], factors.left[k]) = (column[0].re(), factor);
        from_left(&column[1..], factor.conj(), right, rows, k);
        if k + 1 == columns {
            break;
        }
        let (vector, sums) = workspace.split_at_mut(columns - k - 1);
        for (j, x) in (k + 1..columns).zip(vector.iter_mut()) {
            *x = a[[k, j]].conj();
        }
        let factor = reflection(vector);
        (off_diagonal[k], factors.right[k]) = (vector[0].re(), factor);
        from_right(&vector[1..], factor, &mut a, k + 1, k + 1..rows, sums);
        for (j, x) in (k + 1..columns).zip(vector) {
            a[[k, j]] = x.conj();
        }
    }
}

/// Multiplies columns by `Q` from the left.
pub(super) fn times_left<T: Field>(
    a: &Columns<'_, T>,
    factors: &Factors<'_, T>,
    columns: &mut Columns<'_, T>,
) {
    for k in (0..a.count()).rev() {
        let v = &a.elements[k * a.rows + k + 1..(k + 1) * a.rows];
        from_left(v, factors.left[k], columns.elements, columns.rows, k);
    }
}

/// Multiplies columns by `P` from the left.
pub(super) fn times_right<T: Field>(
    a: &Columns<'_, T>,
    factors: &Factors<'_, T>,
    columns: &mut Columns<'_, T>,
    workspace: &mut [T],
) {
    let count = a.count();
    for k in (0..count.saturating_sub(1)).rev() {
        let v = &mut workspace[..count - k - 2];
        for (j, x) in (k + 2..count).zip(v.iter_mut()) {
            *x = a[[k, j]].conj();
        }
        from_left(v, factors.right[k], columns.elements, columns.rows, k + 1);
    }
}
