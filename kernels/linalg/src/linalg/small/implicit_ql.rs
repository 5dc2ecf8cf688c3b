//! Eigenvalues and eigenvectors of a real symmetric tridiagonal matrix by implicit QL iterations.
//!
//! A block of the matrix is swept towards the end whose diagonal element is smaller, as LAPACK does: this decides the
//! signs of the vectors.

use num_traits::Float;

use super::columns::Columns;
use super::field::Real;
use super::rotation::{Rotation, length};

/// The most sweeps per value, on average; two are usually enough.
const PATIENCE: usize = 30;

/// A tridiagonal matrix on its way to a diagonal one, and the vectors that are rotated with it.
pub(super) struct Iteration<'a, R> {
    pub(super) diagonal: &'a mut [R],
    pub(super) off_diagonal: &'a mut [R],
    pub(super) vectors: Columns<'a, R>,
}

/// Rows from `goal`, where eigenvalues are found, to `other`; either may be the smaller one.
#[derive(Clone, Copy)]
struct Block {
    goal: usize,
    other: usize,
}

impl Block {
    fn is_rising(self) -> bool {
        self.goal < self.other
    }

    /// The row that comes after `row` on the way to `other`.
    #[inline(always)]
    fn after(self, row: usize) -> usize {
        if self.is_rising() { row + 1 } else { row - 1 }
    }

    /// The position of the element between `row` and the row after it.
    #[inline(always)]
    fn between(self, row: usize) -> usize {
        if self.is_rising() { row } else { row - 1 }
    }
}

impl<R: Real> Iteration<'_, R> {
    /// Finds the eigenvalues, in ascending order. Returns whether all were found.
    pub(super) fn run(mut self) -> bool {
        let n = self.diagonal.len();
        let mut patience = PATIENCE * n;
        let mut start = 0;
        while start < n {
            let end = (start..n - 1).find(|k| self.is_negligible(*k)).unwrap_or(n - 1);
            if end + 1 < n {
                self.off_diagonal[end] = R::ZERO;
            }
            let is_falling = self.diagonal[end].abs() < self.diagonal[start].abs();
            let block = if is_falling {
                Block { goal: end, other: start }
            } else {
                Block { goal: start, other: end }
            };
            if !self.diagonalise(block, &mut patience) {
                return false;
            }
            start = end + 1;
        }
        self.sort();
        true
    }

    fn is_negligible(&self, k: usize) -> bool {
        let [a, b] = [self.diagonal[k], self.diagonal[k + 1]].map(|x| Float::sqrt(x.abs()));
        self.off_diagonal[k].abs() <= a * b * R::ROUNDING
    }

    /// Finds the eigenvalues of a block, one or two at a time, from the goal on.
    fn diagonalise(&mut self, mut block: Block, patience: &mut usize) -> bool {
        loop {
            let part = self.part(block);
            if part.other == part.goal {
                if block.goal == block.other {
                    return true;
                }
                block.goal = block.after(block.goal);
                continue;
            }
            if block.after(part.goal) == part.other {
                self.finish_two(part.goal.min(part.other));
                if part.other == block.other {
                    return true;
                }
                block.goal = block.after(part.other);
                continue;
            }
            let Some(left) = patience.checked_sub(1) else { return false };
            *patience = left;
            self.sweep(part);
        }
    }

    /// The part of a block at its goal, up to the first negligible off-diagonal element, which becomes zero.
    fn part(&mut self, block: Block) -> Block {
        let mut row = block.goal;
        while row != block.other {
            let (next, between) = (block.after(row), block.between(row));
            let bound =
                R::ROUNDING * R::ROUNDING * self.diagonal[row].abs() * self.diagonal[next].abs() + R::LEAST;
            if self.off_diagonal[between] * self.off_diagonal[between] <= bound {
                self.off_diagonal[between] = R::ZERO;
                break;
            }
            row = next;
        }
        Block { other: row, ..block }
    }

    /// One sweep, from the other end of the block to its goal.
    fn sweep(&mut self, block: Block) {
        let Block { goal, other } = block;
        let two = R::ONE + R::ONE;
        let (p, off_diagonal) = (self.diagonal[goal], self.off_diagonal[block.between(goal)]);
        let half = (self.diagonal[block.after(goal)] - p) / (two * off_diagonal);
        let mut g = self.diagonal[other] - p + off_diagonal / (half + length(half, R::ONE).signed(half));
        let (mut turn, mut p) = (Rotation { c: R::ONE, s: R::ONE }, R::ZERO);
        let mut last = other;
        while last != goal {
            let row = if block.is_rising() { last - 1 } else { last + 1 };
            let between = block.between(row);
            let (f, b) = (turn.s * self.off_diagonal[between], turn.c * self.off_diagonal[between]);
            let r;
            (turn, r) = Rotation::onto_first_by_size(g, f);
            if last != other {
                self.off_diagonal[block.between(last)] = r;
            }
            g = self.diagonal[last] - p;
            let r = (self.diagonal[row] - g) * turn.s + two * turn.c * b;
            p = turn.s * r;
            self.diagonal[last] = g + p;
            g = turn.c * r - b;
            let [x, y] = self.vectors.pair(last, row);
            turn.apply(x, y);
            last = row;
        }
        self.diagonal[goal] -= p;
        self.off_diagonal[block.between(goal)] = g;
    }

    /// Replaces a block of two rows by its eigenvalues, the larger absolute value first.
    fn finish_two(&mut self, k: usize) {
        let ([larger, smaller], turn) = two(self.diagonal[k], self.off_diagonal[k], self.diagonal[k + 1]);
        (self.diagonal[k], self.off_diagonal[k], self.diagonal[k + 1]) = (larger, R::ZERO, smaller);
        let [x, y] = self.vectors.pair(k, k + 1);
        turn.apply(x, y);
    }

    /// Sorts the values in ascending order, by moving the smallest to the front each time.
    fn sort(&mut self) {
        let n = self.diagonal.len();
        for start in 0..n {
            let mut least = start;
            for k in start + 1..n {
                if self.diagonal[k] < self.diagonal[least] {
                    least = k;
                }
            }
            self.diagonal.swap(start, least);
            self.vectors.swap_columns(start, least);
        }
    }
}

/// The eigenvalues of `[[a, b], [b, c]]`, the larger absolute value first, and the rotation whose first row is the
/// eigenvector of the first.
fn two<R: Real>(a: R, b: R, c: R) -> ([R; 2], Rotation<R>) {
    let half = R::ONE / (R::ONE + R::ONE);
    let (sum, difference, double) = (a + c, a - c, b + b);
    let root = length(difference, double);
    let (most, least) = if a.abs() > c.abs() { (a, c) } else { (c, a) };
    let is_negative = sum < R::ZERO;
    let larger = half * if is_negative { sum - root } else { sum + root };
    // Computed from the determinant, since the difference of nearly equal numbers would lose digits.
    let smaller = if sum == R::ZERO { -larger } else { most / larger * least - b / larger * b };
    let is_first = difference < R::ZERO;
    let along = if is_first { difference - root } else { difference + root };
    let (c, s) = if along.abs() > double.abs() {
        let tangent = -double / along;
        let s = R::ONE / Float::sqrt(R::ONE + tangent * tangent);
        (tangent * s, s)
    } else if double == R::ZERO {
        (R::ONE, R::ZERO)
    } else {
        let tangent = -along / double;
        let c = R::ONE / Float::sqrt(R::ONE + tangent * tangent);
        (c, tangent * c)
    };
    let turn = if is_negative == is_first { Rotation { c: -s, s: c } } else { Rotation { c, s } };
    ([larger, smaller], turn)
}
