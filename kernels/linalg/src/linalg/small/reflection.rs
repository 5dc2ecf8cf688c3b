//! Householder's reflections `H = I - τ v vᴴ`, where the first element of `v` is one and is not stored.

use super::columns::Columns;
use super::field::{Field, Real};
use super::rotation::length;
use num_traits::Float;

/// Replaces a vector by `v` such that `Hᴴ` maps it to `β` times the first unit vector, except that its first element
/// becomes `β`. Returns `τ`, which is zero if nothing has to be reflected. `β` is real, and its sign is not that of the
/// real part of the first element, so that nothing cancels.
#[inline(always)]
pub(super) fn reflection<T: Field>(x: &mut [T]) -> T {
    let Some((first, rest)) = x.split_first_mut() else { return T::ZERO };
    let below = norm(rest);
    if below == T::Real::ZERO && first.im() == T::Real::ZERO {
        return T::ZERO;
    }
    let whole = length(length(first.re(), first.im()), below);
    if whole < T::Real::LEAST / T::Real::ROUNDING {
        return enlarged(x);
    }
    let beta = -whole.signed(first.re());
    let factor = T::of((beta - first.re()) / beta, -first.im() / beta);
    let scale = T::ONE.divided_by(*first - T::real(beta));
    rest.iter_mut().for_each(|x| *x *= scale);
    *first = T::real(beta);
    factor
}

/// The same for a vector that is so short that reciprocals of its elements overflow.
#[cold]
fn enlarged<T: Field>(x: &mut [T]) -> T {
    let small = T::Real::LEAST / T::Real::ROUNDING;
    x.iter_mut().for_each(|x| *x = x.by(T::Real::ONE / small));
    let factor = reflection(x);
    x[0] = x[0].by(small);
    factor
}

/// The length of a vector, also if squares of its elements overflow or underflow.
#[inline(always)]
pub(super) fn norm<T: Field>(x: &[T]) -> T::Real {
    let square = x.iter().fold(T::Real::ZERO, |sum, x| sum + x.square());
    if square > T::Real::LEAST / T::Real::ROUNDING && square < T::Real::max_value() {
        return Float::sqrt(square);
    }
    x.iter().fold(T::Real::ZERO, |sum, x| length(sum, length(x.re(), x.im())))
}

/// Multiplies columns, from row `row` on, by `H` from the left.
#[inline(always)]
pub(super) fn from_left<T: Field>(v: &[T], factor: T, columns: &mut [T], rows: usize, row: usize) {
    if factor == T::ZERO {
        return;
    }
    for column in columns.chunks_exact_mut(rows) {
        let Some((first, rest)) = column[row..].split_first_mut() else { return };
        let along = (*first + dot(v, rest)) * factor;
        *first -= along;
        v.iter().zip(rest).for_each(|(v, x)| *x -= along * *v);
    }
}

/// `vᴴ x`. For real numbers there are several sums, which do not wait for each other; the parts of a complex number
/// already are.
#[inline(always)]
pub(super) fn dot<T: Field>(v: &[T], x: &[T]) -> T {
    const LANES: usize = 8;
    let x = &x[..v.len()]; // columns may have more elements
    let sum = |v: &[T], x: &[T]| v.iter().zip(x).fold(T::ZERO, |sum, (v, x)| sum + v.conj() * *x);
    if T::IS_COMPLEX || v.len() < LANES {
        return sum(v, x);
    }
    let ((v_blocks, v_rest), (x_blocks, x_rest)) = (v.as_chunks::<LANES>(), x.as_chunks::<LANES>());
    let mut lanes = [T::ZERO; LANES];
    for (v, x) in v_blocks.iter().zip(x_blocks) {
        for lane in 0..LANES {
            lanes[lane] += v[lane].conj() * x[lane];
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    sum(v_rest, x_rest) + (((a + e) + (c + g)) + ((b + f) + (d + h)))
}

/// Multiplies rows of columns `column..` by `H` from the right. `sums` has space for one number per row.
#[inline(always)]
pub(super) fn from_right<T: Field>(
    v: &[T],
    factor: T,
    a: &mut Columns<'_, T>,
    column: usize,
    rows: std::ops::Range<usize>,
    sums: &mut [T],
) {
    if factor == T::ZERO {
        return;
    }
    let sums = &mut sums[..rows.len()];
    sums.copy_from_slice(&a.column(column)[rows.clone()]);
    for (at, v) in v.iter().enumerate() {
        let x = &a.column(column + 1 + at)[rows.clone()];
        sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += *x * *v);
    }
    sums.iter_mut().for_each(|sum| *sum *= factor);
    a.column(column)[rows.clone()].iter_mut().zip(&*sums).for_each(|(x, sum)| *x -= *sum);
    for (at, v) in v.iter().enumerate() {
        let x = &mut a.column(column + 1 + at)[rows.clone()];
        x.iter_mut().zip(&*sums).for_each(|(x, sum)| *x -= *sum * v.conj());
    }
}
