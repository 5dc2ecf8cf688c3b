//! Eigenvalues of general matrices.
//!
//! # How it works
//!
//! Rotations of two rows, and of the same two columns, leave eigenvalues as they are. Some make everything zero below the
//! diagonal under the main one. Then steps of rotations, each around a guess of an eigenvalue, make that diagonal vanish from
//! its end; the matrix is a triangle then, with the eigenvalues on its diagonal and vectors that are solved for.

use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::matrices::{Matrices, column_major};
use super::square;
use crate::aten;
use crate::cpu::loops;
use crate::pointwise::unsupported;

#[torch_impl(aten, CPU, Meta)]
fn linalg_eig(this: &Tensor) -> Result<(Tensor, Tensor)> {
    const OPERATOR: &str = "aten::linalg_eig";
    let n = square(OPERATOR, this)?;
    let is_known = matches!(this.dtype().to_real(), DType::Float32 | DType::Float64);
    let Some(dtype) = this.dtype().to_complex().filter(|_| is_known) else {
        return Err(unsupported(OPERATOR, this.dtype()));
    };
    let values = Tensor::zeros(&[&this.sizes()[..this.dim() - 2], &[n]].concat(), dtype, this.device())?;
    let vectors = column_major(this.sizes(), dtype, this.device())?;
    if !loops::has_elements(&vectors) {
        return Ok((values, vectors));
    }
    let n = n as usize;
    let Matrices { elements, .. } = Matrices::<Complex64>::of(&aten::to_dtype(this, DType::Complex128)?)?;
    ensure!(
        elements.iter().all(|x| x.is_finite()),
        Argument,
        "{OPERATOR}: there are elements that are not finite"
    );
    let (mut all_values, mut all_vectors) = (Vec::new(), Vec::new());
    for (at, matrix) in elements.chunks_exact(n * n).enumerate() {
        let Some(mut eigen) = Eigen::of(matrix.to_vec(), n) else {
            bail!(Argument, "{OPERATOR}: the eigenvalues of matrix {at} of the batch were not found")
        };
        if !this.dtype().is_complex() {
            eigen.pair();
        }
        all_values.extend(eigen.values);
        all_vectors.extend(eigen.vectors);
    }
    match_dtype!(dtype, T: Complex => {
        values.clone().fill_from::<T>(all_values.into_iter().map(|x| x.cast()))?;
        let elements = all_vectors.into_iter().map(|x| x.cast::<T>()).collect();
        Matrices { rows: n, columns: n, elements }.write(&vectors)?;
    }, else => return Err(unsupported(OPERATOR, dtype)));
    Ok((values, vectors))
}

struct Eigen {
    values: Vec<Complex64>,
    /// Column by column, each of length 1 and with a largest element that is real.
    vectors: Vec<Complex64>,
}

/// A matrix that becomes a triangle, and the product of the rotations that make it one; both column by column.
struct Schur {
    a: Vec<Complex64>,
    q: Vec<Complex64>,
    n: usize,
}

/// Makes the second of two numbers zero: `[c s; -s* c]`.
#[derive(Clone, Copy)]
struct Rotation {
    c: f64,
    s: Complex64,
}

impl Rotation {
    fn of(first: Complex64, second: Complex64) -> Self {
        let (size, length) = (first.norm(), first.norm().hypot(second.norm()));
        match (size, length) {
            (_, 0.0) => Rotation { c: 1.0, s: Complex64::ZERO },
            (0.0, _) => Rotation { c: 0.0, s: second.conj() / length },
            _ => Rotation { c: size / length, s: first / size * second.conj() / length },
        }
    }

    fn turn(self, first: &mut Complex64, second: &mut Complex64) {
        let (x, y) = (*first, *second);
        *first = x * self.c + self.s * y;
        *second = y * self.c - self.s.conj() * x;
    }
}

impl Schur {
    fn at(&self, row: usize, column: usize) -> Complex64 {
        self.a[column * self.n + row]
    }

    /// Rotates a row and the one above it.
    fn rows(&mut self, row: usize, rotation: Rotation) {
        for column in self.a.chunks_exact_mut(self.n) {
            let (above, below) = column.split_at_mut(row);
            rotation.turn(&mut above[row - 1], &mut below[0]);
        }
    }

    /// Rotates a column and the one before it, so that eigenvalues stay.
    fn columns(&mut self, column: usize, Rotation { c, s }: Rotation) {
        let back = Rotation { c, s: s.conj() };
        for matrix in [&mut self.a, &mut self.q] {
            let (before, behind) = matrix.split_at_mut(column * self.n);
            let before = &mut before[(column - 1) * self.n..];
            before.iter_mut().zip(behind).for_each(|(x, y)| back.turn(x, y));
        }
    }

    /// Makes zeros below the diagonal under the main one.
    fn narrow(&mut self) {
        for column in 0..self.n.saturating_sub(2) {
            for row in (column + 2..self.n).rev() {
                let rotation = Rotation::of(self.at(row - 1, column), self.at(row, column));
                self.rows(row, rotation);
                self.columns(row, rotation);
            }
        }
    }

