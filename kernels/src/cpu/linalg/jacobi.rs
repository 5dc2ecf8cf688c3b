//! Singular values and vectors by Jacobi's rotations.

use torch_library::prelude::*;

/// How often all pairs are rotated at most; a handful is what it takes.
const SWEEPS: usize = 60;

/// Singular values, from the largest, and the vectors on both sides, column by column.
pub(super) struct Singular {
    pub(super) left: Vec<Complex64>,
    pub(super) values: Vec<f64>,
    pub(super) right: Vec<Complex64>,
}

/// Decomposes a matrix with no more columns than rows, column by column.
///
/// # How it works
///
/// Each pair of columns is rotated until all are orthogonal: what remains is `A V = U S`, of which the lengths of the columns
/// are `S`. This is slower than what LAPACK does for large matrices, and more exact for small values.
pub(super) fn decompose(mut a: Vec<Complex64>, rows: usize, columns: usize) -> Singular {
    let mut v = identity(columns);
    for _ in 0..SWEEPS {
        let pairs = (0..columns).flat_map(|p| (p + 1..columns).map(move |q| (p, q)));
        let moved = pairs.filter(|(p, q)| rotate(&mut a, rows, &mut v, columns, *p, *q)).count();
        if moved == 0 {
            break;
        }
    }
    let lengths: Vec<f64> = a.chunks_exact(rows.max(1)).map(norm).collect();
    let mut order: Vec<usize> = (0..columns).collect();
    order.sort_by(|p, q| lengths[*q].total_cmp(&lengths[*p]));
    let (mut left, mut right) = (Vec::with_capacity(a.len()), Vec::with_capacity(v.len()));
    for at in &order {
        left.extend(a[at * rows..][..rows].iter().map(|x| x / lengths[*at]));
        right.extend_from_slice(&v[at * columns..][..columns]);
    }
    let values: Vec<f64> = order.iter().map(|at| lengths[*at]).collect();
    let least = values.first().copied().unwrap_or(0.0) * f64::EPSILON * rows as f64;
    let known = values.iter().filter(|value| **value > least).count();
    complete(&mut left, rows, known, columns);
    Singular { left, values, right }
}

/// Replaces columns from `known` on, up to `count`, by unit vectors that are orthogonal to those before.
pub(super) fn complete(columns: &mut Vec<Complex64>, rows: usize, known: usize, count: usize) {
    columns.truncate(known * rows);
    let mut axis = 0;
    while columns.len() < count * rows && axis < rows {
        let mut next = vec![Complex64::ZERO; rows];
        next[axis] = Complex64::ONE;
        axis += 1;
        for _ in 0..2 {
            for column in columns.chunks_exact(rows) {
                let along = dot(column, &next);
                next.iter_mut().zip(column).for_each(|(x, c)| *x -= along * c);
            }
        }
        let length = norm(&next);
        // An axis that is nearly one of the others leaves nothing but rounding.
        if length * length * 2.0 * rows as f64 > 1.0 {
            columns.extend(next.into_iter().map(|x| x / length));
        }
    }
}

/// Makes two columns orthogonal; whether they were not before.
fn rotate(a: &mut [Complex64], rows: usize, v: &mut [Complex64], n: usize, p: usize, q: usize) -> bool {
    let (x, y) = (&a[p * rows..][..rows], &a[q * rows..][..rows]);
    let (alpha, beta, gamma) = (norm(x).powi(2), norm(y).powi(2), dot(x, y));
    let size = gamma.norm();
    if size <= f64::EPSILON * (alpha * beta).sqrt() || size < f64::MIN_POSITIVE {
        return false;
    }
    let zeta = (beta - alpha) / (2.0 * size);
    let tangent = 1.0f64.copysign(zeta) / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let (sine, phase) = (cosine * tangent, gamma.conj() / size);
    for (columns, len) in [(a, rows), (v, n)] {
        let (left, right) = columns.split_at_mut(q * len);
        for (x, y) in left[p * len..][..len].iter_mut().zip(&mut right[..len]) {
            let turned = phase * *y;
            (*x, *y) = (*x * cosine - turned * sine, *x * sine + turned * cosine);
        }
    }
    true
}

fn identity(n: usize) -> Vec<Complex64> {
    let mut matrix = vec![Complex64::ZERO; n * n];
    (0..n).for_each(|k| matrix[k * n + k] = Complex64::ONE);
    matrix
}

fn norm(x: &[Complex64]) -> f64 {
    x.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt()
}

/// `xᴴ y`
fn dot(x: &[Complex64], y: &[Complex64]) -> Complex64 {
    x.iter().zip(y).map(|(x, y)| x.conj() * y).sum()
}
