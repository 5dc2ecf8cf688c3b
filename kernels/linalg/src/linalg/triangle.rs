//! Solving triangular systems, by recursion into halves: most of the work is in matrix products.
#![expect(unsafe_code, reason = "asks for registers, and reads and writes numbers through them")]

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve as solve;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};

use super::matrices::has_reciprocal;
use crate::inlined::from_fn;
use crate::kept::with_workspace;
use crate::loops::transpose::transpose;
use crate::loops::{Held, Work, work};
use crate::number::Divided;
use crate::vector::Vector;

/// The number of rows that are solved one after the other.
const NARROW: usize = 32;

/// The number of right-hand sides that are solved side by side, in several registers.
const TOGETHER: usize = 64;

/// For fewer right-hand sides, or fewer rows, it takes longer to gather them, and to put them back.
const FEW: usize = 16;
const SHORT: usize = 12;

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

impl<T: Divided + ComplexField + Held> Triangle<'_, T> {
    /// Replaces right-hand sides, which follow each other, by the solutions.
    pub(super) fn solve(&self, right: &mut [T]) {
        let Some(count) = right.len().checked_div(self.n) else { return };
        let (system, x) = (self.system(), MatMut::from_column_major_slice_mut(right, self.n, count));
        with_workspace(|| system.solve(x));
    }

    /// Replaces the identity by the inverse matrix, of which only one triangle is written.
    pub(super) fn invert(&self, identity: &mut [T]) {
        if self.n > 0 {
            let (system, x) = (self.system(), MatMut::from_column_major_slice_mut(identity, self.n, self.n));
            with_workspace(|| system.invert(x));
        }
    }

    fn system(&self) -> System<'_, T> {
        let a = MatRef::from_column_major_slice(self.elements, self.n, self.n);
        let a = if self.is_transposed { a.transpose().as_dyn_stride() } else { a.as_dyn_stride() };
        System { a, is_upper: self.is_upper != self.is_transposed, is_unit: self.is_unit }
    }
}

/// A triangular matrix anywhere in memory.
pub(super) struct System<'a, T> {
    pub(super) a: MatRef<'a, T>,
    pub(super) is_upper: bool,
    pub(super) is_unit: bool,
}

impl<T: Divided + ComplexField + Held> System<'_, T> {
    /// Replaces right-hand sides by the solutions.
    pub(super) fn solve(&self, mut x: MatMut<'_, T>) {
        let n = self.a.nrows();
        let is_small = n < SHORT || x.ncols() < FEW;
        if is_small || T::DTYPE.is_complex() || !has_registers() {
            return match (self.is_upper, self.is_unit) {
                (true, true) => solve::solve_unit_upper_triangular_in_place(self.a, x, Par::Seq),
                (true, false) => solve::solve_upper_triangular_in_place(self.a, x, Par::Seq),
                (false, true) => solve::solve_unit_lower_triangular_in_place(self.a, x, Par::Seq),
                (false, false) => solve::solve_lower_triangular_in_place(self.a, x, Par::Seq),
            };
        }
        if n <= NARROW {
            return work(Narrow { system: self, x });
        }
        let half = half(n);
        let [first, second] = self.halves(half);
        let (mut top, mut bottom) = x.rb_mut().split_at_row_mut(half);
        let less = T::ZERO.minus(T::ONE);
        if self.is_upper {
            let between = self.a.submatrix(0, half, half, n - half);
            second.solve(bottom.rb_mut());
            matmul(top.rb_mut(), Accum::Add, between, bottom.rb(), less, Par::Seq);
            first.solve(top);
        } else {
            let between = self.a.submatrix(half, 0, n - half, half);
            first.solve(top.rb_mut());
            matmul(bottom.rb_mut(), Accum::Add, between, top.rb(), less, Par::Seq);
            second.solve(bottom);
        }
    }

    /// Replaces the identity by the inverse matrix, whose zeros are left as they are.
    fn invert(&self, mut x: MatMut<'_, T>) {
        let n = self.a.nrows();
        if n <= NARROW {
            return self.solve(x); // zeros stay zeros
        }
        let half = half(n);
        let [first, second] = self.halves(half);
        let (mut one, right, left, mut other) = x.rb_mut().split_at_mut(half, half);
        first.invert(one.rb_mut());
        second.invert(other.rb_mut());
        let less = T::ZERO.minus(T::ONE);
        if self.is_upper {
            let (mut right, between) = (right, self.a.submatrix(0, half, half, n - half));
            matmul(right.rb_mut(), Accum::Replace, between, other.rb(), less, Par::Seq);
            first.solve(right);
        } else {
            let (mut left, between) = (left, self.a.submatrix(half, 0, n - half, half));
            matmul(left.rb_mut(), Accum::Replace, between, one.rb(), less, Par::Seq);
            second.solve(left);
        }
    }

    /// The triangles on the diagonal, of `half` rows, and of the others.
    fn halves(&self, half: usize) -> [System<'_, T>; 2] {
        let n = self.a.nrows();
        [(0, half), (half, n - half)]
            .map(|(start, len)| System { a: self.a.submatrix(start, start, len, len), ..*self })
    }
}

