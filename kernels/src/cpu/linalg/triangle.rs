//! Equations with triangular matrices.

use super::matrices::subtract;
use crate::cpu::number::Divided;

/// A triangular matrix, column by column, of which the other half is not read.
pub(super) struct Triangle<'a, T> {
    pub(super) elements: &'a [T],
    pub(super) n: usize,
    pub(super) is_upper: bool,
    /// Whether the diagonal is of ones, and is not read either.
    pub(super) is_unit: bool,
    /// Whether the matrix of the equations is the transposed one.
    pub(super) is_transposed: bool,
}

impl<T: Divided> Triangle<'_, T> {
    /// Replaces right sides, one after the other, by the solutions.
    pub(super) fn solve(&self, right: &mut [T]) {
        right.chunks_exact_mut(self.n.max(1)).for_each(|x| self.solve_one(x));
    }

    fn solve_one(&self, x: &mut [T]) {
        let goes_down = self.is_upper == self.is_transposed;
        for step in 0..self.n {
            let j = if goes_down { step } else { self.n - 1 - step };
            let column = &self.elements[j * self.n..][..self.n];
            let rest = if self.is_upper { 0..j } else { j + 1..self.n };
            if self.is_transposed {
                let products = column[rest.clone()].iter().zip(&x[rest.clone()]);
                x[j] = x[j].minus(products.fold(T::ZERO, |sum, (a, x)| sum.plus(a.times(*x))));
            }
            if !self.is_unit {
                x[j] = x[j].over(column[j]);
            }
            if !self.is_transposed {
                let factor = x[j];
                subtract(&mut x[rest.clone()], &column[rest], factor);
            }
        }
    }
}
