//! LU factorisation with partial pivoting, by recursion into halves: most of the work is in matrix products.
#![expect(unsafe_code, reason = "asks for registers")]

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_unit_lower_triangular_in_place;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::traits::ComplexField;
use faer::{Accum, MatMut, Par};
use torch_library::prelude::*;

use super::matrices::{Given, Matrices, broadcast_places, slice, wide};
use super::registers::add;
use super::tiny;
use super::triangle::Triangle;
use crate::aten;
use crate::kept::with_workspace;
use crate::loops::{self, Held, Work, work};
use crate::number::{Divided, Number};
use crate::vector::Vector;

/// The number of columns that are factored one by one.
const NARROW: usize = 16;

/// Factors a matrix in place into L, whose diagonal of ones is not stored, and U. Each step records in `pivots` the
/// row, from 1, that it swapped with its own. Returns the first step, from 1, that found no pivot, or 0.
pub(super) fn factor<T: Divided + ComplexField + Held>(a: &mut [T], rows: usize, pivots: &mut [i32]) -> i32 {
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
fn halves<T: Divided + ComplexField + Held>(mut a: MatMut<'_, T>, pivots: &mut [i32]) -> i32 {
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
fn follow<T: Divided + ComplexField>(left: MatMut<'_, T>, mut right: MatMut<'_, T>, pivots: &[i32]) {
    if right.ncols() == 0 {
        return;
    }
    swap(right.rb_mut(), pivots);
    let (top, below) = left.split_at_row_mut(pivots.len());
    let (mut right, rest) = right.split_at_row_mut(pivots.len());
    with_workspace(|| {
        solve_unit_lower_triangular_in_place(top.rb(), right.rb_mut(), Par::Seq);
        matmul(rest, Accum::Add, below.rb(), right.rb(), T::ZERO.minus(T::ONE), Par::Seq);
    });
}

/// Columns that are factored one by one; otherwise as [`halves`].
struct Narrow<'a, T> {
    a: MatMut<'a, T>,
    pivots: &'a mut [i32],
}

impl<T: Divided> Work<T> for Narrow<'_, T> {
    type Output = i32;

    #[inline(always)]
    unsafe fn with<V: Vector<Element = T>>(self) -> i32 {
        let Narrow { mut a, pivots } = self;
        let mut info = 0;
        for (k, pivot) in pivots.iter_mut().enumerate() {
            let (mut columns, mut right) = a.rb_mut().split_at_col_mut(k + 1);
            let column = slice(columns.rb_mut(), k);
            let (best, size) = largest(&column[k..]);
            *pivot = (k + best) as i32 + 1;
            if size == 0.0 {
                info = if info == 0 { k as i32 + 1 } else { info };
                continue;
            }
            column.swap(k, k + best);
            let (top, below) = column.split_at_mut(k + 1);
            below.iter_mut().for_each(|x| *x = x.over(top[k]));
            for j in 0..right.ncols() {
                let column = slice(right.rb_mut(), j);
                column.swap(k, k + best);
                let (top, rest) = column.split_at_mut(k + 1);
                // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that `add` requires.
                unsafe { add::<V>(rest, below, top[k].negated()) };
            }
            for j in 0..k {
                slice(columns.rb_mut(), j).swap(k, k + best);
            }
        }
        info
    }
}

/// The position of the first largest element, and its magnitude; the first position and zero if all elements are zero.
/// As in LAPACK, a NaN is never chosen over another element, but if the first element is NaN, it is chosen.
#[inline(always)]
fn largest<T: Number>(column: &[T]) -> (usize, f64) {
    const LANES: usize = 8;
    let size = |x: T| wide(x).l1_norm();
    if let Some(first) = column.first().map(|x| size(*x)).filter(|size| size.is_nan()) {
        return (0, first);
    }
    let (parts, rest) = column.as_chunks::<LANES>();
    let larger = |a: f64, b: f64| if b > a { b } else { a }; // NaN is not larger
    let mut sizes = [0.0; LANES];
    for part in parts {
        sizes = std::array::from_fn(|i| larger(sizes[i], size(part[i])));
    }
    let found = sizes.into_iter().chain(rest.iter().map(|x| size(*x))).fold(0.0, larger);
    (column.iter().position(|x| size(*x) == found).filter(|_| found > 0.0).unwrap_or(0), found)
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
}

impl Solve<'_> {
    /// Solves for right-hand sides that are the columns of matrices.
    pub(super) fn all<T: Divided + ComplexField>(&self, right: &Tensor) -> Result<Matrices<T>> {
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

    fn one<T: Divided + ComplexField>(&self, factors: &[T], pivots: &[i32], x: &mut [T]) {
        let (n, is_transposed) = (pivots.len(), self.is_transposed);
        if !is_transposed && tiny::solve(factors, pivots, x) {
            return;
        }
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
