//! Cholesky factors of positive definite matrices.

use torch_library::Element;

use super::matrices::{conjugate, subtract, wide};
use crate::cpu::number::Divided;

/// Replaces the lower half of a matrix by the factor L, the upper one by zeros. Gives back the first step, from 1, that found
/// the matrix not positive, or 0.
pub(super) fn factor<T: Divided + Element>(a: &mut [T], n: usize) -> i32 {
    for j in 0..n {
        a[j * n..][..j].fill(T::ZERO);
        let pivot = wide(a[j * n + j]).re;
        if pivot <= 0.0 || pivot.is_nan() {
            return j as i32 + 1;
        }
        let root: T = pivot.sqrt().cast();
        let (left, right) = a.split_at_mut((j + 1) * n);
        let column = &mut left[j * n..];
        column[j] = root;
        column[j + 1..].iter_mut().for_each(|x| *x = x.over(root));
        for (k, other) in (j + 1..n).zip(right.chunks_exact_mut(n)) {
            subtract(&mut other[k..], &column[k..], conjugate(column[k]));
        }
    }
    0
}
