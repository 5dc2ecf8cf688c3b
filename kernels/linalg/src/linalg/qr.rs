//! QR factorisation by Householder reflections.

use std::ops::Neg;

use faer::MatRef;
use faer::traits::ComplexField;
use torch_library::Element;
use torch_library::geometry::saturating_numel;
use torch_library::prelude::*;

use super::matrices::{Matrices, conjugate, grain, subtract, wide, work_of_factors, write_columns};
use crate::aten;
use crate::composite::collected;
use crate::inlined::{fill, zip};
use crate::kept::with_workspace;
use crate::loops::{on_vectors, parallel};
use crate::number::{Divided, Number};

/// Up to this many rows and columns, one reflection after the other is faster than blocks of reflections.
pub(super) const SMALL: i64 = 96;

/// The number of lanes in which a product of two vectors is summed.
const LANES: usize = 8;

on_vectors! {
    /// Replaces a matrix by R on and above its diagonal, and by the vectors of reflections below it, whose first
    /// elements are ones and not stored. Writes the factor of each reflection.
    pub(super) fn factor<T: Divided>(a: &mut [T], rows: usize, columns: usize, factors: &mut [T]) {
        let mut workspace = vec![T::ZERO; rows];
        for (k, factor) in factors.iter_mut().enumerate().take(rows.min(columns)) {
            let (left, right) = a.split_at_mut((k + 1) * rows);
            let column = &mut left[k * rows..];
            let (beta, found) = reflection(&mut column[k..]);
            column[k] = beta;
            *factor = found;
            reflect(right, rows, Vector::of(&mut workspace, column, k), conjugate(found));
        }
    }
}

on_vectors! {
    /// Writes the first columns of Q, from the output of [`factor`].
    pub(super) fn unitary<T: Divided>(a: &[T], rows: usize, factors: &[T], q: &mut [T]) {
        fill(q, T::ZERO);
        for (k, column) in q.chunks_exact_mut(rows).enumerate() {
            column[k] = T::ONE;
        }
        let mut workspace = vec![T::ZERO; rows];
        for (k, factor) in factors.iter().enumerate().rev() {
            let vector = Vector::of(&mut workspace, &a[k * rows..][..rows], k);
            reflect(&mut q[k * rows..], rows, vector, *factor); // it does not change the columns before
        }
    }
}

on_vectors! {
    /// Multiplies columns by a reflection, from the output of [`factor`]; `workspace` has room for a column.
    pub(super) fn reflect_by<T: Divided>(columns: &mut [T], a: &[T], k: usize, factor: T, workspace: &mut [T]) {
        let rows = workspace.len();
        reflect(columns, rows, Vector::of(workspace, &a[k * rows..][..rows], k), factor);
    }
}

/// The vector of a reflection from element `start` on; the elements before are zero.
struct Vector<'a, T> {
    elements: &'a [T],
    start: usize,
}

impl<'a, T: Number> Vector<'a, T> {
    /// The vector of reflection `k`, from the column below whose diagonal it is stored. It starts where whole lanes do,
    /// which takes less time than adding the elements before them one by one.
    #[inline(always)]
    fn of(workspace: &'a mut [T], column: &[T], k: usize) -> Self {
        let start = k - k % LANES;
        fill(&mut workspace[start..k], T::ZERO);
        workspace[k] = T::ONE;
        workspace[k + 1..].copy_from_slice(&column[k + 1..]);
        Vector { elements: &workspace[start..], start }
    }
}

/// Replaces a vector by that of the reflection that maps it to a multiple of the first unit vector. Returns that
/// multiple, and the reflection's factor.
#[inline(always)]
fn reflection<T: Divided>(x: &mut [T]) -> (T, T) {
    let first = wide(x[0]);
    let rest: f64 = x[1..].iter().map(|x| wide(*x).norm_sqr()).sum();
    if rest == 0.0 && first.im == 0.0 && x[1..].iter().all(|x| wide(*x) == Complex64::ZERO) {
        return (x[0], T::ZERO);
    }
    let square = first.norm_sqr() + rest;
    if !SQUARES.contains(&square)
        && let Some(found) = scaled(x)
    {
        return found;
    }
    let beta = -square.sqrt().copysign(first.re);
    let scale: T = (first - beta).cast();
    x[1..].iter_mut().for_each(|x| *x = x.over(scale));
    (beta.cast(), ((Complex64::from(beta) - first) / beta).cast())
}

