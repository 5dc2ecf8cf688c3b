//! Column-major matrices in borrowed memory.

use std::ops::{Index, IndexMut};

use super::field::Field;

/// A column-major matrix; `a[[i, j]]` is the element in row `i` and column `j`.
pub(in super::super) struct Columns<'a, T> {
    pub(in super::super) rows: usize,
    pub(in super::super) elements: &'a mut [T],
}

impl<'a, T: Field> Columns<'a, T> {
    pub(super) fn new(elements: &'a mut [T], rows: usize) -> Self {
        Columns { rows, elements }
    }

    /// The identity, or its first columns.
    pub(super) fn identity(elements: &'a mut [T], rows: usize) -> Self {
        elements.fill(T::ZERO);
        elements.iter_mut().step_by(rows + 1).for_each(|x| *x = T::ONE);
        Columns { rows, elements }
    }

    /// The same matrix, borrowed for a shorter time.
    pub(super) fn again(&mut self) -> Columns<'_, T> {
        Columns { rows: self.rows, elements: self.elements }
    }

    pub(super) fn count(&self) -> usize {
        self.elements.len() / self.rows.max(1)
    }

    #[inline(always)]
    pub(super) fn column(&mut self, j: usize) -> &mut [T] {
        &mut self.elements[j * self.rows..(j + 1) * self.rows]
    }

    /// Two columns, of which `i` is the first.
    #[inline(always)]
    pub(super) fn pair(&mut self, i: usize, j: usize) -> [&mut [T]; 2] {
        let rows = self.rows;
        if i < j {
            let (left, right) = self.elements.split_at_mut(j * rows);
            [&mut left[i * rows..(i + 1) * rows], &mut right[..rows]]
        } else {
            let (left, right) = self.elements.split_at_mut(i * rows);
            [&mut right[..rows], &mut left[j * rows..(j + 1) * rows]]
        }
    }

    pub(super) fn swap_columns(&mut self, i: usize, j: usize) {
        if i != j {
            let [a, b] = self.pair(i, j);
            a.swap_with_slice(b);
        }
    }
}

impl<T> Index<[usize; 2]> for Columns<'_, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, [i, j]: [usize; 2]) -> &T {
        &self.elements[j * self.rows + i]
    }
}

impl<T> IndexMut<[usize; 2]> for Columns<'_, T> {
    #[inline(always)]
    fn index_mut(&mut self, [i, j]: [usize; 2]) -> &mut T {
        &mut self.elements[j * self.rows + i]
    }
}
