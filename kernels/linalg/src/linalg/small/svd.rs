//! Singular values and vectors of a small matrix, with the signs of LAPACK's driver `gesdd`.
//!
//! # How it works
//!
//! 1. The matrix, or its adjoint if it has more columns than rows, is scaled if its squares could overflow or
//!    underflow.
//! 2. If it has many more rows than columns, reflections make it triangular, and the triangle takes its place.
//! 3. Reflections from both sides make it bidiagonal. The bidiagonal form of an adjoint is the transpose, which
//!    rotations make upper bidiagonal again.
//! 4. Implicit QR iterations find the values, and the vectors of the bidiagonal matrix.
//! 5. The reflections turn these into the vectors of the matrix.

use super::bidiagonal::{Factors, reduce, times_left, times_right};
use super::columns::Columns;
use super::field::{Field, Real};
use super::implicit_qr::Iteration;
use super::reflection::{from_left, reflection};
use super::rotation::Rotation;
use super::scale;

/// Memory for matrices of one size, which is used again for each of a batch.
pub(in super::super) struct Workspace<T: Field> {
    rows: usize,
    columns: usize,
    matrix: Vec<T>,
    triangle: Vec<T>,
    factors: [Vec<T>; 3],
    workspace: Vec<T>,
    off_diagonal: Vec<T::Real>,
    vectors: [Vec<T::Real>; 2],
}

/// Where the singular vectors go: `u` has the left ones, and `v` the right ones, as columns.
pub(in super::super) struct Vectors<'a, T> {
    pub(in super::super) u: &'a mut [T],
    pub(in super::super) v: &'a mut [T],
}

impl<T: Field> Workspace<T> {
    pub(in super::super) fn new(rows: usize, columns: usize, has_vectors: bool) -> Self {
        let (long, short) = (rows.max(columns), rows.min(columns));
        let square = if has_vectors { short * short } else { 0 };
        Workspace {
            rows,
            columns,
            matrix: vec![T::ZERO; long * short],
            triangle: vec![T::ZERO; if is_tall::<T>(long, short) { short * short } else { 0 }],
            factors: std::array::from_fn(|_| vec![T::ZERO; short]),
            workspace: vec![T::ZERO; long + short],
            off_diagonal: vec![T::Real::ZERO; short],
            vectors: std::array::from_fn(|_| vec![T::Real::ZERO; square]),
        }
    }

    /// Finds the values, in descending order, and the vectors if they are wanted, of a column-major matrix whose
    /// elements are finite. Returns whether all were found.
    pub(in super::super) fn svd(
        &mut self,
        a: &[T],
        values: &mut [T::Real],
        vectors: Option<Vectors<'_, T>>,
    ) -> bool {
        let is_wide = self.rows < self.columns;
        let (long, short) = (self.rows.max(self.columns), self.rows.min(self.columns));
        if short == 0 {
            if let Some(Vectors { u, v }) = vectors {
                Columns::identity(u, self.rows);
                Columns::identity(v, self.columns);
            }
            return true;
        }
        let factor = scale::factor(a);
        copy(a, self.rows, is_wide, factor, &mut self.matrix);
        let [qr, left, right] = &mut self.factors;
        let is_tall = is_tall::<T>(long, short);
        // Only for complex matrices is it the adjoint of the triangle that is reduced.
        let is_turned = is_wide && is_tall && T::IS_COMPLEX;
        if is_tall {
            triangle(&mut self.matrix, long, qr, &mut self.triangle, is_turned);
        }
        let reduced = if is_tall { &mut self.triangle } else { &mut self.matrix };
        let reduced_rows = reduced.len() / short;
        let mut reduced = Columns::new(reduced, reduced_rows);
        let mut factors = Factors { left, right };
        reduce(reduced.again(), [values, &mut self.off_diagonal], &mut factors, &mut self.workspace);
        let is_lower = is_wide && !is_turned;
        let is_found = diagonalise(values, &mut self.off_diagonal, &mut self.vectors, is_lower, short);
        values.iter_mut().for_each(|x| *x = *x / factor);
        let Some(Vectors { u, v }) = vectors else { return is_found };
        let [of_left, of_right] = &self.vectors;
        let mut u = placed(u, self.rows, of_left, short);
        let mut v = placed(v, self.columns, of_right, short);
        let (of_q, of_p) = if is_lower { (&mut v, &mut u) } else { (&mut u, &mut v) };
        times_left(&reduced, &factors, of_q);
        times_right(&reduced, &factors, of_p, &mut self.workspace);
        if is_tall {
            let longer = if is_wide { v } else { u };
            for (k, factor) in qr.iter().enumerate().rev() {
                let vector = &self.matrix[k * long + k + 1..(k + 1) * long];
                from_left(vector, *factor, longer.elements, long, k);
            }
        }
        is_found
    }
}

