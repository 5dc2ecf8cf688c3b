//! Eigenvalues of a real symmetric tridiagonal matrix by QL iterations on squares, without square roots (Pal, Walker
//! and Kahan).

use std::cmp::Ordering;

use super::field::Real;

/// The most iterations for an eigenvalue; two are usually enough.
const PATIENCE: usize = 60;

/// The order of eigenvalues, with NaN behind all numbers: a sort may panic if an order contradicts itself.
pub(in super::super) fn in_order<T: PartialOrd>(a: &T, b: &T) -> Ordering {
    let is_nan = |x: &T| x.partial_cmp(x).is_none();
    a.partial_cmp(b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

/// Replaces the diagonal by the eigenvalues, without eigenvectors. Returns whether all were found.
pub(in super::super) fn eigenvalues<T: Real>(d: &mut [T], e: &mut [T]) -> bool {
    let n = d.len();
    e.iter_mut().for_each(|x| *x = *x * *x);
    for l in 0..n {
        let mut patience = 0..PATIENCE;
        while let Some(m) = end_of_block(l, n, |k| {
            e[k] <= T::epsilon().powi(2) * ((d[k] * d[k + 1]).abs() + T::epsilon().powi(2))
        }) {
            if patience.next().is_none() {
                return false;
            }
            e[m] = T::zero();
            let sigma = shift(d, e[l].sqrt(), l);
            let (mut c, mut s, mut gamma) = (T::one(), T::zero(), d[m] - sigma);
            let mut p = gamma * gamma;
            for i in (l..m).rev() {
                let (square, sum) = (e[i], p + e[i]);
                if i + 1 != m {
                    e[i + 1] = s * sum;
                }
                let (last_c, last_gamma) = (c, gamma);
                (c, s) = (p / sum, square / sum);
                gamma = c * (d[i] - sigma) - s * last_gamma;
                d[i + 1] = last_gamma + (d[i] - gamma);
                p = if c == T::zero() { last_c * square } else { gamma * gamma / c };
            }
            (e[l], d[l]) = (s * p, sigma + gamma);
        }
    }
    true
}

/// The end of the block that begins at `l`; `None` if the block has one row.
#[inline(always)]
pub(in super::super) fn end_of_block(l: usize, n: usize, is_small: impl Fn(usize) -> bool) -> Option<usize> {
    let end = (l..n - 1).find(|k| is_small(*k)).unwrap_or(n - 1);
    (end > l).then_some(end)
}

/// Wilkinson's shift: the eigenvalue of the leading 2 × 2 block that is nearer to its first element.
#[inline(always)]
pub(in super::super) fn shift<T: Real>(d: &[T], off_diagonal: T, l: usize) -> T {
    let half = (d[l + 1] - d[l]) / (off_diagonal + off_diagonal);
    d[l] - off_diagonal / (half + (half * half + T::one()).sqrt().copysign(half))
}

#[test]
fn nan_comes_behind_all_numbers() {
    let mut values: Vec<f64> =
        (0..100).map(|i| if i % 3 == 0 { f64::NAN } else { f64::from(i * 37 % 101) }).collect();
    values.sort_by(in_order);
    assert!(values[..66].is_sorted() && values[66..].iter().all(|x| x.is_nan()));
}
