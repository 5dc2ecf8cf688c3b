//! Eigenvalues of a real Hessenberg matrix by double-shift QR iterations, which make it quasi-triangular: real
//! eigenvalues are on the diagonal, and pairs of complex ones in blocks of two rows.

use std::ops::Range;

use num_traits::Float;

use super::columns::Columns;
use super::deflation::start_of_block;
use super::field::Real;
use super::reflection::reflection;
use super::rotation::{Rotation, length};

/// The most sweeps per row, on average; two are usually enough.
const PATIENCE: usize = 30;

/// After this many sweeps without an eigenvalue, shifts are chosen in another way, in case these are no good.
const UNUSUAL: usize = 10;

/// A Hessenberg matrix on its way to the Schur form.
pub(super) struct Iteration<'a, R> {
    pub(super) h: Columns<'a, R>,
    /// The vectors that are rotated with it; without rows if only the eigenvalues are wanted.
    pub(super) vectors: Columns<'a, R>,
    /// The real and the imaginary part of each eigenvalue.
    pub(super) values: [&'a mut [R]; 2],
}

/// Two shifts: real ones, or the real and the imaginary part of a conjugate pair.
struct Shifts<R> {
    re: [R; 2],
    im: R,
}

impl<R: Real> Iteration<'_, R> {
    /// Finds the eigenvalues of the rows and columns of a range. Returns whether all were found.
    pub(super) fn run(&mut self, range: Range<usize>) -> bool {
        for k in (0..self.h.rows).filter(|k| !range.contains(k)) {
            (self.values[0][k], self.values[1][k]) = (self.h[[k, k]], R::ZERO);
        }
        let mut end = range.end;
        let mut patience = PATIENCE * range.len().max(10);
        let mut sweeps = 0;
        while end > range.start {
            let last = end - 1;
            let start = start_of_block(&self.h, [range.start, last], Float::abs);
            if start > range.start {
                self.h[[start, start - 1]] = R::ZERO;
            }
            if start + 1 >= last {
                if start == last {
                    (self.values[0][last], self.values[1][last]) = (self.h[[last, last]], R::ZERO);
                } else {
                    self.finish_two(start);
                }
                (end, sweeps) = (start, 0);
                continue;
            }
            let Some(left) = patience.checked_sub(1) else { return false };
            (patience, sweeps) = (left, sweeps + 1);
            let shifts = self.shifts(start, last, sweeps);
            self.sweep(start, last, shifts);
        }
        true
    }

    /// The eigenvalues of the last two rows: both of them if they are complex, and otherwise twice the one nearer to
    /// the last element.
    fn shifts(&self, start: usize, last: usize, sweeps: usize) -> Shifts<R> {
        let h = &self.h;
        let unusual = |corner: R, size: R| {
            let a = R::from_f64(0.75) * size + corner;
            [a, R::from_f64(-0.4375) * size, size, a]
        };
        let [a, b, c, d] = if sweeps.is_multiple_of(2 * UNUSUAL) {
            unusual(h[[last, last]], h[[last, last - 1]].abs() + h[[last - 1, last - 2]].abs())
        } else if sweeps.is_multiple_of(UNUSUAL) {
            unusual(h[[start, start]], h[[start + 1, start]].abs() + h[[start + 2, start + 1]].abs())
        } else {
            [h[[last - 1, last - 1]], h[[last - 1, last]], h[[last, last - 1]], h[[last, last]]]
        };
        let size = a.abs() + b.abs() + c.abs() + d.abs();
        if size == R::ZERO {
            return Shifts { re: [R::ZERO; 2], im: R::ZERO };
        }
        let [a, b, c, d] = [a, b, c, d].map(|x| x / size);
        let mean = (a + d) / (R::ONE + R::ONE);
        let determinant = (a - mean) * (d - mean) - b * c;
        let root = Float::sqrt(determinant.abs());
        if determinant >= R::ZERO {
            return Shifts { re: [mean * size; 2], im: root * size };
        }
        let (more, less) = (mean + root, mean - root);
        let nearer = if (more - d).abs() <= (less - d).abs() { more } else { less };
        Shifts { re: [nearer * size; 2], im: R::ZERO }
    }

    /// The first column of the shifted product, as far as it is not zero, if a sweep began in row `k`.
    fn first_column(&self, k: usize, shifts: &Shifts<R>) -> [R; 3] {
        let (h, [first, second]) = (&self.h, shifts.re);
        let (here, below) = (h[[k, k]], h[[k + 1, k]]);
        let size = (here - second).abs() + shifts.im.abs() + below.abs();
        let ratio = below / size;
        let x = ratio * h[[k, k + 1]]
            + (here - first) * ((here - second) / size)
            + shifts.im * (shifts.im / size);
        let y = ratio * (here + h[[k + 1, k + 1]] - first - second);
        let z = ratio * h[[k + 2, k + 1]];
        let size = x.abs() + y.abs() + z.abs();
        if size > R::ZERO { [x / size, y / size, z / size] } else { [R::ONE, R::ZERO, R::ZERO] }
    }

    /// One sweep, from the first row where two small elements let it begin.
    fn sweep(&mut self, start: usize, last: usize, shifts: Shifts<R>) {
        let precision = R::ROUNDING + R::ROUNDING;
        let mut begin = last - 2;
        let mut vector = self.first_column(begin, &shifts);
        while begin > start {
            let h = &self.h;
            let around =
                h[[begin - 1, begin - 1]].abs() + h[[begin, begin]].abs() + h[[begin + 1, begin + 1]].abs();
            let [x, y, z] = vector.map(R::abs);
            if h[[begin, begin - 1]].abs() * (y + z) <= precision * x * around {
                break;
            }
            begin -= 1;
            vector = self.first_column(begin, &shifts);
        }
        for k in begin..last {
            let count = (last + 1 - k).min(3);
            if k > begin {
                vector[..count].copy_from_slice(&self.h.column(k - 1)[k..k + count]);
            }
            let factor = reflection(&mut vector[..count]);
            if k > begin {
                let off_diagonal = &mut self.h.column(k - 1)[k..k + count];
                off_diagonal.fill(R::ZERO);
                off_diagonal[0] = vector[0];
            } else if k > start {
                self.h[[k, k - 1]] *= R::ONE - factor;
            }
            let [_, y, z] = vector;
            match count {
                3 => self.reflect(k, [R::ONE, y, z], factor, start..last + 1),
                _ => self.reflect(k, [R::ONE, y], factor, start..last + 1),
            }
        }
    }

    /// Multiplies by a reflection of `N` rows from both sides.
    fn reflect<const N: usize>(&mut self, k: usize, vector: [R; N], factor: R, block: Range<usize>) {
        let n = self.h.rows;
        // Outside the block only the Schur form is changed, which is needed for vectors only.
        let whole = if self.vectors.rows > 0 { 0..n } else { block.clone() };
        let scaled = vector.map(|v| v * factor);
        for column in self.h.elements[k * n..whole.end * n].chunks_exact_mut(n) {
            let Some(x) = column[k..].first_chunk_mut::<N>() else { return };
            let along = (1..N).fold(x[0], |sum, i| sum + x[i] * vector[i]);
            (0..N).for_each(|i| x[i] -= along * scaled[i]);
        }
        let end = (k + 4).min(block.end);
        reflect_rows(&mut self.h, k, vector, scaled, whole.start..end);
        let rows = 0..self.vectors.rows;
        if !rows.is_empty() {
            reflect_rows(&mut self.vectors, k, vector, scaled, rows);
        }
    }

    /// Makes a block of two rows triangular if its eigenvalues are real, and otherwise the elements on its diagonal
    /// equal.
    fn finish_two(&mut self, k: usize) {
        let block = [self.h[[k, k]], self.h[[k, k + 1]], self.h[[k + 1, k]], self.h[[k + 1, k + 1]]];
        let ([a, b, c, d], turn) = standard(block);
        (self.h[[k, k]], self.h[[k, k + 1]]) = (a, b);
        (self.h[[k + 1, k]], self.h[[k + 1, k + 1]]) = (c, d);
        let size = if c == R::ZERO { R::ZERO } else { Float::sqrt(b.abs()) * Float::sqrt(c.abs()) };
        (self.values[0][k], self.values[1][k]) = (a, size);
        (self.values[0][k + 1], self.values[1][k + 1]) = (d, -size);
        if self.vectors.rows == 0 {
            return;
        }
        for j in k + 2..self.h.rows {
            let (x, y) = turn.of(self.h[[k, j]], self.h[[k + 1, j]]);
            (self.h[[k, j]], self.h[[k + 1, j]]) = (x, y);
        }
        let [x, y] = self.h.pair(k, k + 1);
        turn.apply(&mut x[..k], &mut y[..k]);
        let [x, y] = self.vectors.pair(k, k + 1);
        turn.apply(x, y);
    }
}

