//! LU factorisation with partial pivoting, by recursion into halves: most of the work is in matrix products.
#![expect(unsafe_code, reason = "asks for registers")]

use faer::linalg::matmul::matmul;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::traits::ComplexField;
use faer::{Accum, MatMut, Par};
use torch_library::prelude::*;

use super::matrices::{Given, Matrices, broadcast_places, has_reciprocal, slice, wide};
use super::registers::add;
use super::tiny;
use super::triangle::{System, Triangle};
use crate::aten;
use crate::inlined::{fill, from_fn};
use crate::kept::with_workspace;
use crate::loops::{self, Held, Work, work};
use crate::number::{Divided, Number};
use crate::vector::Vector;

/// The number of columns that are factored one by one.
const NARROW: usize = 16;

/// The elements of matrices that are factored.
pub(super) trait Factored: Divided + ComplexField<Real: Number + PartialOrd> + Held {}

impl<T: Divided + ComplexField<Real: Number + PartialOrd> + Held> Factored for T {}

/// Factors a matrix in place into L, whose diagonal of ones is not stored, and U. Each step records in `pivots` the
/// row, from 1, that it swapped with its own. Returns the first step, from 1, that found no pivot, or 0.
pub(super) fn factor<T: Factored>(a: &mut [T], rows: usize, pivots: &mut [i32]) -> i32 {
    if let Some(info) = tiny::factor(a, rows, pivots) {
        return info;
    }
    let columns = a.len() / rows;
    let mut a = MatMut::from_column_major_slice_mut(a, rows, columns);
    let (mut left, mut right) = a.rb_mut().split_at_col_mut(pivots.len());
    let info = halves(left.rb_mut(), pivots);
    follow(left, right.rb_mut(), pivots);
    info
}

/// Factors columns, of which there are no more than rows: factors the left half, updates the right half with it, and
/// factors the right half.
fn halves<T: Factored>(mut a: MatMut<'_, T>, pivots: &mut [i32]) -> i32 {
    let columns = a.ncols();
    if columns <= NARROW {
        return work(Narrow { a, pivots });
    }
    let half = columns / 2;
    let (mut left, mut right) = a.rb_mut().split_at_col_mut(half);
    let (first, second) = pivots.split_at_mut(half);
    let above = halves(left.rb_mut(), first);
    follow(left.rb_mut(), right.rb_mut(), first);
    let (_, below_left) = left.split_at_row_mut(half);
    let (_, below_right) = right.split_at_row_mut(half);
    let below = halves(below_right, second);
    swap(below_left, second);
    second.iter_mut().for_each(|pivot| *pivot += half as i32);
    match (above, below) {
        (0, 0) => 0,
        (0, below) => below + half as i32,
        (above, _) => above,
    }
}

/// Applies the steps that factored the left columns to the right ones.
fn follow<T: Factored>(left: MatMut<'_, T>, mut right: MatMut<'_, T>, pivots: &[i32]) {
    if right.ncols() == 0 {
        return;
    }
    swap(right.rb_mut(), pivots);
    let (top, below) = left.split_at_row_mut(pivots.len());
    let (mut right, rest) = right.split_at_row_mut(pivots.len());
    with_workspace(|| {
        System { a: top.rb().as_dyn_stride(), is_upper: false, is_unit: true }.solve(right.rb_mut());
        matmul(rest, Accum::Add, below.rb(), right.rb(), T::ZERO.minus(T::ONE), Par::Seq);
    });
}

/// Columns that are factored one by one; otherwise as [`halves`].
struct Narrow<'a, T> {
    a: MatMut<'a, T>,
    pivots: &'a mut [i32],
}

impl<T: Factored> Work<T> for Narrow<'_, T> {
    type Output = i32;

    #[inline(always)]
    unsafe fn with<V: Vector<Element = T>>(self) -> i32 {
        let Narrow { mut a, pivots } = self;
        let (mut info, mut kept) = (0, [T::ZERO; NARROW]);
        assert!(V::LANES <= NARROW);
        for (k, pivot) in pivots.iter_mut().enumerate() {
            let (mut columns, mut right) = a.rb_mut().split_at_col_mut(k + 1);
            let column = slice(columns.rb_mut(), k);
            let (best, is_zero) = largest(&column[k..]);
            *pivot = (k + best) as i32 + 1;
            if is_zero {
                info = if info == 0 { k as i32 + 1 } else { info };
                continue;
            }
            column.swap(k, k + best);
            let (top, below) = column.split_at_mut(k + 1);
            if has_reciprocal(top[k]) {
                let factor = T::ONE.over(top[k]);
                below.iter_mut().for_each(|x| *x = x.times(factor));
            } else {
                below.iter_mut().for_each(|x| *x = x.over(top[k]));
            }
            if T::DTYPE.is_complex() || column.len() < V::LANES {
                let (top, below) = column.split_at_mut(k + 1);
                for j in 0..right.ncols() {
                    let column = slice(right.rb_mut(), j);
                    column.swap(k, k + best);
                    let (head, rest) = column.split_at_mut(top.len());
                    // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that `add` requires.
                    unsafe { add::<V>(rest, below, head[k].negated()) };
                }
            } else {
                // From where whole registers begin, so that each column is read as it was written in the step before,
                // which takes less time: with zeros for the rows that are done.
                let start = k + 1 - (k + 1) % V::LANES;
                kept[..k + 1 - start].copy_from_slice(&column[start..k + 1]);
                fill(&mut column[start..k + 1], T::ZERO);
                for j in 0..right.ncols() {
                    let other = slice(right.rb_mut(), j);
                    other.swap(k, k + best);
                    let factor = other[k].negated();
                    // Products of infinity and these zeros would not be zero.
                    let start = if factor.minus(factor).is_unordered() { k + 1 } else { start };
                    // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that `add` requires.
                    unsafe { add::<V>(&mut other[start..], &column[start..], factor) };
                }
                column[start..k + 1].copy_from_slice(&kept[..k + 1 - start]);
            }
            for j in 0..k {
                slice(columns.rb_mut(), j).swap(k, k + best);
            }
        }
        info
    }
}

