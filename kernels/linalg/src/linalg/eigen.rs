//! Eigenvalues of general matrices.

use faer::MatRef;
use faer::traits::{ComplexField, Conjugate, RealField};
use num_complex::Complex;
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::matrices::{Failed, Matrices, column_major, grain_of_spectra, wide, write, write_columns};
use super::small::field::Field;
use super::small::general::{Spectral, Workspace};
use crate::arguments::square;
use crate::aten;
use crate::composite::collected;
use crate::kept::with_workspace;
use crate::loops::pointwise::unsupported;
use crate::loops::{self, parallel};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn linalg_eig(this: &Tensor) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::linalg_eig::NAME;
        let values = uninit(OPERATOR, this)?;
        let vectors = column_major(this.sizes(), values.dtype(), this.device())?;
        if let Some((values, vectors)) = found_small(OPERATOR, this, true)? {
            return Ok((values, vectors));
        }
        find(OPERATOR, this, &values, Some(&vectors))?;
        Ok((values, vectors))
    }

    fn _linalg_eigvals(this: &Tensor) -> Result<Tensor> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::_linalg_eigvals::NAME;
        let values = uninit(OPERATOR, this)?;
        if let Some((values, _)) = found_small(OPERATOR, this, false)? {
            return Ok(values);
        }
        find(OPERATOR, this, &values, None)?;
        Ok(values)
    }
}

/// A tensor of zeros for the eigenvalues.
fn uninit(operator: &str, this: &Tensor) -> Result<Tensor> {
    let n = square(operator, this)?;
    let is_known = matches!(this.dtype().to_real(), DType::Float32 | DType::Float64);
    let Some(dtype) = this.dtype().to_complex().filter(|_| is_known) else {
        return Err(unsupported(operator, this.dtype()));
    };
    Tensor::zeros(&[&this.sizes()[..this.dim() - 2], &[n]].concat(), dtype, this.device())
}

/// Up to this size, LAPACK finds one or two eigenvalues at a time, too, so that they have the same order.
const SMALL: usize = 75;

/// The eigenvalues and the vectors, which are empty unless they are wanted, of small matrices; `None` for others.
fn found_small(operator: &str, this: &Tensor, has_vectors: bool) -> Result<Option<(Tensor, Tensor)>> {
    let [.., n] = this.sizes() else { return Ok(None) };
    if *n > SMALL as i64 || !loops::has_elements(this) {
        return Ok(None);
    }
    match_dtype!(this.dtype(), T: Float | Complex => {
        small::<T>(operator, this, has_vectors).map(Some)
    }, else => Ok(None))
}

fn small<T>(operator: &str, this: &Tensor, has_vectors: bool) -> Result<(Tensor, Tensor)>
where
    T: Element + Spectral,
    Complex<T::Real>: Element + Field,
{
    let matrices = Matrices::<T>::of(this)?;
    let (n, elements) = (matrices.rows, matrices.elements());
    let finite = elements.iter().all(|x| wide(*x).is_finite());
    ensure!(finite, Argument, "{operator}: there are elements that are not finite");
    let batch = &this.sizes()[..this.dim() - 2];
    let count = if has_vectors { n } else { 0 };
    let mut values = collected(operator, (elements.len() / n) as i64, |_| <Complex<T::Real> as Field>::ZERO)?;
    let mut vectors = Matrices::<Complex<T::Real>>::zeros(batch, [n, count], this.device())?;
    let count = elements.len() / (n * n);
    let parts = (&mut values[..], vectors.elements_mut(), &mut [0; 0][..]);
    let failed = Failed::none();
    parallel::batch(count, grain_of_spectra(true, n, n), parts, |items, (values, vectors, _)| {
        let mut workspace = Workspace::<T>::new(n, has_vectors);
        for (i, at) in items.enumerate() {
            let vectors = has_vectors.then(|| &mut vectors[i * n * n..][..n * n]);
            let matrix = &elements[at * n * n..][..n * n];
            failed.record(at, workspace.eigen(matrix, &mut values[i * n..][..n], vectors));
        }
    });
    failed.check(operator, "the eigenvalues")?;
    Ok((Tensor::from_vec(values, &this.sizes()[..this.dim() - 1])?, vectors.into_tensor()?))
}

/// Writes the eigenvalues, and the vectors if `vectors` is given. Those of complex matrices are computed in double
/// precision.
fn find(operator: &str, this: &Tensor, values: &Tensor, vectors: Option<&Tensor>) -> Result<()> {
    if !loops::has_elements(values) {
        return Ok(());
    }
    match this.dtype() {
        DType::Float32 => found::<f32, _>(operator, this, values, vectors),
        DType::Float64 => found::<f64, _>(operator, this, values, vectors),
        _ => found::<Complex64, _>(operator, this, values, vectors),
    }
}

