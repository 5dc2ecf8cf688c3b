//! Singular values and vectors by Jacobi's rotations.

use torch_library::Element;

use super::matrices::{conjugate, subtract, wide};
use super::tridiagonal::eigen;
use crate::cpu::number::Divided;

/// How often all pairs are rotated at most; one or two times is what it takes.
const SWEEPS: usize = 60;

/// Singular values, from the largest, and the vectors on both sides, column by column.
pub(super) struct Singular<T> {
    pub(super) left: Vec<T>,
    pub(super) values: Vec<f64>,
    pub(super) right: Vec<T>,
}

/// Decomposes a matrix with no more columns than rows, column by column, of elements with a precision.
///
/// # How it works
///
/// Each pair of columns is rotated until all are orthogonal: what remains is `A V = U S`, of which the lengths of the columns
/// are `S`. That is exact for small values too, but slow; so the eigenvectors of `Aᴴ A` come first, after which nearly all
/// pairs are orthogonal.
pub(super) fn decompose<T: Divided + Element>(
    a: &[T],
    rows: usize,
    columns: usize,
    precision: f64,
) -> Singular<T> {
    let (mut a, mut v) = nearly_orthogonal(a, rows, columns);
    let tolerance = precision.max((rows as f64).sqrt() * f64::EPSILON);
    for _ in 0..SWEEPS {
        let pairs = (0..columns).flat_map(|p| (p + 1..columns).map(move |q| (p, q)));
        let moved = pairs.filter(|pair| rotate([&mut a, &mut v], [rows, columns], *pair, tolerance)).count();
        if moved == 0 {
            break;
        }
    }
    let lengths: Vec<f64> = a.chunks_exact(rows.max(1)).map(norm).collect();
    let mut order: Vec<usize> = (0..columns).collect();
    order.sort_by(|p, q| lengths[*q].total_cmp(&lengths[*p]));
    let (mut left, mut right) = (Vec::with_capacity(a.len()), Vec::with_capacity(v.len()));
    for at in &order {
        let length: T = lengths[*at].cast();
        left.extend(a[at * rows..][..rows].iter().map(|x| x.over(length)));
        right.extend_from_slice(&v[at * columns..][..columns]);
    }
    let values: Vec<f64> = order.iter().map(|at| lengths[*at]).collect();
    let least = values.first().copied().unwrap_or(0.0) * f64::EPSILON * rows as f64;
    let known = values.iter().filter(|value| **value > least).count();
    complete(&mut left, rows, known, columns);
    Singular { left, values, right }
}

/// The product `A V` with the eigenvectors of `Aᴴ A`, and these.
fn nearly_orthogonal<T: Divided + Element>(a: &[T], rows: usize, columns: usize) -> (Vec<T>, Vec<T>) {
    let column = |k: usize| &a[k * rows..][..rows];
    let squares = (0..columns * columns).map(|at| dot(column(at % columns), column(at / columns))).collect();
    let Some(eigen) = eigen(squares, columns, true) else {
        let unit = (0..columns * columns).map(|at| (at % columns == at / columns).cast()).collect();
        return (a.to_vec(), unit); // the squares are not finite
    };
    let mut product = vec![T::ZERO; rows * columns];
    for (to, v) in product.chunks_exact_mut(rows.max(1)).zip(eigen.vectors.chunks_exact(columns.max(1))) {
        v.iter().enumerate().for_each(|(k, v)| subtract(to, column(k), v.negated()));
    }
    (product, eigen.vectors)
}

/// Replaces columns from `known` on, up to `count`, by unit vectors that are orthogonal to those before.
pub(super) fn complete<T: Divided + Element>(columns: &mut Vec<T>, rows: usize, known: usize, count: usize) {
    columns.truncate(known * rows);
    let mut axis = 0;
    while columns.len() < count * rows && axis < rows {
        let mut next = vec![T::ZERO; rows];
        next[axis] = T::ONE;
        axis += 1;
        for _ in 0..2 {
            for column in columns.chunks_exact(rows) {
                let along = dot(column, &next);
                subtract(&mut next, column, along);
            }
        }
        let length = norm(&next);
        // An axis that is nearly one of the others leaves nothing but rounding.
        if length * length * 2.0 * rows as f64 > 1.0 {
            let length: T = length.cast();
            columns.extend(next.into_iter().map(|x| x.over(length)));
        }
    }
}

/// Makes two columns of the first matrix orthogonal, and turns those of the second likewise; whether they were not before.
fn rotate<T: Divided + Element>(
    matrices: [&mut Vec<T>; 2],
    lengths: [usize; 2],
    (p, q): (usize, usize),
    tolerance: f64,
) -> bool {
    let column = |k: usize| &matrices[0][k * lengths[0]..][..lengths[0]];
    let (x, y) = (column(p), column(q));
    let (alpha, beta, gamma) = (wide(dot(x, x)).re, wide(dot(y, y)).re, wide(dot(x, y)));
    let size = gamma.norm();
    if size <= tolerance * (alpha * beta).sqrt() || size < f64::MIN_POSITIVE {
        return false;
    }
    let zeta = (beta - alpha) / (2.0 * size);
    let tangent = 1.0f64.copysign(zeta) / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let (c, s, phase): (T, T, T) = (cosine.cast(), (cosine * tangent).cast(), (gamma.conj() / size).cast());
    for (columns, len) in matrices.into_iter().zip(lengths) {
        let (left, right) = columns.split_at_mut(q * len);
        for (x, y) in left[p * len..][..len].iter_mut().zip(&mut right[..len]) {
            let turned = phase.times(*y);
            (*x, *y) = (c.times(*x).minus(s.times(turned)), s.times(*x).plus(c.times(turned)));
        }
    }
    true
}

fn norm<T: Divided + Element>(x: &[T]) -> f64 {
    wide(dot(x, x)).re.sqrt()
}

/// `xᴴ y`
fn dot<T: Divided + Element>(x: &[T], y: &[T]) -> T {
    const LANES: usize = 8;
    let mut sums = [T::ZERO; LANES]; // side by side: none waits for the one before
    let (x_chunks, x_rest) = x.as_chunks::<LANES>();
    let (y_chunks, y_rest) = y.as_chunks::<LANES>();
    for (x, y) in x_chunks.iter().zip(y_chunks) {
        (0..LANES).for_each(|k| sums[k] = sums[k].plus(conjugate(x[k]).times(y[k])));
    }
    let rest = x_rest.iter().zip(y_rest).map(|(x, y)| conjugate(*x).times(*y));
    sums.into_iter().chain(rest).fold(T::ZERO, T::plus)
}