    /// Makes zeros there too, from the end; `false` if they do not come.
    fn triangle(&mut self) -> bool {
        const MOST: usize = 60;
        let (mut end, mut steps) = (self.n, 0);
        while end > 1 {
            let is_small = |row: &usize| {
                let beside = self.at(row - 1, row - 1).l1_norm() + self.at(*row, *row).l1_norm();
                self.at(*row, row - 1).l1_norm() <= f64::EPSILON * beside
            };
            let start = (1..end).rev().find(is_small).unwrap_or(0);
            if start > 0 {
                self.a[(start - 1) * self.n + start] = Complex64::ZERO;
            }
            if start == end - 1 {
                (end, steps) = (start, 0);
                continue;
            }
            if steps == MOST {
                return false;
            }
            steps += 1;
            self.step(start, end, self.guess(end, steps));
        }
        true
    }

    /// The eigenvalue of the last two rows that is nearer to the last element.
    fn guess(&self, end: usize, step: usize) -> Complex64 {
        let (a, b) = (self.at(end - 2, end - 2), self.at(end - 2, end - 1));
        let (c, d) = (self.at(end - 1, end - 2), self.at(end - 1, end - 1));
        if step.is_multiple_of(10) {
            return d + c.norm(); // out of a circle
        }
        let half = (a - d) / 2.0;
        let root = (half * half + b * c).sqrt();
        let [near, far] =
            if (half + root).norm() < (half - root).norm() { [root, -root] } else { [-root, root] };
        if (half + near).norm() <= (half + far).norm() { d + half + near } else { d + half + far }
    }

    fn step(&mut self, start: usize, end: usize, shift: Complex64) {
        let n = self.n;
        (start..end).for_each(|k| self.a[k * n + k] -= shift);
        let mut rotations = Vec::with_capacity(end - start);
        for row in start + 1..end {
            let rotation = Rotation::of(self.at(row - 1, row - 1), self.at(row, row - 1));
            self.rows(row, rotation);
            rotations.push(rotation);
        }
        for (row, rotation) in (start + 1..end).zip(rotations) {
            self.columns(row, rotation);
        }
        (start..end).for_each(|k| self.a[k * n + k] += shift);
    }

    /// An eigenvector of the triangle, as a sum of the columns of the rotations.
    fn vector(&self, k: usize) -> Vec<Complex64> {
        let n = self.n;
        let largest = self.a.iter().map(|x| x.norm()).fold(f64::MIN_POSITIVE, f64::max);
        let mut x = vec![Complex64::ZERO; k + 1];
        x[k] = Complex64::ONE;
        for row in (0..k).rev() {
            let sum: Complex64 = (row + 1..=k).map(|column| self.at(row, column) * x[column]).sum();
            let distance = self.at(k, k) - self.at(row, row);
            let is_zero = distance.norm() < f64::EPSILON * largest;
            x[row] = sum / if is_zero { (f64::EPSILON * largest).into() } else { distance };
        }
        let mut vector = vec![Complex64::ZERO; n];
        for (column, x) in self.q.chunks_exact(n).zip(&x) {
            vector.iter_mut().zip(column).for_each(|(sum, q)| *sum += q * x);
        }
        let largest =
            vector.iter().copied().fold(Complex64::ZERO, |a, b| if b.norm() > a.norm() { b } else { a });
        let length = vector.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
        let turn = largest.conj() / largest.norm() / length;
        vector.iter_mut().for_each(|x| *x *= turn);
        vector
    }
}

impl Eigen {
    fn of(a: Vec<Complex64>, n: usize) -> Option<Self> {
        let mut q = vec![Complex64::ZERO; n * n];
        (0..n).for_each(|k| q[k * n + k] = Complex64::ONE);
        let mut schur = Schur { a, q, n };
        schur.narrow();
        schur.triangle().then(|| Eigen {
            values: (0..n).map(|k| schur.at(k, k)).collect(),
            vectors: (0..n).flat_map(|k| schur.vector(k)).collect(),
        })
    }

    /// Takes back what rounding did to those of a real matrix: they are real, or one is the conjugate of another.
    fn pair(&mut self) {
        let n = self.values.len();
        let mut rest: Vec<usize> = (0..n).collect();
        while let Some(first) = rest.pop() {
            let conjugate = self.values[first].conj();
            let distance = |other: usize| (self.values[other] - conjugate).norm();
            let nearest = (0..rest.len()).min_by(|a, b| distance(rest[*a]).total_cmp(&distance(rest[*b])));
            match nearest.filter(|nearest| distance(rest[*nearest]) < distance(first)) {
                Some(nearest) => {
                    let other = rest.swap_remove(nearest);
                    self.values[other] = conjugate;
                    for k in 0..n {
                        self.vectors[other * n + k] = self.vectors[first * n + k].conj();
                    }
                }
                None => {
                    self.values[first].im = 0.0;
                    self.vectors[first * n..][..n].iter_mut().for_each(|x| x.im = 0.0);
                }
            }
        }
    }
}
