//! Singular values of matrices, and eigenvalues of symmetric ones.

use faer::traits::ComplexField;
use faer::{MatRef, Side};
use num_complex::Complex;
use torch_library::geometry::saturating_numel;
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::matrices::{Matrices, column_major, conjugate, transposed, wide, write, write_columns};
use super::symmetric;
use crate::arguments::square;
use crate::aten;
use crate::kept::with_workspace;
use crate::loops;
use crate::loops::pointwise::unsupported;
use crate::number::Divided;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn _linalg_svd(
        a: &Tensor,
        full_matrices: bool,
        compute_uv: bool,
        _driver: Option<&str>,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let _lease = loops::frozen([a])?;
        const OPERATOR: &str = aten::_linalg_svd::NAME;
        let [batch @ .., rows, columns] = a.sizes() else {
            bail!(Shape, "{OPERATOR}: sizes {:?} are not those of matrices", a.sizes())
        };
        check_type(OPERATOR, a)?;
        ensure!(a.dtype().is_differentiable(), DType, "{OPERATOR} is not implemented for {}", a.dtype());
        let least = *rows.min(columns);
        let [outer, inner] = if full_matrices { [*rows, *columns] } else { [least; 2] };
        let vectors = |sizes: [i64; 2]| match compute_uv {
            true => column_major(&[batch, &sizes].concat(), a.dtype(), a.device()),
            false => Tensor::zeros(&[0], a.dtype(), a.device()),
        };
        let (u, vh) = (vectors([*rows, outer])?, vectors([inner, *columns])?);
        let s = Tensor::zeros(&[batch, &[least]].concat(), a.dtype().to_real(), a.device())?;
        if [&u, &s, &vh].iter().any(|part| loops::has_elements(part)) {
            let (out, counts) = ([&u, &s, &vh], [outer, inner].map(|count| count as usize));
            match_dtype!(a.dtype(), T: Float | Complex => {
                singular::<T>(a, out, counts, full_matrices)?;
            }, else => return Err(unsupported(OPERATOR, a.dtype())));
        }
        Ok((u, s, vh))
    }

    fn _linalg_eigh(a: &Tensor, uplo: &str, compute_v: bool) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([a])?;
        const OPERATOR: &str = aten::_linalg_eigh::NAME;
        let n = square(OPERATOR, a)?;
        check_type(OPERATOR, a)?;
        let is_lower = match uplo {
            "L" | "l" => true,
            "U" | "u" => false,
            _ => bail!(Argument, "{OPERATOR}: UPLO is {uplo:?}, expected \"L\" or \"U\""),
        };
        let sizes = [&a.sizes()[..a.dim() - 2], &[n]].concat();
        let values = Tensor::zeros(&sizes, a.dtype().to_real(), a.device())?;
        let vectors = match compute_v {
            true => column_major(a.sizes(), a.dtype(), a.device())?,
            false => Tensor::zeros(&[0], a.dtype(), a.device())?,
        };
        if loops::has_elements(&values) {
            match_dtype!(a.dtype(), T: Float | Complex => {
                stretched::<T>(a, is_lower, &values, &vectors)?;
            }, else => return Err(unsupported(OPERATOR, a.dtype())));
        }
        Ok((values, vectors))
    }
}

/// Checks that there is a kernel for the dtype of a matrix.
///
/// # Errors
/// The dtype is not single or double precision. For a matrix without elements every dtype passes, as in PyTorch.
fn check_type(operator: &str, a: &Tensor) -> Result<()> {
    match a.dtype() {
        DType::Float32 | DType::Float64 | DType::Complex64 | DType::Complex128 => Ok(()),
        _ if a.numel() == 0 => Ok(()),
        dtype => Err(unsupported(operator, dtype)),
    }
}

/// Writes the singular values, and the vectors if their tensors are not empty.
fn singular<T: Divided + ComplexField<Real: Element>>(
    a: &Tensor,
    [u, s, vh]: [&Tensor; 3],
    [outer, inner]: [usize; 2],
    is_full: bool,
) -> Result<()> {
    let failed = || format!("{}: the singular values were not found", aten::_linalg_svd::NAME);
    let matrices = Matrices::<T>::of(a)?;
    let (rows, columns, elements) = (matrices.rows, matrices.columns, matrices.elements());
    ensure!(
        !elements.iter().any(|x| wide(*x).is_nan()),
        Argument,
        "{}: there are elements that are NaN",
        aten::_linalg_svd::NAME
    );
    let count = saturating_numel(&a.sizes()[..a.dim() - 2]) as usize;
    let (mut all_u, mut all_s, mut all_v) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..count {
        let matrix = &elements[at * rows * columns..][..rows * columns];
        if !matrix.iter().all(|x| wide(*x).is_finite()) {
            // A matrix with infinities has no singular values, but LAPACK reports no error: the results are NaN.
            all_s.extend(std::iter::repeat_n(f64::NAN, rows.min(columns)));
            if u.dim() > 1 {
                let nan: T = Complex64::from(f64::NAN).cast();
                all_u.extend(std::iter::repeat_n(nan, rows * outer));
                all_v.extend(std::iter::repeat_n(nan, columns * inner));
            }
            continue;
        }
        let matrix = MatRef::from_column_major_slice(matrix, rows, columns);
        if u.dim() == 1 {
            // Only the values are wanted.
            let Ok(values) = with_workspace(|| matrix.singular_values()) else {
                bail!(Argument, "{}", failed())
            };
            all_s.extend(values.into_iter().map(|x| wide(x).re));
            continue;
        }
        let Ok(found) = with_workspace(|| if is_full { matrix.svd() } else { matrix.thin_svd() }) else {
            bail!(Argument, "{}", failed())
        };
        all_s.extend(found.S().column_vector().iter().map(|x| wide(*x).re));
        all_u.extend(found.U().col_iter().flat_map(|column| column.iter().copied()));
        all_v.extend(found.V().col_iter().flat_map(|column| column.iter().map(|x| conjugate(*x))));
    }
    write(s, all_s, s.sizes())?;
    if u.dim() == 1 {
        return Ok(());
    }
    write_columns(u, all_u, [rows, outer])?;
    write_columns(&transposed(vh)?, all_v, [columns, inner])
}