/// The position of the first largest element, and whether that is zero; the first position if all elements are zero. As
/// in LAPACK, a NaN is never chosen over another element, but if the first element is NaN, it is chosen.
#[inline(always)]
fn largest<T: Factored>(column: &[T]) -> (usize, bool) {
    match T::DTYPE.is_complex() {
        true => largest_by(column, |x| wide(*x).l1_norm()),
        false => largest_by(column, ComplexField::abs1_impl),
    }
}

/// The same for elements of some sizes.
#[inline(always)]
fn largest_by<T, S: Number + PartialOrd>(column: &[T], size: impl Fn(&T) -> S) -> (usize, bool) {
    const LANES: usize = 16;
    if let Some(first) = column.first().map(&size).filter(|size| size.is_unordered()) {
        return (0, first == S::ZERO);
    }
    let (parts, rest) = column.as_chunks::<LANES>();
    let larger = |a: S, b: S| if b > a { b } else { a }; // NaN is not larger
    let mut sizes = [S::ZERO; LANES];
    for part in parts {
        sizes = from_fn(|i| larger(sizes[i], size(&part[i])));
    }
    let mut found = S::ZERO;
    for x in sizes {
        found = larger(found, x);
    }
    for x in rest {
        found = larger(found, size(x));
    }
    match found > S::ZERO {
        true => (column.iter().position(|x| size(x) == found).unwrap_or(0), false),
        false => (0, true),
    }
}

/// Swaps rows as recorded in `pivots`.
fn swap<T: ComplexField>(mut a: MatMut<'_, T>, pivots: &[i32]) {
    for j in 0..a.ncols() {
        let column = slice(a.rb_mut(), j);
        pivots.iter().enumerate().for_each(|(step, pivot)| column.swap(step, *pivot as usize - 1));
    }
}

/// Whether the rows were swapped an odd number of times.
pub(super) fn is_odd(pivots: &[i32]) -> bool {
    pivots.iter().enumerate().filter(|(step, pivot)| **pivot != *step as i32 + 1).count() % 2 == 1
}

/// Linear systems whose matrix has been factored.
pub(super) struct Solve<'a> {
    pub(super) factors: &'a Tensor,
    pub(super) pivots: &'a Tensor,
    /// The batch that the factors broadcast to.
    pub(super) batch: &'a [i64],
    /// Whether the matrix of the systems is the transpose.
    pub(super) is_transposed: bool,
    /// Whether right-hand sides are the identity, and so the solutions the inverse.
    pub(super) is_inverse: bool,
}

/// Exchanges two columns of `n` rows.
fn swap_columns<T>(x: &mut [T], n: usize, i: usize, j: usize) {
    if i != j {
        let (left, right) = x.split_at_mut(i.max(j) * n);
        left[i.min(j) * n..][..n].swap_with_slice(&mut right[..n]);
    }
}

impl Solve<'_> {
    /// Solves for right-hand sides that are the columns of matrices.
    pub(super) fn all<T: Factored>(&self, right: &Tensor) -> Result<Matrices<T>> {
        let n = right.sizes()[right.dim() - 2];
        let pivots = loops::elements::<i32>(self.pivots)?;
        if let Some(pivot) = pivots.iter().find(|pivot| !(1..=n).contains(&i64::from(**pivot))) {
            bail!(
                Argument,
                "{}: pivot {pivot} is out of range for {n} rows, counted from 1",
                aten::linalg_lu_solve::NAME
            );
        }
        let factors = Given::<T>::of(self.factors)?;
        let mut solution = Matrices::<T>::of(right)?;
        let own = &self.factors.sizes()[..self.factors.dim() - 2];
        let mut places: Vec<usize> = broadcast_places(own, self.batch).collect();
        let mut done = vec![(); places.len()];
        let n = n as usize;
        solution.each(n * n * solution.columns, &mut places, &mut done, |x, place, ()| {
            self.one(factors.get(place[0]), &pivots[place[0] * n..][..n], x);
        });
        Ok(solution)
    }

    fn one<T: Factored>(&self, factors: &[T], pivots: &[i32], x: &mut [T]) {
        let (n, is_transposed) = (pivots.len(), self.is_transposed);
        if !is_transposed && tiny::solve(factors, pivots, x) {
            return;
        }
        let half = |is_upper| Triangle { elements: factors, n, is_upper, is_unit: !is_upper, is_transposed };
        let swap = |x: &mut [T], step: usize| x.swap(step, pivots[step] as usize - 1);
        if self.is_inverse {
            half(false).invert(x);
            half(true).solve(x);
            for (step, pivot) in pivots.iter().enumerate().rev() {
                swap_columns(x, n, step, *pivot as usize - 1);
            }
        } else if is_transposed {
            half(true).solve(x);
            half(false).solve(x);
            x.chunks_exact_mut(n).for_each(|x| (0..n).rev().for_each(|step| swap(x, step)));
        } else {
            x.chunks_exact_mut(n).for_each(|x| (0..n).for_each(|step| swap(x, step)));
            half(false).solve(x);
            half(true).solve(x);
        }
    }
}
