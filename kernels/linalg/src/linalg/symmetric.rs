//! Eigenvalues and eigenvectors of small symmetric matrices, by tridiagonalisation and implicit QL iterations.
//!
//! # How it works
//!
//! 1. The matrix is scaled by a power of two, so that squares neither overflow nor underflow.
//! 2. A reflection for each column reduces the matrix to tridiagonal form. Both triangles of the remaining matrix are
//!    kept up to date, so that all work is on columns from below the diagonal on.
//! 3. Rotations eliminate the off-diagonal elements: for eigenvalues only, on their squares and without square roots;
//!    for eigenvectors, with them.
#![expect(unsafe_code, reason = "asks for registers")]

use super::reflections::{Product, Real};
use super::registers::{add, add_two, add_two_and_sum, dot, has_widest_registers, turn};
use super::small::root_free::{self, end_of_block, shift};
use crate::loops::{Work, work};
use crate::vector::Vector;

/// Up to this size, successive rotations take less time than divide and conquer; and if the processor has the widest
/// registers, up to so many bytes in a column.
const LARGEST: usize = 128;
const LARGEST_IN_BYTES: usize = 1024;

/// The most iterations for an eigenvalue; two are usually enough.
const PATIENCE: usize = 60;

/// Whether successive rotations take less time than divide and conquer for matrices of a size.
pub(super) fn is_for<T>(n: usize) -> bool {
    n <= LARGEST || n <= LARGEST_IN_BYTES / size_of::<T>() && has_widest_registers()
}

/// Finds the eigenvalues, in ascending order, of a column-major matrix whose lower triangle and diagonal are given, and
/// the eigenvectors as columns if `vectors` is given. Returns whether all were found.
pub(super) fn eigen<T: Real>(matrix: &[T], values: &mut [T], vectors: Option<&mut [T]>) -> bool {
    let n = values.len();
    let known = (0..n).flat_map(|j| &matrix[j * n + j..(j + 1) * n]);
    let largest = known.fold(T::zero(), |a, b| a.max(b.abs()));
    let scale = if largest == T::zero() { T::one() } else { largest.log2().floor().exp2() };
    let mut a = vec![T::zero(); n * n];
    for j in 0..n {
        for i in j..n {
            let x = matrix[j * n + i] / scale;
            (a[j * n + i], a[i * n + j]) = (x, x);
        }
    }
    let (mut beside, mut factors) = (vec![T::zero(); n], vec![T::zero(); n]);
    work(Reduction { a: &mut a, diagonal: values, beside: &mut beside, factors: &mut factors });
    let is_found = match vectors {
        None => root_free::eigenvalues(values, &mut beside),
        Some(vectors) => {
            let mut turned = vec![T::zero(); n * n];
            work(Product { vectors: &a, rows: n, shift: 1, product: &mut turned, factors: &factors });
            let is_found = work(Rotations { d: values, e: &mut beside, vectors: &mut turned });
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|i, j| root_free::in_order(&values[*i], &values[*j]));
            for (to, from) in vectors.chunks_exact_mut(n).zip(order) {
                to.copy_from_slice(&turned[from * n..][..n]);
            }
            is_found
        }
    };
    values.sort_by(root_free::in_order);
    values.iter_mut().for_each(|x| *x *= scale);
    is_found && values.iter().all(|x| x.is_finite())
}

/// The reduction to tridiagonal form: computes the diagonal, the subdiagonal (`beside`) and, in the columns below it,
/// the vectors of the reflections, with the factor of each.
struct Reduction<'a, T> {
    a: &'a mut [T],
    diagonal: &'a mut [T],
    beside: &'a mut [T],
    factors: &'a mut [T],
}

