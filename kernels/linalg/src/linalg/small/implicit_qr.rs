//! Singular values of an upper bidiagonal matrix by implicit QR iterations, without a shift where one would lose digits
//! of the small values (Demmel and Kahan, "Accurate singular values of bidiagonal matrices", 1990).
//!
//! The order of the sweeps decides the signs of the vectors; the decisions here are those that LAPACK documents.

use num_traits::Float;

use super::columns::Columns;
use super::field::Real;
use super::rotation::Rotation;
use super::triangle::Triangle;

/// The most sweeps per value, on average; two are usually enough.
const PATIENCE: usize = 6;

/// An upper bidiagonal matrix on its way to a diagonal one, and the vectors that are rotated with it.
pub(in super::super) struct Iteration<'a, R, F> {
    pub(in super::super) diagonal: &'a mut [R],
    pub(in super::super) off_diagonal: &'a mut [R],
    /// As columns; none if only the values are wanted.
    pub(in super::super) left: Columns<'a, R>,
    pub(in super::super) right: Columns<'a, R>,
    /// How a rotation is applied to two columns.
    pub(in super::super) turn: F,
}

/// A block whose off-diagonal elements are not zero, and the direction of its sweeps: to its smaller end.
#[derive(Clone, Copy, PartialEq)]
struct Block {
    start: usize,
    end: usize,
    is_falling: bool,
}

impl Block {
    /// The row that comes after `steps` others in the direction of the sweeps.
    #[inline(always)]
    fn row(self, steps: usize) -> usize {
        if self.is_falling { self.start + steps } else { self.end - steps }
    }

    /// The position of the element between this row and the next one.
    #[inline(always)]
    fn between(self, steps: usize) -> usize {
        if self.is_falling { self.start + steps } else { self.end - steps - 1 }
    }

    fn len(self) -> usize {
        self.end - self.start
    }
}