/// The squared lengths of vectors whose squares neither overflow nor become subnormal.
const SQUARES: std::ops::Range<f64> = 1e-280..f64::MAX;

/// The result of [`reflection`] for a vector whose squares are out of range, which is scaled to a length near one;
/// `None` if it is as long already, or not finite.
#[cold]
#[inline(never)]
fn scaled<T: Divided>(x: &mut [T]) -> Option<(T, T)> {
    let largest =
        x.iter().map(|x| wide(*x)).fold(0.0f64, |largest, x| largest.max(x.re.abs()).max(x.im.abs()));
    let factor = largest.max(f64::MIN_POSITIVE).log2().floor().neg().exp2();
    if factor == 1.0 || largest == 0.0 || !largest.is_finite() {
        return None; // zero if all other elements are NaN
    }
    x.iter_mut().for_each(|x| *x = (wide(*x) * factor).cast());
    let (beta, found) = reflection(x);
    Some(((wide(beta) / factor).cast(), found))
}

/// `x -= factor * v * (vᴴ x)` for each column `x`
#[inline(always)]
fn reflect<T: Number>(columns: &mut [T], rows: usize, vector: Vector<'_, T>, factor: T) {
    for column in columns.chunks_exact_mut(rows) {
        let x = &mut column[vector.start..];
        subtract(x, vector.elements, factor.times(product(vector.elements, x)));
    }
}

/// `vᴴ x`
#[inline(always)]
fn product<T: Number>(v: &[T], x: &[T]) -> T {
    let ((v_blocks, v_rest), (x_blocks, x_rest)) = (v.as_chunks::<LANES>(), x.as_chunks::<LANES>());
    let mut lanes = [T::ZERO; LANES];
    for (v, x) in zip(v_blocks, x_blocks) {
        for lane in 0..LANES {
            lanes[lane] = lanes[lane].plus(conjugate(v[lane]).times(x[lane]));
        }
    }
    let mut rest = T::ZERO;
    for (v, x) in zip(v_rest, x_rest) {
        rest = rest.plus(conjugate(*v).times(*x));
    }
    let mut len = LANES / 2;
    while len > 0 {
        for lane in 0..len {
            lanes[lane] = lanes[lane].plus(lanes[len + lane]);
        }
        len /= 2;
    }
    lanes[0].plus(rest)
}

/// Writes Q, unless it is empty, and R, one reflection after the other. The diagonal of a complex R is real.
pub(super) fn by_columns<T: Divided>(a: &Tensor, [q, r]: [&Tensor; 2]) -> Result<()> {
    let mut matrices = Matrices::<T>::of(a)?;
    let (rows, columns) = (matrices.rows, matrices.columns);
    let elements = matrices.elements_mut();
    let inner = r.sizes()[r.dim() - 2] as usize;
    let count = saturating_numel(&a.sizes()[..a.dim() - 2]) as usize;
    let has_q = q.dim() > 1;
    let mut all_q = collected(aten::linalg_qr::NAME, if has_q { q.numel() } else { 0 }, |_| T::ZERO)?;
    let mut all_r = collected(aten::linalg_qr::NAME, r.numel(), |_| T::ZERO)?;
    let parts = (elements, &mut all_q[..], &mut all_r[..]);
    parallel::batch(
        count,
        grain(work_of_factors(rows, columns)),
        parts,
        |items, (elements, all_q, all_r)| {
            let mut factors = vec![T::ZERO; rows.min(columns)];
            for at in 0..items.len() {
                let a = &mut elements[at * rows * columns..][..rows * columns]; // without columns, Q still has elements
                factor(a, rows, columns, &mut factors);
                if has_q {
                    unitary(a, rows, &factors, &mut all_q[at * rows * inner..][..rows * inner]);
                }
                for (j, column) in a.chunks_exact(rows).enumerate() {
                    let len = inner.min(j + 1);
                    all_r[(at * columns + j) * inner..][..len].copy_from_slice(&column[..len]);
                }
            }
        },
    );
    if q.dim() > 1 {
        write_columns(q, all_q, [rows, inner])?;
    }
    write_columns(r, all_r, [inner, columns])
}

/// Like [`by_columns`], for real matrices, by blocks of reflections, so that most of the work is in matrix products.
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
