//! The factorisations `L D Lᵀ` of symmetric matrices and `L D Lᴴ` of Hermitian ones, with Bunch-Kaufman pivoting.
//!
//! D has blocks of one or two rows. If a diagonal element is too small compared with the largest one below it, another
//! diagonal element or a block of two rows takes its place.

use torch_library::Element;
use torch_library::geometry::infer_size;
use torch_library::match_dtype;
use torch_library::prelude::*;

use super::check;
use super::matrices::{Given, Matrices, broadcast_places, column_major, conjugate, wide};
use crate::arguments::square;
use crate::aten;
use crate::loops;
use crate::loops::pointwise::{common_device, unsupported};
use crate::number::Divided;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn linalg_ldl_factor_ex(
        this: &Tensor,
        hermitian: bool,
        check_errors: bool,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::linalg_ldl_factor_ex::NAME;
        let n = square(OPERATOR, this)? as usize;
        let vectors = &this.sizes()[..this.dim() - 1];
        let mut pivots = Tensor::zeros(vectors, DType::Int32, this.device())?;
        let mut info = Tensor::zeros(&vectors[..vectors.len() - 1], DType::Int32, this.device())?;
        let factors = match_dtype!(this.dtype(), T: Float | Complex => {
            if loops::has_elements(this) {
                let mut matrices = Matrices::<T>::of(this)?;
                let mut found = vec![0; pivots.numel() as usize];
                let mut steps = vec![0; info.numel() as usize];
                matrices.each(n * n * n, &mut found, &mut steps, |a, pivots, steps| {
                    *steps = Factoring::<T> { a, n, is_hermitian: hermitian }.run(pivots);
                });
                pivots.copy_from_slice(&found)?;
                info.copy_from_slice(&steps)?;
                matrices.into_tensor()?
            } else {
                column_major(this.sizes(), this.dtype(), this.device())?
            }
        }, else => return Err(unsupported(OPERATOR, this.dtype())));
        check(OPERATOR, &info, check_errors, "D has a block of zeros")?;
        Ok((factors, pivots, info))
    }

    fn linalg_ldl_solve(ld: &Tensor, pivots: &Tensor, b: &Tensor, hermitian: bool) -> Result<Tensor> {
        let _lease = loops::frozen([ld, pivots, b])?;
        const OPERATOR: &str = aten::linalg_ldl_solve::NAME;
        let n = square(OPERATOR, ld)?;
        common_device(OPERATOR, &[ld, pivots, b])?;
        let [batch @ .., rows, columns] = b.sizes() else {
            bail!(Shape, "{OPERATOR}: right-hand sides of sizes {:?} are not those of matrices", b.sizes())
        };
        ensure!(
            n == *rows && pivots.sizes() == &ld.sizes()[..ld.dim() - 1],
            Shape,
            "{OPERATOR}: factors of sizes {:?}, pivots of sizes {:?} and right-hand sides of sizes {:?} do not fit",
            ld.sizes(),
            pivots.sizes(),
            b.sizes()
        );
        ensure!(
            ld.dtype() == b.dtype() && pivots.dtype().is_integer(),
            DType,
            "{OPERATOR}: factors of {}, right-hand sides of {} and pivots of {}, expected one type and integers",
            ld.dtype(),
            b.dtype(),
            pivots.dtype()
        );
        let batch =
            infer_size(&ld.sizes()[..ld.dim() - 2], batch).map_err(|error| error.context(OPERATOR))?;
        let sizes = [&batch[..], &[n, *columns]].concat();
        match_dtype!(ld.dtype(), T: Float | Complex => {
            let out = column_major(&sizes, b.dtype(), b.device())?;
            if !loops::has_elements(&out) {
                return Ok(out);
            }
            let pivots = checked_pivots(OPERATOR, &loops::elements::<i64>(&loops::copy(pivots, DType::Int64)?)?, n)?;
            let factors = Given::<T>::of(ld)?;
            let mut solution = Matrices::<T>::of(&aten::expand(b, &sizes)?)?;
            let n = n as usize;
            let places = broadcast_places(&ld.sizes()[..ld.dim() - 2], &batch);
            for (place, x) in places.zip(solution.iter_mut()) {
                let (a, pivots) = (factors.get(place), &pivots[place * n..][..n]);
                x.chunks_exact_mut(n).for_each(|x| Factors { a, pivots, n, is_hermitian: hermitian }.solve(x));
            }
            solution.into_tensor()
        }, else => Err(unsupported(OPERATOR, ld.dtype())))
    }
}

