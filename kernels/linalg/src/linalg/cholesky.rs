//! Cholesky factorisation of positive definite matrices, by recursion into halves: most of the work is in matrix
//! products.
#![expect(unsafe_code, reason = "asks for registers")]

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::traits::ComplexField;
use faer::{Accum, MatMut, Par};
use torch_library::Element as _;

use super::matrices::{conjugate, slice, wide};
use super::registers::add;
use crate::kept::with_workspace;
use crate::loops::{Held, Work, work};
use crate::number::Divided;
use crate::vector::Vector;

/// The number of columns that are factored one by one.
const NARROW: usize = 32;

/// Replaces the lower triangle of a matrix by the factor L, and the upper one by zeros. Returns the first step, from 1,
/// that found the matrix not to be positive definite, or 0.
pub(super) fn factor<T: Divided + ComplexField + Held>(a: &mut [T], n: usize) -> i32 {
    let info = halves(MatMut::from_column_major_slice_mut(a, n, n));
    (0..n).for_each(|j| a[j * n..][..j].fill(T::ZERO));
    info
}

/// Factors the upper left quarter, updates the lower quarters with it, and factors the lower right one.
fn halves<T: Divided + ComplexField + Held>(a: MatMut<'_, T>) -> i32 {
    let n = a.nrows();
    if n <= NARROW {
        return work(Narrow(a));
    }
    let half = n / 2;
    let (mut first, _, mut below, mut second) = a.split_at_mut(half, half);
    let info = halves(first.rb_mut());
    if info != 0 {
        return info;
    }
    with_workspace(|| {
        solve_lower_triangular_in_place(first.rb().conjugate(), below.rb_mut().transpose_mut(), Par::Seq);
        matmul(
            second.rb_mut(),
            BlockStructure::TriangularLower,
            Accum::Add,
            below.rb(),
            BlockStructure::Rectangular,
            below.rb().adjoint(),
            BlockStructure::Rectangular,
            T::ZERO.minus(T::ONE),
            Par::Seq,
        );
    });
    match halves(second) {
        0 => 0,
        info => info + half as i32,
    }
}

/// A matrix that is factored column by column.
struct Narrow<'a, T>(MatMut<'a, T>);

impl<T: Divided> Work<T> for Narrow<'_, T> {
    type Output = i32;

    #[inline(always)]
    unsafe fn with<V: Vector<Element = T>>(self) -> i32 {
        let Narrow(mut a) = self;
        for j in 0..a.ncols() {
            let (left, mut right) = a.rb_mut().split_at_col_mut(j + 1);
            let column = slice(left, j);
            let pivot = wide(column[j]).re;
            if pivot <= 0.0 || pivot.is_nan() {
                column[j] = pivot.cast(); // real, as LAPACK leaves it
                return j as i32 + 1;
            }
            let root: T = pivot.sqrt().cast();
            column[j] = root;
            column[j + 1..].iter_mut().for_each(|x| *x = x.over(root));
            for (at, k) in (j + 1..column.len()).enumerate() {
                let factor = conjugate(column[k]).negated();
                // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that `add` requires.
                unsafe { add::<V>(&mut slice(right.rb_mut(), at)[k..], &column[k..], factor) };
            }
        }
        0
    }
}