/// About half of the rows, of which there are more than [`NARROW`]: a multiple of that.
fn half(n: usize) -> usize {
    (n / 2).next_multiple_of(NARROW)
}

/// Whether the processor has registers for real numbers, in which the last rows are solved.
fn has_registers() -> bool {
    #[cfg(target_arch = "x86_64")]
    return crate::loops::has_avx2();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Right-hand sides that are solved row by row, with a number of each of several in a register.
struct Narrow<'a, T> {
    system: &'a System<'a, T>,
    x: MatMut<'a, T>,
}

impl<T: Divided + Held> Work<T> for Narrow<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn with<V: Vector<Element = T>>(self) {
        let (System { a, is_upper, is_unit }, mut x) = (self.system, self.x);
        let n = a.nrows();
        assert!(n <= NARROW && x.nrows() == n && x.row_stride() == 1 && x.col_stride() >= n as isize);
        let mut factors =
            Factors { n, is_upper: *is_upper, less: [T::ZERO; _], scales: [T::ONE; _], exact: None };
        for i in 0..n {
            for k in if *is_upper { i + 1..n } else { 0..i } {
                factors.less[i * NARROW + k] = a[(i, k)].negated();
            }
        }
        if !is_unit {
            let mut diagonal = [T::ONE; NARROW];
            for i in 0..n {
                diagonal[i] = a[(i, i)];
            }
            if diagonal.iter().all(|x| has_reciprocal(*x)) {
                factors.scales = from_fn(|i| T::ONE.over(diagonal[i]));
            } else {
                factors.exact = Some(diagonal);
            }
        }
        let mut rows = [T::ZERO; NARROW * TOGETHER];
        let mut first = 0;
        while first < x.ncols() {
            let left = x.ncols() - first;
            let count = match left / V::LANES {
                4.. => 4 * V::LANES,
                2.. => 2 * V::LANES,
                _ => left.min(V::LANES),
            };
            let apart = x.col_stride();
            let columns = x.rb_mut().subcols_mut(first, count).as_ptr_mut();
            // SAFETY: these are `count` contiguous columns of `n` numbers each, `apart` from each other, and `rows` has
            // room for `n` rows of `TOGETHER` numbers, at least as many as `count`: four registers have no more. The
            // caller vouches for the registers.
            unsafe {
                transpose(columns.cast_const(), apart, [count, n], rows.as_mut_ptr(), TOGETHER);
                match count.div_ceil(V::LANES) {
                    4 => factors.solve::<V, 4>(&mut rows),
                    2 => factors.solve::<V, 2>(&mut rows),
                    _ => factors.solve::<V, 1>(&mut rows),
                }
                transpose(rows.as_ptr(), TOGETHER as isize, [n, count], columns, apart as usize);
            }
            first += count;
        }
    }
}

/// What rows are multiplied by.
struct Factors<T> {
    n: usize,
    is_upper: bool,
    /// The elements off the diagonal, negated, in rows of `NARROW`.
    less: [T; NARROW * NARROW],
    /// The reciprocals of the diagonal, or ones.
    scales: [T; NARROW],
    /// The diagonal, if rows have to be divided by it.
    exact: Option<[T; NARROW]>,
}

impl<T: Divided> Factors<T> {
    /// Solves for as many right-hand sides as `N` registers hold, whose rows are `TOGETHER` numbers apart.
    ///
    /// # Safety
    /// - The processor has the registers of `V`, and `N` of them hold no more than `TOGETHER` numbers.
    #[expect(clippy::needless_range_loop, reason = "iterators over arrays are not always inlined")]
    #[inline(always)]
    unsafe fn solve<V: Vector<Element = T>, const N: usize>(&self, rows: &mut [T; NARROW * TOGETHER]) {
        let data = rows.as_mut_ptr();
        for step in 0..self.n {
            let i = if self.is_upper { self.n - 1 - step } else { step };
            let solved = if self.is_upper { i + 1..self.n } else { 0..i };
            let row = data.wrapping_add(i * TOGETHER);
            // SAFETY: rows are at most `NARROW`, and the caller vouches for as many numbers in each, and the registers.
            unsafe {
                let mut sums: [V; N] = from_fn(|j| V::load(row.add(j * V::LANES), V::LANES));
                for k in solved {
                    let (factor, other) =
                        (V::splat(&raw const self.less[i * NARROW + k]), data.add(k * TOGETHER));
                    for j in 0..N {
                        sums[j] = V::load(other.add(j * V::LANES), V::LANES).times_plus(factor, sums[j]);
                    }
                }
                let scale = V::splat(&raw const self.scales[i]);
                for j in 0..N {
                    sums[j].times_plus(scale, V::zero()).store(row.add(j * V::LANES), V::LANES);
                }
            }
            if let Some(diagonal) = &self.exact {
                let row = &mut rows[i * TOGETHER..][..N * V::LANES];
                row.iter_mut().for_each(|x| *x = x.over(diagonal[i]));
            }
        }
    }
}