impl<T: Real> Work<T> for Reduction<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn with<V: Vector<Element = T>>(self) {
        let n = self.diagonal.len();
        // The columns are updated for a reflection when they are read for the next one. `image` is that of the vector
        // of the last reflection, a column of `a`, and `next` that of the next one.
        let (mut image, mut next, mut last) = (vec![T::zero(); n], vec![T::zero(); n], None);
        for k in 0..n {
            let (left, right) = self.a.split_at_mut((k + 1) * n);
            let (left, column) = left.split_at_mut(k * n);
            let (column, next) = (&mut column[k..], &mut next[k + 1..]);
            let last_vector = last.map(|last: usize| &left[last * n..][..n]);
            if let Some(vector) = last_vector {
                let (x, y) = (T::zero() - image[k], T::zero() - vector[k]);
                // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that `add_two` requires.
                unsafe { add_two::<V>(column, (&vector[k..], x), (&image[k..], y)) };
            }
            self.diagonal[k] = column[0];
            let Some((first, rest)) = column[1..].split_first_mut() else { break };
            // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that `dot` requires.
            let square = unsafe { dot::<V>(rest, rest) };
            let is_done = square <= T::epsilon().powi(4);
            let (mut beta, mut factor) = (*first, T::zero());
            if !is_done {
                beta = -(*first * *first + square).sqrt().copysign(*first);
                let scale = T::one() / (*first - beta);
                factor = (beta - *first) / beta;
                rest.iter_mut().for_each(|x| *x *= scale);
                *first = T::one();
            }
            // A part that is no larger than rounding errors is dropped.
            (self.beside[k], self.factors[k]) = (beta, factor);
            let vector = &column[1..];
            next.fill(T::zero());
            for (j, (column, x)) in (k + 1..n).zip(right.chunks_exact_mut(n).zip(vector)) {
                let (column, sum) = (&mut column[k + 1..], (&mut *next, *x * factor));
                // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that these require.
                unsafe {
                    match last_vector {
                        Some(vector) => {
                            let (x, y) = (T::zero() - image[j], T::zero() - vector[j]);
                            add_two_and_sum::<V>(column, (&vector[k + 1..], x), (&image[k + 1..], y), sum);
                        }
                        None => add::<V>(sum.0, column, sum.1),
                    }
                }
            }
            // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that `dot` requires.
            let along = unsafe { dot::<V>(next, vector) };
            let half = T::zero() - factor * along / (T::one() + T::one());
            // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that `add` requires.
            unsafe { add::<V>(next, vector, half) };
            image[k + 1..].copy_from_slice(next);
            last = (!is_done).then_some(k);
        }
    }
}

/// Replaces the diagonal by the eigenvalues, and the columns by the eigenvectors. Returns whether all were found.
struct Rotations<'a, T> {
    d: &'a mut [T],
    e: &'a mut [T],
    vectors: &'a mut [T],
}

impl<T: Real> Work<T> for Rotations<'_, T> {
    type Output = bool;

    #[inline(always)]
    unsafe fn with<V: Vector<Element = T>>(self) -> bool {
        let Rotations { d, e, vectors } = self;
        let n = d.len();
        for l in 0..n {
            let mut patience = 0..PATIENCE;
            while let Some(m) = end_of_block(l, n, |k| {
                e[k].abs() <= T::epsilon() * (d[k].abs() + d[k + 1].abs() + T::epsilon())
            }) {
                if patience.next().is_none() {
                    return false;
                }
                let mut g = d[m] - shift(d, e[l], l);
                let (mut s, mut c, mut p, mut is_whole) = (T::one(), T::one(), T::zero(), true);
                for i in (l..m).rev() {
                    let (f, b) = (s * e[i], c * e[i]);
                    let length = (f * f + g * g).sqrt();
                    e[i + 1] = length;
                    if length == T::zero() {
                        d[i + 1] -= p;
                        is_whole = false;
                        break;
                    }
                    (s, c) = (f / length, g / length);
                    g = d[i + 1] - p;
                    let r = (d[i] - g) * s + (c * b + c * b);
                    p = s * r;
                    d[i + 1] = g + p;
                    g = c * r - b;
                    let (left, right) = vectors[i * n..][..2 * n].split_at_mut(n);
                    // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that `turn` requires.
                    unsafe { turn::<V>(left, right, c, s) };
                }
                if is_whole {
                    (d[l], e[l]) = (d[l] - p, g);
                }
                e[m] = T::zero();
            }
        }
        true
    }
}