/// A pivot: the row that a row is swapped with.
#[derive(Clone, Copy)]
enum Pivot {
    OfOne(usize),
    /// A block of two rows begins here, whose second row is swapped with this one.
    OfTwo(usize),
}

/// Converts LAPACK's pivots, which count rows from 1, and have the negative row twice for blocks of two rows.
fn checked_pivots(operator: &str, pivots: &[i64], n: i64) -> Result<Vec<Pivot>> {
    let mut checked = Vec::with_capacity(pivots.len());
    for pivots in pivots.chunks_exact(n as usize) {
        let mut k = 0;
        while k < pivots.len() {
            let pivot = pivots[k];
            let is_pair = pivot < 0;
            let fits =
                (1..=n).contains(&pivot.saturating_abs()) && (!is_pair || pivots.get(k + 1) == Some(&pivot));
            ensure!(
                fits,
                Argument,
                "{operator}: pivot {pivot} at {k} is out of range for {n} rows, or does not belong to a block of two"
            );
            let row = pivot.unsigned_abs() as usize - 1;
            let pivot = if is_pair { Pivot::OfTwo(row) } else { Pivot::OfOne(row) };
            checked.extend(std::iter::repeat_n(pivot, 1 + usize::from(is_pair)));
            k += 1 + usize::from(is_pair);
        }
    }
    Ok(checked)
}

/// A matrix that is being factored.
struct Factoring<'a, T> {
    a: &'a mut [T],
    n: usize,
    is_hermitian: bool,
}

impl<T: Divided + Element> Factoring<'_, T> {
    /// Factors the matrix. Returns the first step, from 1, that found only zeros, or 0.
    fn run(mut self, pivots: &mut [i32]) -> i32 {
        let (mut info, mut k) = (0, 0);
        for j in 0..self.n {
            self.a[j * self.n..][..j].fill(T::ZERO);
            self.straighten(j);
        }
        while k < self.n {
            let Some((pivot, width)) = self.pivot(k) else {
                info = if info == 0 { k as i32 + 1 } else { info };
                pivots[k] = k as i32 + 1;
                k += 1;
                continue;
            };
            self.swap(k, k + width - 1, pivot);
            if width == 1 {
                self.eliminate_one(k);
                pivots[k] = pivot as i32 + 1;
            } else {
                self.eliminate_two(k);
                pivots[k..k + 2].fill(-(pivot as i32 + 1));
            }
            k += width;
        }
        info
    }

    fn at(&self, i: usize, j: usize) -> T {
        self.a[j * self.n + i]
    }

    fn conjugated(&self, x: T) -> T {
        if self.is_hermitian { conjugate(x) } else { x }
    }

    /// The magnitude by which pivots are compared.
    fn size(&self, i: usize, j: usize) -> f64 {
        let x = wide(self.at(i, j));
        if self.is_hermitian && i == j { x.re.abs() } else { x.l1_norm() }
    }

    /// Makes a diagonal element real, as those of Hermitian matrices are.
    fn straighten(&mut self, j: usize) {
        if self.is_hermitian {
            self.a[j * self.n + j] = wide(self.at(j, j)).re.cast();
        }
    }

    /// The row of the next pivot, and the number of rows of its block; `None` if the column is zero.
    fn pivot(&self, k: usize) -> Option<(usize, usize)> {
        let alpha = (1.0 + 17f64.sqrt()) / 8.0;
        let own = self.size(k, k);
        let largest = |sizes: &mut dyn Iterator<Item = (usize, f64)>| {
            sizes.fold((k, 0.0), |best, other| if other.1 > best.1 { other } else { best })
        };
        let (row, below) = largest(&mut (k + 1..self.n).map(|i| (i, self.size(i, k))));
        if own.max(below) == 0.0 || own.is_nan() {
            return None;
        }
        if own >= alpha * below {
            return Some((k, 1));
        }
        let left = (k..row).map(|j| (j, self.size(row, j)));
        let (_, beside) = largest(&mut left.chain((row + 1..self.n).map(|i| (i, self.size(i, row)))));
        if own >= alpha * below * (below / beside) {
            Some((k, 1))
        } else if self.size(row, row) >= alpha * beside {
            Some((row, 1))
        } else {
            Some((row, 2))
        }
    }

    /// Swaps rows and columns `to` and `from` of the remaining matrix from `k` on.
    fn swap(&mut self, k: usize, to: usize, from: usize) {
        let n = self.n;
        if to == from {
            return;
        }
        (from + 1..n).for_each(|i| self.a.swap(to * n + i, from * n + i));
        for i in to + 1..from {
            let (below, beside) = (self.at(i, to), self.at(from, i));
            self.a[to * n + i] = self.conjugated(beside);
            self.a[i * n + from] = self.conjugated(below);
        }
        self.a[to * n + from] = self.conjugated(self.at(from, to));
        self.a.swap(to * n + to, from * n + from);
        if to > k {
            self.a.swap(k * n + to, k * n + from);
        }
    }

    fn eliminate_one(&mut self, k: usize) {
        let (n, diagonal) = (self.n, self.at(k, k));
        for j in k + 1..n {
            let factor = self.conjugated(self.at(j, k)).over(diagonal);
            for i in j..n {
                self.a[j * n + i] = self.at(i, j).minus(self.at(i, k).times(factor));
            }
            self.straighten(j);
        }
        self.a[k * n + k + 1..(k + 1) * n].iter_mut().for_each(|x| *x = x.over(diagonal));
    }

    fn eliminate_two(&mut self, k: usize) {
        let (n, off) = (self.n, self.at(k + 1, k));
        let other = self.conjugated(off);
        // D is [[a, other], [off, c]]; dividing by `off` first avoids overflow and underflow.
        let (first, second) = (self.at(k, k).over(other), self.at(k + 1, k + 1).over(off));
        let scale = T::ONE.over(first.times(second).minus(T::ONE));
        for j in k + 2..n {
            let (x, y) = (self.at(j, k), self.at(j, k + 1));
            let weights = [
                scale.times(second.times(x).minus(y).over(other)),
                scale.times(first.times(y).minus(x).over(off)),
            ];
            for i in j..n {
                let change = self
                    .at(i, k)
                    .times(self.conjugated(weights[0]))
                    .plus(self.at(i, k + 1).times(self.conjugated(weights[1])));
                self.a[j * n + i] = self.at(i, j).minus(change);
            }
            self.a[k * n + j] = weights[0];
            self.a[(k + 1) * n + j] = weights[1];
            self.straighten(j);
        }
    }
}

