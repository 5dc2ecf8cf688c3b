//! Eigenvalues of a complex Hessenberg matrix by single-shift QR iterations, which make it triangular.

use std::ops::Range;

use num_complex::Complex;
use num_traits::Float;

use super::columns::Columns;
use super::deflation::start_of_block;
use super::field::{Field, Real};
use super::reflection::reflection;
use super::rotation::length;

/// The most sweeps per row, on average; two are usually enough.
const PATIENCE: usize = 30;

/// After this many sweeps without an eigenvalue, the shift is chosen in another way, in case it is no good.
const UNUSUAL: usize = 10;

/// A Hessenberg matrix on its way to the Schur form.
pub(super) struct Iteration<'a, R> {
    pub(super) h: Columns<'a, Complex<R>>,
    /// The vectors that are turned with it; without rows if only the eigenvalues are wanted.
    pub(super) vectors: Columns<'a, Complex<R>>,
}

impl<R: Real> Iteration<'_, R>
where
    Complex<R>: Field<Real = R>,
{
    /// Finds the eigenvalues of the rows and columns of a range: they are on the diagonal. Returns whether all were
    /// found.
    pub(super) fn run(&mut self, range: Range<usize>) -> bool {
        let mut end = range.end;
        let mut patience = PATIENCE * range.len().max(10);
        let mut sweeps = 0;
        while end > range.start {
            let last = end - 1;
            let start = start_of_block(&self.h, [range.start, last], modulus);
            if start > range.start {
                self.h[[start, start - 1]] = Field::ZERO;
            }
            if start == last {
                (end, sweeps) = (start, 0);
                continue;
            }
            let Some(left) = patience.checked_sub(1) else { return false };
            (patience, sweeps) = (left, sweeps + 1);
            let shift = self.shift(start, last, sweeps);
            self.sweep(start, last, shift);
        }
        true
    }

    /// The eigenvalue of the last two rows that is nearer to the last element.
    fn shift(&self, start: usize, last: usize, sweeps: usize) -> Complex<R> {
        let h = &self.h;
        let unusual = R::from_f64(0.75);
        if sweeps.is_multiple_of(2 * UNUSUAL) {
            return h[[last, last]] + Complex::real(unusual * modulus(h[[last, last - 1]]));
        } else if sweeps.is_multiple_of(UNUSUAL) {
            return h[[start, start]] + Complex::real(unusual * modulus(h[[start + 1, start]]));
        }
        let corner = h[[last, last]];
        let (above, below) = (h[[last - 1, last]], h[[last, last - 1]]);
        let half = (h[[last - 1, last - 1]] - corner).by(R::ONE / (R::ONE + R::ONE));
        let size = half.size().max(above.size()).max(below.size());
        if above.size() == R::ZERO || below.size() == R::ZERO {
            return corner;
        }
        let [x, y, z] = [half, above, below].map(|x| x.by(R::ONE / size));
        let root = root(x * x + y * z);
        let is_same_way = x.re * root.re + x.im * root.im >= R::ZERO;
        let sum = if is_same_way { x + root } else { x - root };
        corner - above * z.divided_by(sum)
    }

    /// The first column of the shifted matrix, as far as it is not zero, if a sweep began in row `k`.
    fn first_column(&self, k: usize, shift: Complex<R>) -> [Complex<R>; 2] {
        let (here, below) = (self.h[[k, k]] - shift, self.h[[k + 1, k]]);
        let size = here.size() + below.size();
        [here.by(R::ONE / size), below.by(R::ONE / size)]
    }

    /// One sweep, from the first row where two small elements let it begin.
    fn sweep(&mut self, start: usize, last: usize, shift: Complex<R>) {
        let mut begin = last - 1;
        let mut vector = self.first_column(begin, shift);
        while begin > start {
            let h = &self.h;
            let around = h[[begin, begin]].size() + h[[begin + 1, begin + 1]].size();
            let off_diagonal = modulus(h[[begin, begin - 1]]) * modulus(vector[1]);
            if off_diagonal <= (R::ROUNDING + R::ROUNDING) * vector[0].size() * around {
                break;
            }
            begin -= 1;
            vector = self.first_column(begin, shift);
        }
        for k in begin..last {
            if k > begin {
                vector.copy_from_slice(&self.h.column(k - 1)[k..k + 2]);
            }
            let factor = reflection(&mut vector);
            if k > begin {
                self.h[[k, k - 1]] = vector[0];
                self.h[[k + 1, k - 1]] = Field::ZERO;
            } else if k > start {
                self.h[[k, k - 1]] *= <Complex<R> as Field>::ONE - Field::conj(factor);
            }
            self.reflect(k, vector[1], factor, start..last + 1);
        }
    }

    /// Multiplies by a reflection of two rows from both sides.
    fn reflect(&mut self, k: usize, v: Complex<R>, factor: Complex<R>, block: Range<usize>) {
        let n = self.h.rows;
        // Outside the block only the Schur form is changed, which is needed for vectors only.
        let whole = if self.vectors.rows > 0 { 0..n } else { block.clone() };
        let (back, back_v) = (Field::conj(factor), Field::conj(v));
        for j in k..whole.end {
            let column = self.h.column(j);
            let along = back * (column[k] + back_v * column[k + 1]);
            column[k] -= along;
            column[k + 1] -= along * v;
        }
        let from_right = |a: &mut Columns<'_, Complex<R>>, rows: Range<usize>| {
            let [x, y] = a.pair(k, k + 1);
            for (x, y) in x[rows.clone()].iter_mut().zip(&mut y[rows]) {
                let along = factor * (*x + *y * v);
                *x -= along;
                *y -= along * back_v;
            }
        };
        from_right(&mut self.h, whole.start..(k + 3).min(block.end));
        if self.vectors.rows > 0 {
            from_right(&mut self.vectors, 0..n);
        }
    }
}

/// A square root.
fn root<R: Real>(x: Complex<R>) -> Complex<R> {
    let half = R::ONE / (R::ONE + R::ONE);
    let larger = Float::sqrt((x.re.abs() + modulus(x)) * half);
    if larger == R::ZERO {
        return Complex::new(R::ZERO, R::ZERO);
    }
    let smaller = x.im * half / larger;
    if x.re < R::ZERO {
        Complex::new(smaller.abs(), larger.signed(x.im))
    } else {
        Complex::new(larger, smaller)
    }
}

#[inline(always)]
fn modulus<R: Real>(x: Complex<R>) -> R {
    length(x.re, x.im)
}
