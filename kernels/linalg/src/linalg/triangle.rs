//! Solving triangular systems.

use faer::linalg::triangular_solve as solve;
use faer::traits::ComplexField;
use faer::{MatMut, MatRef, Par};

use crate::kept::with_workspace;

/// A column-major triangular matrix, whose other triangle is not read.
pub(super) struct Triangle<'a, T> {
    pub(super) elements: &'a [T],
    pub(super) n: usize,
    pub(super) is_upper: bool,
    /// Whether the diagonal is all ones, and is not read either.
    pub(super) is_unit: bool,
    /// Whether the matrix of the system is the transpose.
    pub(super) is_transposed: bool,
}

impl<T: ComplexField> Triangle<'_, T> {
    /// Replaces right-hand sides, which follow each other, by the solutions.
    pub(super) fn solve(&self, right: &mut [T]) {
        let Some(count) = right.len().checked_div(self.n) else { return };
        let a = MatRef::from_column_major_slice(self.elements, self.n, self.n);
        let a = if self.is_transposed { a.transpose().as_dyn_stride() } else { a.as_dyn_stride() };
        let x = MatMut::from_column_major_slice_mut(right, self.n, count);
        let is_upper = self.is_upper != self.is_transposed;
        with_workspace(|| match (is_upper, self.is_unit) {
            (true, true) => solve::solve_unit_upper_triangular_in_place(a, x, Par::Seq),
            (true, false) => solve::solve_upper_triangular_in_place(a, x, Par::Seq),
            (false, true) => solve::solve_unit_lower_triangular_in_place(a, x, Par::Seq),
            (false, false) => solve::solve_lower_triangular_in_place(a, x, Par::Seq),
        });
    }
}