/// A factored matrix.
struct Factors<'a, T> {
    a: &'a [T],
    pivots: &'a [Pivot],
    n: usize,
    is_hermitian: bool,
}

impl<T: Divided + Element> Factors<'_, T> {
    fn solve(&self, x: &mut [T]) {
        let mut k = 0;
        while k < self.n {
            match self.pivots[k] {
                Pivot::OfOne(row) => {
                    x.swap(k, row);
                    self.subtract(x, k, k + 1);
                    x[k] = x[k].over(self.a[k * self.n + k]);
                    k += 1;
                }
                Pivot::OfTwo(row) => {
                    x.swap(k + 1, row);
                    self.subtract(x, k, k + 2);
                    self.subtract(x, k + 1, k + 2);
                    self.divide_two(x, k);
                    k += 2;
                }
            }
        }
        while k > 0 {
            let (first, row) = match self.pivots[k - 1] {
                Pivot::OfOne(row) => (k - 1, row),
                Pivot::OfTwo(row) => (k - 2, row),
            };
            (first..k).for_each(|column| x[column] = x[column].minus(self.dot(x, column, k)));
            x.swap(k - 1, row);
            k = first;
        }
    }

    /// Subtracts a column of L, times an element, from the elements below.
    fn subtract(&self, x: &mut [T], column: usize, from: usize) {
        let factor = x[column];
        let below = &self.a[column * self.n..][from..self.n];
        x[from..].iter_mut().zip(below).for_each(|(x, a)| *x = x.minus(a.times(factor)));
    }

    /// The dot product of a column of L with the elements below.
    fn dot(&self, x: &[T], column: usize, from: usize) -> T {
        let below = &self.a[column * self.n..][from..self.n];
        x[from..].iter().zip(below).fold(T::ZERO, |sum, (x, a)| sum.plus(self.conjugated(*a).times(*x)))
    }

    fn conjugated(&self, x: T) -> T {
        if self.is_hermitian { conjugate(x) } else { x }
    }

    fn divide_two(&self, x: &mut [T], k: usize) {
        let at = |i: usize, j: usize| self.a[j * self.n + i];
        let off = at(k + 1, k);
        let (first, second) = (at(k, k).over(self.conjugated(off)), at(k + 1, k + 1).over(off));
        let scale = first.times(second).minus(T::ONE);
        let (a, b) = (x[k].over(self.conjugated(off)), x[k + 1].over(off));
        x[k] = second.times(a).minus(b).over(scale);
        x[k + 1] = first.times(b).minus(a).over(scale);
    }
}