fn found<T, R>(operator: &str, this: &Tensor, values: &Tensor, vectors: Option<&Tensor>) -> Result<()>
where
    T: Element + Conjugate<Canonical: ComplexField<Real = R>>,
    R: RealField,
    Complex<R>: Element + ComplexField<Real = R>,
{
    let matrices = Matrices::<T>::of(this)?;
    let (n, elements) = (matrices.rows, matrices.elements());
    let (mut all_values, mut all_vectors) = (Vec::new(), Vec::new());
    for (at, matrix) in elements.chunks_exact(n * n).enumerate() {
        let largest = matrix.iter().map(|x| wide(*x).l1_norm()).fold(0.0, |a, b| if a >= b { a } else { b });
        ensure!(largest.is_finite(), Argument, "{operator}: there are elements that are not finite");
        // Squares of very large and very small numbers overflow or underflow, so the matrix is scaled.
        let scale = if largest == 0.0 { 1.0 } else { largest.log2().floor().exp2() };
        let matrix: Vec<T> = matrix.iter().map(|x| (wide(*x) / scale).cast()).collect();
        let Some((values, vectors)) = eigen(&matrix, n, vectors.is_some()) else {
            bail!(Argument, "{operator}: the eigenvalues of matrix {at} of the batch were not found")
        };
        all_values.extend(values.into_iter().map(|x: Complex<R>| -> Complex<R> { (wide(x) * scale).cast() }));
        all_vectors.extend(vectors);
    }
    write(values, all_values, values.sizes())?;
    match vectors {
        Some(vectors) => write_columns(vectors, all_vectors, [n, n]),
        None => Ok(()),
    }
}

/// Eigenvalues and eigenvectors, each as one list.
type Eigen<R> = (Vec<Complex<R>>, Vec<Complex<R>>);

/// Eigenvalues and, if wanted, eigenvectors of a matrix. `None` if the algorithm does not converge.
fn eigen<T, R>(matrix: &[T], n: usize, has_vectors: bool) -> Option<Eigen<R>>
where
    T: Element + Conjugate<Canonical: ComplexField<Real = R>>,
    R: RealField,
    Complex<R>: Element + ComplexField<Real = R>,
{
    let known = MatRef::from_column_major_slice(matrix, n, n);
    let is_finite = |values: &Vec<Complex<R>>| values.iter().all(|x| wide(*x).is_finite());
    if !has_vectors {
        return Some((with_workspace(|| known.eigenvalues()).ok().filter(is_finite)?, Vec::new()));
    }
    let found = with_workspace(|| known.eigen()).ok()?;
    let values = Some(found.S().column_vector().iter().copied().collect()).filter(is_finite)?;
    let mut vectors: Vec<Complex<R>> =
        found.U().col_iter().flat_map(|column| column.iter().copied()).collect();
    vectors.chunks_exact_mut(n).for_each(unit);
    let matrix: Vec<Complex<R>> = matrix.iter().map(|x| x.cast()).collect();
    mend(&matrix, &values, &mut vectors)?;
    Some((values, vectors))
}

/// Replaces vectors that are not eigenvectors, as found for defective matrices, by the right singular vector of the
/// smallest singular value of the matrix minus the eigenvalue.
fn mend<T: Element + ComplexField>(matrix: &[T], values: &[T], vectors: &mut [T]) -> Option<()> {
    let n = values.len();
    let length = |x: &[T]| x.iter().map(|x| wide(*x).norm_sqr()).sum::<f64>().sqrt();
    let epsilon = if T::DTYPE == DType::Complex64 { f32::EPSILON.into() } else { f64::EPSILON };
    let bound = 10.0 * n as f64 * epsilon * length(matrix);
    let [a, v] = [matrix, vectors].map(|matrix| MatRef::from_column_major_slice(matrix, n, n));
    let stretched = with_workspace(|| a * v);
    let mut last: Option<(Complex64, Vec<T>)> = None; // kept, since an eigenvalue may be repeated
    for ((value, vector), stretched) in
        values.iter().zip(vectors.chunks_exact_mut(n)).zip(stretched.col_iter())
    {
        let value = wide(*value);
        let left: Vec<T> =
            stretched.iter().zip(&*vector).map(|(x, v)| (wide(*x) - value * wide(*v)).cast()).collect();
        if length(&left) <= bound && length(vector) > 0.5 {
            continue; // an eigenvector, and neither NaN nor zero (from infinite length)
        }
        if last.as_ref().is_none_or(|(of, _)| *of != value) {
            let mut shifted = matrix.to_vec();
            shifted.iter_mut().step_by(n + 1).for_each(|x| *x = (wide(*x) - value).cast());
            let svd = with_workspace(|| MatRef::from_column_major_slice(&shifted, n, n).svd()).ok()?;
            last = Some((value, svd.V().col(n - 1).iter().copied().collect()));
        }
        vector.copy_from_slice(&last.as_ref()?.1);
        unit(vector);
    }
    Some(())
}

/// Normalises a vector to length 1, with its largest element positive.
fn unit<T: Element>(vector: &mut [T]) {
    let larger = |a: Complex64, b: Complex64| if b.norm() > a.norm() { b } else { a };
    let largest = vector.iter().map(|x| wide(*x)).fold(Complex64::ZERO, larger);
    let length = vector.iter().map(|x| wide(*x).norm_sqr()).sum::<f64>().sqrt();
    let turn = largest.conj() / largest.norm() / length;
    vector.iter_mut().for_each(|x| *x = (wide(*x) * turn).cast());
}
