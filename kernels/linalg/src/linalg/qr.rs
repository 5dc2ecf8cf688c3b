//! QR factorisation by Householder reflections.

use faer::MatRef;
use faer::traits::ComplexField;
use torch_library::Element;
use torch_library::geometry::saturating_numel;
use torch_library::prelude::*;

use super::matrices::{Matrices, conjugate, subtract, wide, write_columns};
use crate::kept::with_workspace;
use crate::number::Divided;

/// Replaces a matrix by R on and above its diagonal, and by the vectors of reflections below it, whose first elements
/// are ones and not stored. Returns the factor of each reflection.
pub(super) fn factor<T: Divided + Element>(a: &mut [T], rows: usize, columns: usize) -> Vec<T> {
    let mut factors = Vec::new();
    for k in 0..rows.min(columns) {
        let (left, right) = a.split_at_mut((k + 1) * rows);
        let column = &mut left[k * rows + k..];
        let (beta, factor) = reflection(column);
        column[0] = T::ONE;
        right.chunks_exact_mut(rows).for_each(|other| reflect(&mut other[k..], column, conjugate(factor)));
        column[0] = beta;
        factors.push(factor);
    }
    factors
}

/// The first `columns` columns of Q, from the output of [`factor`].
pub(super) fn unitary<T: Divided + Element>(a: &[T], rows: usize, factors: &[T], columns: usize) -> Vec<T> {
    let mut q = vec![T::ZERO; rows * columns];
    (0..columns).for_each(|k| q[k * rows + k] = T::ONE);
    for (k, factor) in factors.iter().enumerate().rev() {
        let mut vector = a[k * rows + k..(k + 1) * rows].to_vec();
        vector[0] = T::ONE;
        q.chunks_exact_mut(rows).for_each(|column| reflect(&mut column[k..], &vector, *factor));
    }
    q
}

/// Replaces a vector by that of the reflection that maps it to a multiple of the first unit vector. Returns that
/// multiple, and the reflection's factor.
fn reflection<T: Divided + Element>(x: &mut [T]) -> (T, T) {
    let first = wide(x[0]);
    let rest: f64 = x[1..].iter().map(|x| wide(*x).norm_sqr()).sum();
    if rest == 0.0 && first.im == 0.0 {
        return (x[0], T::ZERO);
    }
    let beta = -(first.norm_sqr() + rest).sqrt().copysign(first.re);
    let scale: T = (first - beta).cast();
    x[1..].iter_mut().for_each(|x| *x = x.over(scale));
    (beta.cast(), ((Complex64::from(beta) - first) / beta).cast())
}

/// `x -= factor * v * (vᴴ x)`
pub(super) fn reflect<T: Divided + Element>(x: &mut [T], v: &[T], factor: T) {
    let dot = v.iter().zip(&*x).fold(T::ZERO, |sum, (v, x)| sum.plus(conjugate(*v).times(*x)));
    subtract(x, v, factor.times(dot));
}

/// Like [`factor`] and [`unitary`], for real matrices, by blocks, so that most of the work is in matrix products.
/// Writes Q, unless it is empty, and R.
pub(super) fn by_blocks<T: Divided + Element + ComplexField>(a: &Tensor, [q, r]: [&Tensor; 2]) -> Result<()> {
    let matrices = Matrices::<T>::of(a)?;
    let (rows, columns, elements) = (matrices.rows, matrices.columns, matrices.elements());
    let inner = r.sizes()[r.dim() - 2] as usize;
    let count = saturating_numel(&a.sizes()[..a.dim() - 2]) as usize;
    let (mut all_q, mut all_r) = (Vec::new(), Vec::new());
    for at in 0..count {
        let matrix = &elements[at * rows * columns..][..rows * columns]; // without columns, Q still has elements
        let (factors, unitary) = with_workspace(|| {
            let factors = MatRef::from_column_major_slice(matrix, rows, columns).qr();
            let unitary = match (q.dim() > 1, inner == rows) {
                (true, true) => Some(factors.compute_Q()),
                (true, false) => Some(factors.compute_thin_Q()),
                (false, _) => None,
            };
            (factors, unitary)
        });
        let columns_of_q = unitary.iter().flat_map(|unitary| unitary.col_iter());
        all_q.extend(columns_of_q.flat_map(|column| column.iter().copied()));
        for (j, column) in factors.R().col_iter().enumerate() {
            all_r.extend((0..inner).map(|i| if i <= j { column[i] } else { T::ZERO }));
        }
    }
    if q.dim() > 1 {
        write_columns(q, all_q, [rows, inner])?;
    }
    write_columns(r, all_r, [inner, columns])
}
