//! Reduction of a Hermitian matrix to a real tridiagonal one, `A = Q T Qᴴ`, by reflections.

use super::columns::Columns;
use super::field::Field;
use super::reflection::{from_left, reflection};

/// Writes the diagonal and the off-diagonal elements. Of the matrix only the lower triangle is read; the vectors of the
/// reflections replace it below the diagonal. `workspace` has an element per row.
pub(super) fn reduce<T: Field>(
    a: &mut Columns<'_, T>,
    [diagonal, off_diagonal]: [&mut [T::Real]; 2],
    factors: &mut [T],
    workspace: &mut [T],
) {
    let n = a.rows;
    for k in 0..n {
        let (left, right) = a.elements.split_at_mut((k + 1) * n);
        let column = &mut left[k * n + k..];
        diagonal[k] = column[0].re();
        if k + 1 == n {
            break;
        }
        let vector = &mut column[1..];
        let factor = reflection(vector);
        (off_diagonal[k], factors[k]) = (vector[0].re(), factor);
        if factor != T::ZERO {
            let beta = std::mem::replace(&mut vector[0], T::ONE);
            update(&mut Columns::new(right, n), k + 1, vector, factor, &mut workspace[k + 1..n]);
            vector[0] = beta;
        }
    }
}

/// Replaces the lower triangle of a Hermitian matrix, in the rows from `start` on, by that of `Hᴴ A H`.
///
/// With `w = τ A v - ½ |τ|² (vᴴ A v) v`, this is `A - v wᴴ - w vᴴ`.
fn update<T: Field>(a: &mut Columns<'_, T>, start: usize, v: &[T], factor: T, w: &mut [T]) {
    w.fill(T::ZERO);
    for (j, x) in v.iter().enumerate() {
        let column = &a.column(j)[start + j..];
        let mut along = T::real(column[0].re()) * *x;
        let (_, below) = w.split_at_mut(j + 1);
        for ((sum, a), v) in below.iter_mut().zip(&column[1..]).zip(&v[j + 1..]) {
            *sum += *a * *x;
            along += a.conj() * *v;
        }
        w[j] += along;
    }
    w.iter_mut().for_each(|x| *x *= factor);
    let along = w.iter().zip(v).fold(T::ZERO, |sum, (w, v)| sum + w.conj() * *v);
    let half = T::Real::ONE / (T::Real::ONE + T::Real::ONE);
    let back = -(factor * along).by(half);
    w.iter_mut().zip(v).for_each(|(w, v)| *w += back * *v);
    for j in 0..v.len() {
        let (v_j, w_j) = (v[j].conj(), w[j].conj());
        let column = &mut a.column(j)[start + j..];
        for ((x, v), w) in column.iter_mut().zip(&v[j..]).zip(&w[j..]) {
            *x -= *v * w_j + *w * v_j;
        }
    }
}

/// Multiplies columns by `Q` from the left.
pub(super) fn times<T: Field>(a: &Columns<'_, T>, factors: &[T], columns: &mut Columns<'_, T>) {
    let n = a.rows;
    for k in (0..n.saturating_sub(1)).rev() {
        from_left(&a.elements[k * n + k + 2..(k + 1) * n], factors[k], columns.elements, n, k + 1);
    }
}
