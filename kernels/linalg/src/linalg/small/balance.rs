//! Balancing: a similar matrix whose eigenvalues are computed with smaller errors.
//!
//! Rows and columns that isolate an eigenvalue are moved to the end and to the start. In the rows and columns between
//! these, powers of two make the lengths of each row and its column similar.

use std::ops::Range;

use num_traits::Float;

use super::columns::Columns;
use super::field::{Field, Real};
use super::reflection::norm;

/// What was done to a matrix.
pub(super) struct Balance<'a, R> {
    /// The rows and columns that isolate no eigenvalue.
    pub(super) range: Range<usize>,
    /// For each row outside the range, the row that it was exchanged with.
    pub(super) swaps: &'a mut [usize],
    /// For each row within the range, the factor of its column.
    pub(super) scales: &'a mut [R],
}

impl<R: Real> Balance<'_, R> {
    /// Balances a matrix.
    pub(super) fn apply<T: Field<Real = R>>(&mut self, a: &mut Columns<'_, T>) {
        self.range = 0..a.rows;
        self.scales.fill(R::ONE);
        while let Some(row) = self.range.clone().rev().find(|row| self.is_alone(a, *row, true)) {
            self.range.end -= 1;
            self.swap(a, row, self.range.end);
        }
        while let Some(column) = self.range.clone().find(|column| self.is_alone(a, *column, false)) {
            self.swap(a, column, self.range.start);
            self.range.start += 1;
        }
        if self.range.len() > 1 {
            while self.scale(a) {}
        }
    }

    /// Whether all elements of a row, or of a column, in the range are zero except for the one on the diagonal.
    fn is_alone<T: Field<Real = R>>(&self, a: &Columns<'_, T>, k: usize, is_row: bool) -> bool {
        let mut others = self.range.clone().filter(|other| *other != k);
        others.all(|other| a[if is_row { [k, other] } else { [other, k] }] == T::ZERO)
    }

    fn swap<T: Field<Real = R>>(&mut self, a: &mut Columns<'_, T>, from: usize, to: usize) {
        self.swaps[to] = from;
        if from != to {
            a.swap_columns(from, to);
            a.elements.chunks_exact_mut(a.rows).for_each(|column| column.swap(from, to));
        }
    }

    /// Scales each row and column of the range once. Returns whether anything changed.
    fn scale<T: Field<Real = R>>(&mut self, a: &mut Columns<'_, T>) -> bool {
        let (two, mut is_changed) = (R::ONE + R::ONE, false);
        let (least, most) = (R::LEAST / R::ROUNDING, R::ROUNDING / R::LEAST);
        for k in self.range.clone() {
            let of_column = norm(&a.column(k)[self.range.clone()]);
            let of_row = self.range.clone().fold(R::ZERO, |sum, j| sum + a[[k, j]].square());
            let of_row = Float::sqrt(of_row);
            if of_column == R::ZERO || of_row == R::ZERO {
                continue;
            }
            let (mut column, mut row, mut factor) = (of_column, of_row, R::ONE);
            while column < row / two && factor.max(column) < most && row > least {
                (factor, column, row) = (factor * two, column * two, row / two);
            }
            while column / two >= row && row < most && factor.min(column) > least {
                (factor, column, row) = (factor / two, column / two, row * two);
            }
            if column + row >= R::from_f64(0.95) * (of_column + of_row) {
                continue;
            }
            is_changed = true;
            self.scales[k] *= factor;
            let inverse = R::ONE / factor;
            (self.range.start..a.rows).for_each(|j| a[[k, j]] = a[[k, j]].by(inverse));
            (0..self.range.end).for_each(|i| a[[i, k]] = a[[i, k]].by(factor));
        }
        is_changed
    }

    /// Turns an eigenvector of the balanced matrix into one of the matrix.
    pub(super) fn undo<T: Field<Real = R>>(&self, vector: &mut [T]) {
        for (x, factor) in vector[self.range.clone()].iter_mut().zip(&self.scales[self.range.clone()]) {
            *x = x.by(*factor);
        }
        (0..self.range.start).rev().for_each(|k| vector.swap(k, self.swaps[k]));
        (self.range.end..vector.len()).for_each(|k| vector.swap(k, self.swaps[k]));
    }
}
