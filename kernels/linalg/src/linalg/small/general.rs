//! Eigenvalues and eigenvectors of a small general matrix, in the order and with the signs of LAPACK's driver `geev`.
//!
//! # How it works
//!
//! 1. The matrix is scaled if its squares could overflow or underflow, and balanced.
//! 2. Reflections bring it to Hessenberg form, and QR iterations to triangular form, with the eigenvalues on the
//!    diagonal. A real matrix becomes quasi-triangular: each pair of complex eigenvalues remains a block of two rows.
//! 3. Substitution gives the eigenvectors of the triangle, which all transformations turn into those of the matrix.
//! 4. Each has length one. The largest element of one that is complex is real.

use num_complex::Complex;

use super::balance::Balance;
use super::columns::Columns;
use super::eigenvectors::{complete, times};
use super::field::{Field, Real};
use super::reflection::norm;
use super::rotation::{Rotation, length};
use super::{complex_schur, hessenberg, real_schur, scale};

/// Memory for matrices of one size, which is used again for each of a batch.
pub(in super::super) struct Workspace<T: Field> {
    n: usize,
    matrix: Vec<T>,
    turned: Vec<T>,
    factors: Vec<T>,
    workspace: Vec<T>,
    reals: [Vec<T::Real>; 2],
    scales: Vec<T::Real>,
    swaps: Vec<usize>,
}

/// The Schur form of a matrix, and how it was found.
pub(in super::super) struct Schur<'a, T: Field> {
    t: Columns<'a, T>,
    q: Columns<'a, T>,
    balance: Balance<'a, T::Real>,
    /// Memory for two vectors.
    workspace: &'a mut [T],
}

/// An element of a matrix that has eigenvalues.
pub(in super::super) trait Spectral: Field {
    /// Brings a Hessenberg matrix to Schur form and finds the eigenvalues. `reals` has space for their parts.
    fn iterate(
        schur: &mut Schur<'_, Self>,
        values: &mut [Complex<Self::Real>],
        reals: &mut [Vec<Self::Real>; 2],
    ) -> bool;

    /// Writes the eigenvectors, as columns.
    fn vectors(schur: Schur<'_, Self>, values: &[Complex<Self::Real>], vectors: &mut [Complex<Self::Real>]);
}

impl<T: Spectral> Workspace<T> {
    pub(in super::super) fn new(n: usize, has_vectors: bool) -> Self {
        let square = || vec![T::ZERO; n * n];
        Workspace {
            n,
            matrix: square(),
            turned: if has_vectors { square() } else { Vec::new() },
            factors: vec![T::ZERO; n],
            workspace: vec![T::ZERO; 2 * n],
            reals: std::array::from_fn(|_| vec![T::Real::ZERO; n]),
            scales: vec![T::Real::ZERO; n],
            swaps: vec![0; n],
        }
    }

