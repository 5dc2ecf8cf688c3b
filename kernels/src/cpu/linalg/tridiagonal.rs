//! Eigenvalues of symmetric and Hermitian matrices, and their vectors.
//!
//! # How it works
//!
//! Reflections on both sides leave nothing but the diagonal and the one beside it, which is real. Rotations of neighbours, each
//! around a guess of an eigenvalue (implicit QL), make that vanish as well; what they do to a unit matrix are the vectors.

use torch_library::Element;

use super::matrices::{conjugate, wide};
use super::qr::{reflect, reflection};
use crate::cpu::number::Divided;

/// How often the rotations go over a matrix for one eigenvalue at most; two or three times is what it takes.
const MOST: usize = 60;

/// Eigenvalues, the least first, and their vectors, column by column.
pub(super) struct Eigen<T> {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Vec<T>,
}

/// Of a matrix that is given in full, column by column; without vectors if they are not wanted. `None` if the rotations do not
/// come to an end, as for elements that are not finite.
pub(super) fn eigen<T: Divided + Element>(mut a: Vec<T>, n: usize, has_vectors: bool) -> Option<Eigen<T>> {
    if n == 0 {
        return Some(Eigen { values: Vec::new(), vectors: Vec::new() });
    }
    let factors = reduce(&mut a, n);
    let mut diagonal: Vec<f64> = (0..n).map(|k| wide(a[k * n + k]).re).collect();
    let mut beside: Vec<f64> = (1..n).map(|k| wide(a[(k - 1) * n + k]).re).chain([0.0]).collect();
    let mut vectors = if has_vectors { unitary(&a, n, &factors) } else { Vec::new() };
    let width = if has_vectors { n } else { 0 };
    let (diagonal, beside) = (&mut diagonal, &mut beside);
    Tridiagonal { diagonal, beside, columns: &mut vectors, width }.solve()?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| diagonal[*a].total_cmp(&diagonal[*b]));
    if has_vectors {
        vectors.chunks_exact_mut(n).for_each(straighten);
    }
    let vectors = order.iter().flat_map(|k| &vectors[k * width..][..width]).copied().collect();
    Some(Eigen { values: order.iter().map(|k| diagonal[*k]).collect(), vectors })
}

/// Turns a vector so that its first large element is positive: any direction would do, but similar matrices should have similar
/// vectors.
fn straighten<T: Divided + Element>(vector: &mut [T]) {
    let largest = vector.iter().map(|x| wide(*x).norm()).fold(0.0, f64::max);
    let first = vector.iter().map(|x| wide(*x)).find(|x| 2.0 * x.norm() > largest);
    let Some(first) = first else { return };
    let turn: T = (first.conj() / first.norm()).cast();
    vector.iter_mut().for_each(|x| *x = x.times(turn));
}

/// Reflects on both sides until only the diagonal and the one beside it are left, which are in their places then. The vectors
/// of the reflections are where the zeros would be, but for their first elements, which are ones. Gives back their factors.
fn reduce<T: Divided + Element>(a: &mut [T], n: usize) -> Vec<T> {
    let half: T = 0.5.cast();
    let mut factors = Vec::with_capacity(n.saturating_sub(1));
    for k in 1..n {
        let (left, right) = a.split_at_mut(k * n);
        let v = &mut left[(k - 1) * n + k..];
        let (beta, factor) = reflection(v);
        v[0] = T::ONE;
        let columns = || right.chunks_exact(n).map(|column| &column[k..]);
        let mut w = vec![T::ZERO; n - k];
        for (column, v) in columns().zip(&*v) {
            let v = factor.times(*v);
            w.iter_mut().zip(column).for_each(|(w, a)| *w = w.plus(v.times(*a)));
        }
        let dot = w.iter().zip(&*v).fold(T::ZERO, |sum, (w, v)| sum.plus(conjugate(*w).times(*v)));
        let shift = half.times(factor).times(dot);
        w.iter_mut().zip(&*v).for_each(|(w, v)| *w = w.minus(shift.times(*v)));
        for (at, column) in right.chunks_exact_mut(n).enumerate() {
            let (of_v, of_w) = (conjugate(w[at]), conjugate(v[at]));
            for ((a, v), w) in column[k..].iter_mut().zip(&*v).zip(&w) {
                *a = a.minus(v.times(of_v)).minus(w.times(of_w));
            }
        }
        v[0] = beta;
        factors.push(factor);
    }
    factors
}

/// The product of the reflections.
fn unitary<T: Divided + Element>(a: &[T], n: usize, factors: &[T]) -> Vec<T> {
    let mut q = vec![T::ZERO; n * n];
    (0..n).for_each(|k| q[k * n + k] = T::ONE);
    for (k, factor) in (1..n).zip(factors).rev() {
        let mut v = a[(k - 1) * n + k..k * n].to_vec();
        v[0] = T::ONE;
        q.chunks_exact_mut(n).skip(k).for_each(|column| reflect(&mut column[k..], &v, *factor));
    }
    q
}

/// The diagonal of a matrix, what is beside it (and a zero behind that), and columns that rotations turn.
struct Tridiagonal<'a, T> {
    diagonal: &'a mut [f64],
    beside: &'a mut [f64],
    columns: &'a mut [T],
    /// How long a column is.
    width: usize,
}

impl<T: Divided + Element> Tridiagonal<'_, T> {
    /// Makes what is beside the diagonal vanish.
    fn solve(&mut self) -> Option<()> {
        let n = self.diagonal.len();
        for first in 0..n {
            for step in 0.. {
                let around = |k: usize| self.diagonal[k].abs() + self.diagonal[k + 1].abs();
                let is_small = |k: &usize| self.beside[*k].abs() <= f64::EPSILON * around(*k);
                match (first..n - 1).find(is_small).unwrap_or(n - 1) {
                    last if last == first => break,
                    _ if step == MOST => return None,
                    last => self.step(first, last),
                }
            }
        }
        Some(())
    }

    /// Rotates neighbours from the end of a block to its start, around the eigenvalue of the first two rows that is nearer to
    /// the first element.
    fn step(&mut self, first: usize, last: usize) {
        let Tridiagonal { diagonal, beside, .. } = self;
        let slope = (diagonal[first + 1] - diagonal[first]) / (2.0 * beside[first]);
        let guess = diagonal[first] - beside[first] / (slope + slope.hypot(1.0).copysign(slope));
        let (mut c, mut s, mut carried, mut g) = (1.0, 1.0, 0.0, diagonal[last] - guess);
        for k in (first..last).rev() {
            let (f, b) = (s * self.beside[k], c * self.beside[k]);
            let length = f.hypot(g);
            self.beside[k + 1] = length;
            if length == 0.0 {
                self.diagonal[k + 1] -= carried; // the block has come apart here
                self.beside[last] = 0.0;
                return;
            }
            (s, c) = (f / length, g / length);
            let rest = self.diagonal[k + 1] - carried;
            let turn = (self.diagonal[k] - rest) * s + 2.0 * c * b;
            carried = s * turn;
            self.diagonal[k + 1] = rest + carried;
            g = c * turn - b;
            self.turn(k, c.cast(), s.cast());
        }
        self.diagonal[first] -= carried;
        self.beside[first] = g;
        self.beside[last] = 0.0;
    }

    /// Rotates a column and the next one.
    fn turn(&mut self, k: usize, c: T, s: T) {
        let (left, right) = self.columns.split_at_mut((k + 1) * self.width);
        for (x, y) in left[k * self.width..].iter_mut().zip(right) {
            (*x, *y) = (c.times(*x).minus(s.times(*y)), s.times(*x).plus(c.times(*y)));
        }
    }
}
