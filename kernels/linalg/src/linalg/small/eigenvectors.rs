//! Eigenvectors of a triangular or quasi-triangular matrix, and of the matrix that it is the Schur form of.

use num_traits::Float;

use super::columns::Columns;
use super::field::{Field, Real};

/// Completes an eigenvector whose elements from row `from` on are known: those above are the solution of `(T - λ) x =
/// 0`. A real matrix has blocks of two rows where the element below the diagonal is not zero.
pub(super) fn complete<T, S>(t: &Columns<'_, T>, value: S, x: &mut [S], from: usize)
where
    T: Field,
    S: Field<Real = T::Real> + From<T>,
{
    let n = R::<T>::from_f64(t.rows as f64);
    let precision = R::<T>::ROUNDING + R::<T>::ROUNDING;
    let least = (precision * value.size()).max(T::Real::LEAST * (n / precision));
    // Quotients of numbers up to this one and the least pivot do not overflow.
    let most = least / T::Real::LEAST / R::<T>::from_f64(8.0);
    x[..from].fill(S::ZERO);
    for j in from..x.len() {
        eliminate(t, x, j, from);
    }
    let mut end = from;
    while end > 0 {
        let k = end - 1;
        let at = |i: usize, j: usize| S::from(t[[i, j]]);
        let is_block = k > 0 && t[[k, k - 1]] != T::ZERO;
        end = if is_block { k - 1 } else { k };
        tame(x, end..k + 1, most);
        if is_block {
            let block = [[at(k - 1, k - 1) - value, at(k - 1, k)], [at(k, k - 1), at(k, k) - value]];
            [x[k - 1], x[k]] = solve(block, [x[k - 1], x[k]], least);
        } else {
            let pivot = at(k, k) - value;
            x[k] = x[k].divided_by(if pivot.size() < least { S::real(least) } else { pivot });
        }
        tame(x, end..k + 1, most);
        for j in end..=k {
            eliminate(t, x, j, end);
        }
    }
}

/// The real numbers of a field.
type R<T> = <T as Field>::Real;

/// Subtracts the known element `j`, times its column, from the right-hand sides above row `end`.
#[inline(always)]
fn eliminate<T, S: Field<Real = T::Real> + From<T>>(t: &Columns<'_, T>, x: &mut [S], j: usize, end: usize)
where
    T: Field,
{
    let known = x[j];
    let column = &t.elements[j * t.rows..][..end];
    x[..end].iter_mut().zip(column).for_each(|(x, t)| *x -= S::from(*t) * known);
}

/// Scales a vector of which new elements are so large that the next ones could overflow.
#[inline(always)]
fn tame<S: Field>(x: &mut [S], new: std::ops::Range<usize>, most: S::Real) {
    let size = x[new].iter().fold(S::Real::ZERO, |size, x| size.max(x.size()));
    if size > most {
        x.iter_mut().for_each(|x| *x = x.by(S::Real::ONE / size));
    }
}

/// The solution of two equations, by elimination with the larger pivot of the first column.
fn solve<S: Field>([first, second]: [[S; 2]; 2], [x, y]: [S; 2], least: S::Real) -> [S; 2] {
    let ([[a, b], [c, d]], [x, y]) = match first[0].size() >= second[0].size() {
        true => ([first, second], [x, y]),
        false => ([second, first], [y, x]),
    };
    let pivot = |x: S| if x.size() < least { S::real(least) } else { x };
    let a = pivot(a);
    let ratio = c.divided_by(a);
    let y = (y - ratio * x).divided_by(pivot(d - ratio * b));
    [(x - b * y).divided_by(a), y]
}

/// The product of a matrix and a vector; the elements after the vector's end are zero.
pub(super) fn times<T: Field, S: Field<Real = T::Real> + From<T>>(
    q: &Columns<'_, T>,
    x: &[S],
    out: &mut [S],
) {
    out.fill(S::ZERO);
    for (column, x) in q.elements.chunks_exact(q.rows).zip(x) {
        out.iter_mut().zip(column).for_each(|(out, q)| *out += S::from(*q) * *x);
    }
}