/// Whether a matrix is reduced to a triangle first: for complex matrices where LAPACK does it, and for real ones where
/// MKL does.
fn is_tall<T: Field>(long: usize, short: usize) -> bool {
    long > short && long >= if T::IS_COMPLEX { short * 17 / 9 } else { short * 3 / 2 }
}

/// Copies a matrix or its adjoint, scaled.
fn copy<T: Field>(a: &[T], rows: usize, is_adjoint: bool, factor: T::Real, to: &mut [T]) {
    if is_adjoint {
        let columns = a.len() / rows;
        for (j, column) in a.chunks_exact(rows).enumerate() {
            column.iter().enumerate().for_each(|(i, x)| to[i * columns + j] = x.conj());
        }
    } else {
        to.copy_from_slice(a);
    }
    if factor != T::Real::ONE {
        to.iter_mut().for_each(|x| *x = x.by(factor));
    }
}

/// Factors a matrix into reflections and a triangle, and copies the triangle, or its adjoint.
fn triangle<T: Field>(a: &mut [T], rows: usize, factors: &mut [T], out: &mut [T], is_adjoint: bool) {
    let columns = a.len() / rows;
    out.fill(T::ZERO);
    for (k, factor) in factors.iter_mut().enumerate() {
        let (left, right) = a.split_at_mut((k + 1) * rows);
        let column = &mut left[k * rows..];
        *factor = reflection(&mut column[k..]);
        from_left(&column[k + 1..], factor.conj(), right, rows, k);
        for (i, x) in column[..=k].iter().enumerate() {
            if is_adjoint {
                out[i * columns + k] = x.conj();
            } else {
                out[k * columns + i] = *x;
            }
        }
    }
}

/// Finds the values of a bidiagonal matrix, which is lower bidiagonal if `is_lower`, and its vectors if there is
/// memory.
fn diagonalise<R: Real>(
    diagonal: &mut [R],
    off_diagonal: &mut [R],
    [left, right]: &mut [Vec<R>; 2],
    is_lower: bool,
    n: usize,
) -> bool {
    let rows = if left.is_empty() { 0 } else { n };
    let (mut left, right) = (Columns::identity(left, rows), Columns::identity(right, rows));
    if n == 1 {
        // For a single value, LAPACK changes the sign of the left vector.
        if diagonal[0] < R::ZERO {
            diagonal[0] = -diagonal[0];
            left.elements.iter_mut().for_each(|x| *x = -*x);
        }
        return true;
    }
    if is_lower {
        for k in 0..n - 1 {
            let (turn, r) = Rotation::onto_first(diagonal[k], off_diagonal[k]);
            diagonal[k] = r;
            (off_diagonal[k], diagonal[k + 1]) = turn.of(R::ZERO, diagonal[k + 1]);
            if rows > 0 {
                let [x, y] = left.pair(k, k + 1);
                turn.apply(x, y);
            }
        }
    }
    let turn = |rotation: Rotation<R>, x: &mut [R], y: &mut [R]| rotation.apply(x, y);
    Iteration { diagonal, off_diagonal, left, right, turn }.run()
}

/// Writes a real square matrix to the upper left corner of the identity.
fn placed<'a, T: Field>(out: &'a mut [T], rows: usize, square: &[T::Real], n: usize) -> Columns<'a, T> {
    let mut out = Columns::identity(out, rows);
    for (j, column) in square.chunks_exact(n).enumerate() {
        for (to, x) in out.column(j).iter_mut().zip(column) {
            *to = T::real(*x);
        }
    }
    out
}