impl<R: Real, F: Fn(Rotation<R>, &mut [R], &mut [R])> Iteration<'_, R, F> {
    /// Finds the values, in descending order. Returns whether all were found.
    pub(in super::super) fn run(mut self) -> bool {
        let is_found = self.iterate();
        for (k, value) in self.diagonal.iter_mut().enumerate() {
            if *value < R::ZERO {
                *value = -*value;
                if self.right.rows > 0 {
                    self.right.column(k).iter_mut().for_each(|x| *x = -*x);
                }
            }
        }
        self.sort();
        is_found
    }

    fn iterate(&mut self) -> bool {
        let n = self.diagonal.len();
        let (tolerance, negligible) = self.tolerances();
        let mut patience = PATIENCE * n * n;
        let mut end = n - 1;
        let (mut last, mut is_falling): (Option<Block>, _) = (None, true);
        while end > 0 {
            let (start, largest) = self.block(end, negligible);
            if start == end {
                end -= 1;
                continue;
            }
            if start + 1 == end {
                self.finish_two(start);
                end = end.saturating_sub(2);
                continue;
            }
            if last.is_none_or(|last| start > last.end || end < last.start) {
                is_falling = self.diagonal[start].abs() >= self.diagonal[end].abs();
            }
            let block = Block { start, end, is_falling };
            let Some(least) = self.split(block, tolerance) else { continue };
            last = Some(block);
            let Some(left) = patience.checked_sub(block.len()) else { return false };
            patience = left;
            let is_precise = Self::count(n) * tolerance * (least / largest)
                <= R::ROUNDING.max(tolerance / Self::count(100));
            let shift = if is_precise { R::ZERO } else { self.shift(block) };
            let rest = if shift == R::ZERO { self.sweep_unshifted(block) } else { self.sweep(block, shift) };
            let last_between = block.between(block.len() - 1);
            self.off_diagonal[last_between] = if rest.abs() <= negligible { R::ZERO } else { rest };
        }
        true
    }

    fn count(n: usize) -> R {
        R::from_f64(n as f64)
    }

    /// The relative error that values may have, and the size below which off-diagonal elements are zero.
    fn tolerances(&self) -> (R, R) {
        let n = self.diagonal.len();
        let digits = Float::powf(R::ROUNDING, R::from_f64(-0.125));
        let tolerance = digits.max(R::from_f64(10.0)).min(R::from_f64(100.0)) * R::ROUNDING;
        let mut distance = self.diagonal[0].abs();
        let mut least = distance;
        for (x, off_diagonal) in self.diagonal[1..].iter().zip(&*self.off_diagonal) {
            if least == R::ZERO {
                break;
            }
            distance = x.abs() * (distance / (distance + off_diagonal.abs()));
            least = least.min(distance);
        }
        let least = least / Float::sqrt(Self::count(n));
        (tolerance, (tolerance * least).max(Self::count(PATIENCE * n * n) * R::LEAST))
    }

    /// The start of the block that ends in row `end`, and the largest element of the block.
    fn block(&mut self, end: usize, negligible: R) -> (usize, R) {
        let mut largest = self.diagonal[end].abs();
        for k in (0..end).rev() {
            let (here, off_diagonal) = (self.diagonal[k].abs(), self.off_diagonal[k].abs());
            if off_diagonal <= negligible {
                self.off_diagonal[k] = R::ZERO;
                return (k + 1, largest);
            }
            largest = largest.max(here).max(off_diagonal);
        }
        (0, largest)
    }

    /// Replaces a block of two rows by its singular values.
    fn finish_two(&mut self, k: usize) {
        let two =
            Triangle { f: self.diagonal[k], g: self.off_diagonal[k], h: self.diagonal[k + 1] }.decompose();
        (self.diagonal[k], self.off_diagonal[k], self.diagonal[k + 1]) = (two.larger, R::ZERO, two.smaller);
        self.rotate([k, k + 1], two.left, two.right);
    }

    /// Looks for an off-diagonal element that is small relative to the values, and replaces it by zero. Without
    /// one, returns a lower bound of the values.
    fn split(&mut self, block: Block, tolerance: R) -> Option<R> {
        let last = block.len() - 1;
        let at_end = block.between(last);
        if self.off_diagonal[at_end].abs() <= tolerance * self.diagonal[block.row(last + 1)].abs() {
            self.off_diagonal[at_end] = R::ZERO;
            return None;
        }
        let mut distance = self.diagonal[block.row(0)].abs();
        let mut least = distance;
        for steps in 0..=last {
            let off_diagonal = &mut self.off_diagonal[block.between(steps)];
            if off_diagonal.abs() <= tolerance * distance {
                *off_diagonal = R::ZERO;
                return None;
            }
            distance =
                self.diagonal[block.row(steps + 1)].abs() * (distance / (distance + off_diagonal.abs()));
            least = least.min(distance);
        }
        Some(least)
    }

    /// The smaller value of the last two rows in the direction of the sweep; zero if it is relatively negligible.
    fn shift(&self, block: Block) -> R {
        let first = if block.is_falling { block.end - 1 } else { block.start };
        let two =
            Triangle { f: self.diagonal[first], g: self.off_diagonal[first], h: self.diagonal[first + 1] };
        let (shift, largest) = (two.least(), self.diagonal[block.row(0)].abs());
        let ratio = shift / largest;
        if largest > R::ZERO && ratio * ratio < R::ROUNDING { R::ZERO } else { shift }
    }

    /// One sweep. Returns the last off-diagonal element.
    fn sweep(&mut self, block: Block, shift: R) -> R {
        let first = self.diagonal[block.row(0)];
        let mut f = (first.abs() - shift) * (R::ONE.signed(first) + shift / first);
        let mut g = self.off_diagonal[block.between(0)];
        for steps in 0..block.len() {
            let (k, next, between) = (block.row(steps), block.row(steps + 1), block.between(steps));
            let (near, r) = Rotation::onto_first(f, g);
            if steps > 0 {
                self.off_diagonal[block.between(steps - 1)] = r;
            }
            let (here, off_diagonal) = near.of(self.diagonal[k], self.off_diagonal[between]);
            let (below, there) = near.of(R::ZERO, self.diagonal[next]);
            let (far, r) = Rotation::onto_first(here, below);
            self.diagonal[k] = r;
            (f, self.diagonal[next]) = far.of(off_diagonal, there);
            if steps + 1 < block.len() {
                let after = block.between(steps + 1);
                (g, self.off_diagonal[after]) = far.of(R::ZERO, self.off_diagonal[after]);
            }
            let (left, right) = if block.is_falling { (far, near) } else { (near, far) };
            self.rotate([k, next], left, right);
        }
        f
    }

    /// Like [`sweep`](Self::sweep) with a shift of zero, where no digit is lost to cancellation.
    fn sweep_unshifted(&mut self, block: Block) -> R {
        let still = Rotation { c: R::ONE, s: R::ZERO };
        let (mut near, mut far) = (still, still);
        for steps in 0..block.len() {
            let (k, next, between) = (block.row(steps), block.row(steps + 1), block.between(steps));
            let r;
            (near, r) = Rotation::onto_first(self.diagonal[k] * near.c, self.off_diagonal[between]);
            if steps > 0 {
                self.off_diagonal[block.between(steps - 1)] = far.s * r;
            }
            (far, self.diagonal[k]) = Rotation::onto_first(far.c * r, self.diagonal[next] * near.s);
            let (left, right) = if block.is_falling { (far, near) } else { (near, far) };
            self.rotate([k, next], left, right);
        }
        let last = block.row(block.len());
        let height = self.diagonal[last] * near.c;
        self.diagonal[last] = height * far.c;
        height * far.s
    }

    #[inline(always)]
    fn rotate(&mut self, [k, next]: [usize; 2], left: Rotation<R>, right: Rotation<R>) {
        if self.left.rows > 0 {
            let [x, y] = self.left.pair(k, next);
            (self.turn)(left, x, y);
            let [x, y] = self.right.pair(k, next);
            (self.turn)(right, x, y);
        }
    }

    /// Sorts the values in descending order, by moving the smallest to the end each time.
    fn sort(&mut self) {
        for end in (1..self.diagonal.len()).rev() {
            let mut least = 0;
            for k in 1..=end {
                if self.diagonal[k] <= self.diagonal[least] {
                    least = k;
                }
            }
            self.diagonal.swap(least, end);
            self.left.swap_columns(least, end);
            self.right.swap_columns(least, end);
        }
    }
}