/// Writes the eigenvalues in ascending order, and their vectors if `vectors` is not empty.
fn stretched<T: Symmetric>(a: &Tensor, is_lower: bool, values: &Tensor, vectors: &Tensor) -> Result<()> {
    let matrices = Matrices::<T>::of(a)?;
    let (n, elements) = (matrices.rows, matrices.elements());
    let (mut all_values, mut all_vectors) = (Vec::new(), Vec::new());
    for (at, elements) in elements.chunks_exact(n * n).enumerate() {
        let Some((values, vectors)) = eigen(elements, n, is_lower, vectors.dim() > 1) else {
            bail!(
                Argument,
                "{}: the eigenvalues of matrix {at} of the batch were not found",
                aten::_linalg_eigh::NAME
            )
        };
        all_values.extend(values);
        all_vectors.extend(vectors);
    }
    write(values, all_values, values.sizes())?;
    if vectors.dim() == 1 { Ok(()) } else { write_columns(vectors, all_vectors, [n, n]) }
}

/// Eigenvalues and, if wanted, eigenvectors of a symmetric matrix that is given by one triangle. `None` if they are not
/// found, as for elements that are not finite.
fn eigen<T: Symmetric>(
    elements: &[T],
    n: usize,
    is_lower: bool,
    has_vectors: bool,
) -> Option<(Vec<f64>, Vec<T>)> {
    let (mut known, mut largest) = (elements.to_vec(), 0f64); // only the lower triangle is used
    for j in 0..n {
        let diagonal = &mut known[j * n + j];
        *diagonal = wide(*diagonal).re.cast(); // Hermitian: imaginary parts are ignored
        if !is_lower {
            (j + 1..n).for_each(|i| known[j * n + i] = conjugate(elements[i * n + j]));
        }
        let column = known[j * n + j..(j + 1) * n].iter().map(|x| wide(*x));
        largest = column.clone().map(|x| x.re.abs().max(x.im.abs())).fold(largest, f64::max);
        if !column.into_iter().all(|x| x.is_finite()) {
            return None;
        }
    }
    if let Some((values, mut vectors)) = T::rotated(&known, n, has_vectors) {
        vectors.chunks_exact_mut(n).for_each(straighten);
        return Some((values, vectors));
    }
    // Scaled by a power of two, so that squares neither overflow nor underflow.
    let scale = if largest == 0.0 { 1.0 } else { largest.log2().floor().exp2() };
    known.iter_mut().for_each(|x| *x = (wide(*x) / scale).cast());
    let matrix = MatRef::from_column_major_slice(&known, n, n);
    if !has_vectors {
        let values = with_workspace(|| matrix.self_adjoint_eigenvalues(Side::Lower)).ok()?;
        return Some((values.into_iter().map(|x| wide(x).re * scale).collect(), Vec::new()));
    }
    let found = with_workspace(|| matrix.self_adjoint_eigen(Side::Lower)).ok()?;
    let values = found.S().column_vector().iter().map(|x| wide(*x).re * scale).collect();
    let mut vectors: Vec<T> = found.U().col_iter().flat_map(|column| column.iter().copied()).collect();
    vectors.chunks_exact_mut(n).for_each(straighten);
    Some((values, vectors))
}

/// The elements of symmetric or Hermitian matrices.
trait Symmetric: Divided + ComplexField<Real: Element> {
    /// The result of [`eigen`] for small matrices, given by their lower triangle, by a faster algorithm, if there is
    /// one and it converges.
    fn rotated(_known: &[Self], _n: usize, _has_vectors: bool) -> Option<(Vec<f64>, Vec<Self>)> {
        None
    }
}

macro_rules! symmetric {
    ($($ty:ty),+) => { $(
        impl Symmetric for $ty {
            fn rotated(known: &[Self], n: usize, has_vectors: bool) -> Option<(Vec<f64>, Vec<Self>)> {
                let mut values = vec![0.0; n];
                let mut vectors = vec![0.0; if has_vectors { n * n } else { 0 }];
                let room = has_vectors.then_some(&mut *vectors);
                let is_found = n <= symmetric::LARGEST && symmetric::eigen(known, &mut values, room);
                is_found.then(|| (values.into_iter().map(f64::from).collect(), vectors))
            }
        }
    )+ };
}

symmetric!(f32, f64);

impl Symmetric for Complex<f32> {}
impl Symmetric for Complex<f64> {}

/// Multiplies a vector by a sign or phase so that its first large element is positive: any sign is valid, but similar
/// matrices should have similar vectors.
fn straighten<T: Divided>(vector: &mut [T]) {
    let norm = |x: &Complex64| if T::DTYPE.is_complex() { x.norm() } else { x.re.abs() };
    let largest = vector.iter().map(|x| norm(&wide(*x))).fold(0.0, f64::max);
    let first = vector.iter().map(|x| wide(*x)).find(|x| 2.0 * norm(x) > largest);
    let Some(first) = first else { return };
    let turn: T = (first.conj() / first.norm()).cast();
    vector.iter_mut().for_each(|x| *x = x.times(turn));
}