/// Multiplies by a reflection of `N` columns, from `k` on, from the right.
#[inline(always)]
fn reflect_rows<const N: usize, R: Real>(
    a: &mut Columns<'_, R>,
    k: usize,
    vector: [R; N],
    scaled: [R; N],
    rows: Range<usize>,
) {
    let height = a.rows;
    let mut columns = a.elements[k * height..].chunks_exact_mut(height);
    let columns: [&mut [R]; N] =
        std::array::from_fn(|_| &mut columns.next().unwrap_or_default()[rows.clone()]);
    #[expect(clippy::needless_range_loop, reason = "an index into several columns")]
    for row in 0..rows.len() {
        let along = (1..N).fold(columns[0][row], |sum, j| sum + columns[j][row] * vector[j]);
        for j in 0..N {
            columns[j][row] -= along * scaled[j];
        }
    }
}

/// The rotation that makes a block `[a, b, c, d]` of two rows triangular, or the elements on its diagonal equal if the
/// eigenvalues are complex, and the result.
fn standard<R: Real>([a, b, c, d]: [R; 4]) -> ([R; 4], Rotation<R>) {
    let (zero, one, still) = (R::ZERO, R::ONE, Rotation { c: R::ONE, s: R::ZERO });
    let half = one / (one + one);
    let sign = |x: R| one.signed(x);
    if c == zero {
        return ([a, b, c, d], still);
    }
    if b == zero {
        return ([d, -c, zero, a], Rotation { c: zero, s: one });
    }
    if a - d == zero && sign(b) != sign(c) {
        return ([a, b, c, d], still);
    }
    let difference = a - d;
    let p = half * difference;
    let (most, least) = (b.abs().max(c.abs()), b.abs().min(c.abs()) * sign(b) * sign(c));
    let size = p.abs().max(most);
    let discriminant = p / size * p + most / size * least;
    if discriminant >= R::from_f64(8.0) * R::ROUNDING {
        let z = p + (Float::sqrt(size) * Float::sqrt(discriminant)).signed(p);
        let all = length(c, z);
        return ([d + z, b - c, zero, d - most / z * least], Rotation { c: z / all, s: c / all });
    }
    // Complex eigenvalues, or real ones that are nearly equal: the diagonal becomes constant.
    let sum = b + c;
    let all = length(sum, difference);
    let cosine = Float::sqrt(half * (one + sum.abs() / all));
    let turn = Rotation { c: cosine, s: -(p / (all * cosine)) * sign(sum) };
    let ([a, c], [b, d]) = (
        [a * turn.c + b * turn.s, c * turn.c + d * turn.s],
        [b * turn.c - a * turn.s, d * turn.c - c * turn.s],
    );
    let ([a, b], [c, d]) = (
        [a * turn.c + c * turn.s, b * turn.c + d * turn.s],
        [c * turn.c - a * turn.s, d * turn.c - b * turn.s],
    );
    let mean = half * (a + d);
    if c == zero {
        return ([mean, b, c, mean], turn);
    }
    if b == zero {
        return ([mean, -c, zero, mean], Rotation { c: -turn.s, s: turn.c });
    }
    if sign(b) != sign(c) {
        return ([mean, b, c, mean], turn);
    }
    let (root_b, root_c) = (Float::sqrt(b.abs()), Float::sqrt(c.abs()));
    let (p, scale) = ((root_b * root_c).signed(c), one / Float::sqrt((b + c).abs()));
    let more = Rotation { c: root_b * scale, s: root_c * scale };
    let whole = Rotation { c: turn.c * more.c - turn.s * more.s, s: turn.c * more.s + turn.s * more.c };
    ([mean + p, b - c, zero, mean - p], whole)
}
