//! LU factors with partial pivoting.

use torch_library::prelude::*;

use super::matrices::{Matrices, subtract, wide};
use super::triangle::Triangle;
use crate::aten;
use crate::cpu::loops;
use crate::cpu::number::Divided;

/// Factors a matrix in its place into L, whose diagonal of ones is not kept, and U. Each step notes the row, from 1, that it
/// swapped with its own. Gives back the first step that found no pivot, from 1, or 0.
pub(super) fn factor<T: Divided>(a: &mut [T], rows: usize, pivots: &mut [i32]) -> i32 {
    let mut info = 0;
    for (k, pivot) in pivots.iter_mut().enumerate() {
        let sizes = a[k * rows..][k..rows].iter().map(|x| wide(*x).l1_norm()).enumerate();
        let (best, size) = sizes.fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
        *pivot = (k + best) as i32 + 1;
        if size == 0.0 {
            info = if info == 0 { k as i32 + 1 } else { info };
            continue;
        }
        if best != 0 {
            a.chunks_exact_mut(rows).for_each(|column| column.swap(k, k + best));
        }
        let (left, right) = a.split_at_mut((k + 1) * rows);
        let (top, below) = left[k * rows..].split_at_mut(k + 1);
        below.iter_mut().for_each(|x| *x = x.over(top[k]));
        for column in right.chunks_exact_mut(rows) {
            let (top, rest) = column.split_at_mut(k + 1);
            subtract(rest, below, top[k]);
        }
    }
    info
}

/// Whether the rows were swapped an odd number of times.
pub(super) fn is_odd(pivots: &[i32]) -> bool {
    pivots.iter().enumerate().filter(|(step, pivot)| **pivot != *step as i32 + 1).count() % 2 == 1
}

/// Equations whose matrix is factored.
pub(super) struct Solve<'a> {
    pub(super) factors: &'a Tensor,
    pub(super) pivots: &'a Tensor,
    /// The batch that the factors broadcast to.
    pub(super) batch: &'a [i64],
    /// Whether the matrix of the equations is the transposed one.
    pub(super) is_transposed: bool,
}

impl Solve<'_> {
    /// The solutions for right sides in the columns of matrices.
    pub(super) fn all<T: Divided>(&self, right: &Tensor) -> Result<Matrices<T>> {
        let n = right.sizes()[right.dim() - 2];
        let factors = aten::expand(self.factors, &[self.batch, &[n, n]].concat())?;
        let pivots = loops::elements::<i32>(&aten::expand(self.pivots, &[self.batch, &[n]].concat())?)?;
        let factors = Matrices::<T>::of(&factors)?;
        let mut solution = Matrices::<T>::of(right)?;
        let pivots = pivots.chunks_exact((n as usize).max(1));
        for ((factors, pivots), x) in factors.iter().zip(pivots).zip(solution.iter_mut()) {
            self.one(factors, pivots, x);
        }
        Ok(solution)
    }

    fn one<T: Divided>(&self, factors: &[T], pivots: &[i32], x: &mut [T]) {
        let (n, is_transposed) = (pivots.len(), self.is_transposed);
        let half = |is_upper| Triangle { elements: factors, n, is_upper, is_unit: !is_upper, is_transposed };
        let swap = |x: &mut [T], step: usize| {
            x.chunks_exact_mut(n).for_each(|x| x.swap(step, pivots[step] as usize - 1));
        };
        if is_transposed {
            half(true).solve(x);
            half(false).solve(x);
            (0..n).rev().for_each(|step| swap(x, step));
        } else {
            (0..n).for_each(|step| swap(x, step));
            half(false).solve(x);
            half(true).solve(x);
        }
    }
}