    /// Finds the eigenvalues, and the vectors if they are wanted, of a column-major matrix whose elements are finite.
    /// Returns whether all were found.
    pub(in super::super) fn eigen(
        &mut self,
        a: &[T],
        values: &mut [Complex<T::Real>],
        vectors: Option<&mut [Complex<T::Real>]>,
    ) -> bool {
        let n = self.n;
        let factor = scale::factor(a);
        self.matrix.copy_from_slice(a);
        if factor != T::Real::ONE {
            self.matrix.iter_mut().for_each(|x| *x = x.by(factor));
        }
        let balance = Balance { range: 0..n, swaps: &mut self.swaps, scales: &mut self.scales };
        let q = Columns { rows: if vectors.is_some() { n } else { 0 }, elements: &mut self.turned };
        let t = Columns::new(&mut self.matrix, n);
        let mut schur = Schur { t, q, balance, workspace: &mut self.workspace };
        schur.balance.apply(&mut schur.t);
        let range = schur.balance.range.clone();
        hessenberg::reduce(&mut schur.t, range, &mut schur.q, &mut self.factors, schur.workspace);
        if !T::iterate(&mut schur, values, &mut self.reals) {
            return false;
        }
        if let Some(vectors) = vectors {
            T::vectors(schur, values, vectors);
        }
        values.iter_mut().for_each(|x| *x = Complex::new(x.re / factor, x.im / factor));
        true
    }
}

macro_rules! spectral {
    ($($real:ty: $onto_real:expr;)+) => { $(
        impl Spectral for $real {
            fn iterate(
                schur: &mut Schur<'_, Self>,
                values: &mut [Complex<Self>],
                [re, im]: &mut [Vec<Self>; 2],
            ) -> bool {
                let (h, vectors) = (schur.t.again(), schur.q.again());
                let is_found = real_schur::Iteration { h, vectors, values: [re, im] }.run(schur.balance.range.clone());
                for (value, (re, im)) in values.iter_mut().zip(re.iter().zip(im)) {
                    *value = Complex::new(*re, *im);
                }
                is_found
            }

            fn vectors(schur: Schur<'_, Self>, values: &[Complex<Self>], vectors: &mut [Complex<Self>]) {
                vectors_of_real(schur, values, vectors, $onto_real);
            }
        }

        impl Spectral for Complex<$real> {
            fn iterate(schur: &mut Schur<'_, Self>, values: &mut [Self], _: &mut [Vec<$real>; 2]) -> bool {
                let (h, vectors) = (schur.t.again(), schur.q.again());
                let is_found = complex_schur::Iteration { h, vectors }.run(schur.balance.range.clone());
                for (k, value) in values.iter_mut().enumerate() {
                    *value = schur.t[[k, k]];
                }
                is_found
            }

            fn vectors(schur: Schur<'_, Self>, values: &[Self], vectors: &mut [Self]) {
                vectors_of_complex(schur, values, vectors);
            }
        }
    )+ };
}

// PyTorch's LAPACK, which is MKL, makes this choice in single precision, and the older one in double precision.
spectral! {
    f32: |x| Rotation::onto_first(x.re, x.im).0;
    f64: |x| Rotation::onto_first_by_size(x.re, x.im).0;
}

fn vectors_of_complex<R: Real>(
    schur: Schur<'_, Complex<R>>,
    values: &[Complex<R>],
    vectors: &mut [Complex<R>],
) where
    Complex<R>: Field<Real = R>,
{
    let Schur { t, q, balance, workspace } = schur;
    for ((k, value), out) in values.iter().enumerate().zip(vectors.chunks_exact_mut(t.rows)) {
        let x = &mut workspace[..k + 1];
        x[k] = Field::ONE;
        complete(&t, *value, x, k);
        times(&q, x, out);
        balance.undo(out);
        shorten(out);
        let largest = largest(out);
        let turn = Field::conj(out[largest]).by(R::ONE / length(out[largest].re, out[largest].im));
        out.iter_mut().for_each(|x| *x *= turn);
        out[largest].im = R::ZERO;
    }
}

/// Writes the eigenvectors of a real matrix. `onto_real` rotates a complex number, as a point in the plane, onto the
/// real axis.
fn vectors_of_real<R: Real>(
    schur: Schur<'_, R>,
    values: &[Complex<R>],
    vectors: &mut [Complex<R>],
    onto_real: fn(Complex<R>) -> Rotation<R>,
) where
    Complex<R>: Field<Real = R>,
{
    let Schur { t, q, balance, workspace } = schur;
    let n = t.rows;
    let mut k = 0;
    let mut columns = vectors.chunks_exact_mut(n);
    while let Some(out) = columns.next() {
        let value = values[k];
        if value.im == R::ZERO {
            let (x, image) = workspace.split_at_mut(n);
            let x = &mut x[..k + 1];
            x[k] = R::ONE;
            complete(&t, value.re, x, k);
            times(&q, x, image);
            balance.undo(image);
            shorten(image);
            out.iter_mut().zip(image).for_each(|(out, x)| *out = Complex::real(*x));
            k += 1;
            continue;
        }
        let Some(conjugate) = columns.next() else { return };
        let x = &mut conjugate[..k + 2];
        let (above, below) = (t[[k, k + 1]], t[[k + 1, k]]);
        [x[k], x[k + 1]] = match above.abs() >= below.abs() {
            true => [Complex::real(R::ONE), Complex::new(R::ZERO, value.im / above)],
            false => [Complex::real(-value.im / below), Complex::new(R::ZERO, R::ONE)],
        };
        complete(&t, value, x, k);
        times(&q, x, out);
        balance.undo(out);
        shorten(out);
        let largest = largest(out);
        let turn = onto_real(out[largest]);
        for (x, conjugate) in out.iter_mut().zip(conjugate.iter_mut()) {
            let (re, im) = turn.of(x.re, x.im);
            (*x, *conjugate) = (Complex::new(re, im), Complex::new(re, -im));
        }
        (out[largest].im, conjugate[largest].im) = (R::ZERO, R::ZERO);
        k += 2;
    }
}

/// Scales a vector to length one.
fn shorten<T: Field>(vector: &mut [T]) {
    let scale = T::Real::ONE / norm(vector);
    vector.iter_mut().for_each(|x| *x = x.by(scale));
}

/// The position of the first element of the largest absolute value.
fn largest<T: Field>(vector: &[T]) -> usize {
    let mut best = 0;
    for (k, x) in vector.iter().enumerate() {
        if x.square() > vector[best].square() {
            best = k;
        }
    }
    best
}
