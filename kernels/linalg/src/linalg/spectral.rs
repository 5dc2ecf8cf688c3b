//! Singular values of matrices, and eigenvalues of symmetric ones.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::tridiag::{tridiag_in_place, tridiag_in_place_scratch};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::traits::ComplexField;
use faer::{Mat, MatRef, Side, Spec};
use num_complex::Complex;
use torch_library::geometry::saturating_numel;
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::matrices::{Failed, Matrices, column_major, conjugate, grain_of_spectra, wide};
use super::small::field::{Field, Real as _};
use super::small::{hermitian, root_free, scale, svd};
use super::{singular, symmetric};
use crate::arguments::square;
use crate::aten;
use crate::composite::collected;
use crate::kept::with_workspace;
use crate::loops::pointwise::unsupported;
use crate::loops::{self, parallel};
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
        if ![&u, &s, &vh].iter().any(|part| loops::has_elements(part)) {
            return Ok((u, s, vh));
        }
        let counts = compute_uv.then_some([outer, inner].map(|count| count as usize));
        match_dtype!(a.dtype(), T: Float | Complex => {
            let (s, vectors) = singular::<T>(a, counts)?;
            let (u, vh) = vectors.unwrap_or((u, vh));
            Ok((u, s, vh))
        }, else => Err(unsupported(OPERATOR, a.dtype())))
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
        if !loops::has_elements(&values) {
            return Ok((values, vectors));
        }
        match_dtype!(a.dtype(), T: Float | Complex => {
            let (values, found) = stretched::<T>(a, is_lower, compute_v)?;
            Ok((values, found.unwrap_or(vectors)))
        }, else => Err(unsupported(OPERATOR, a.dtype())))
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

/// Up to this many rows or columns, whichever are fewer, one rotation after the other takes less time than divide and
/// conquer: with the vectors, and for the values only.
const SMALL: [usize; 2] = [32, 64];

/// The same for the values only, where there is an algorithm for medium sizes.
const SMALLEST: usize = 16;

/// The singular values and, given the numbers of left and right vectors, the vectors.
fn singular<T: Decomposed>(
    a: &Tensor,
    counts: Option<[usize; 2]>,
) -> Result<(Tensor, Option<(Tensor, Tensor)>)> {
    const OPERATOR: &str = aten::_linalg_svd::NAME;
    let matrices = Matrices::<T>::of(a)?;
    let (rows, columns, elements) = (matrices.rows, matrices.columns, matrices.elements());
    let has_nan = elements.iter().any(|x| x.is_unordered());
    ensure!(!has_nan, Argument, "{OPERATOR}: there are elements that are NaN");
    let (batch, least) = (&a.sizes()[..a.dim() - 2], rows.min(columns));
    let count = saturating_numel(batch) as usize;
    let [left, right] = counts.unwrap_or_default();
    let mut u = Matrices::<T>::zeros(batch, [rows, left], a.device())?;
    let mut vh = Matrices::<T>::zeros(batch, [right, columns], a.device())?;
    let mut values = collected(OPERATOR, (count * least) as i64, |_| <Real<T> as Field>::ZERO)?;
    let is_bidiagonalised = T::is_bidiagonalised([rows, columns], counts);
    let is_small = match counts {
        None if is_bidiagonalised => least <= SMALLEST,
        _ => least <= SMALL[usize::from(counts.is_none())],
    };
    let parts = (u.elements_mut(), vh.elements_mut(), &mut values[..]);
    let failed = Failed::none();
    parallel::batch(
        count,
        grain_of_spectra(is_small || is_bidiagonalised, rows, columns),
        parts,
        |items, (u, vh, values)| {
            let mut workspace = is_small.then(|| svd::Workspace::new(rows, columns, counts.is_some()));
            let mut v = vec![<T as Field>::ZERO; columns * right];
            for (i, at) in items.enumerate() {
                let matrix = &elements[at * rows * columns..][..rows * columns];
                let values = &mut values[i * least..][..least];
                let vectors =
                    counts.map(|_| svd::Vectors { u: &mut u[i * rows * left..][..rows * left], v: &mut v });
                let is_found = match &mut workspace {
                    _ if !matrix.iter().all(|x| wide(*x).is_finite()) => not_a_number(values, vectors),
                    Some(workspace) => workspace.svd(matrix, values, vectors),
                    None if is_bidiagonalised => T::bidiagonalised(matrix, [rows, columns], values, vectors),
                    None => divided(matrix, [rows, columns], values, vectors),
                };
                failed.record(at, is_found);
                let vh = &mut vh[i * right * columns..][..right * columns];
                for (i, column) in v.chunks_exact(columns.max(1)).enumerate() {
                    column.iter().enumerate().for_each(|(j, x)| vh[j * right + i] = conjugate(*x));
                }
            }
        },
    );
    failed.check(OPERATOR, "the singular values")?;
    let values = Tensor::from_vec(values, &[batch, &[least as i64]].concat())?;
    let vectors = if counts.is_some() { Some((u.into_tensor()?, vh.into_tensor()?)) } else { None };
    Ok((values, vectors))
}

/// The results for a matrix with infinities, which has no singular values. LAPACK reports no error.
fn not_a_number<T: Decomposed>(values: &mut [Real<T>], vectors: Option<svd::Vectors<'_, T>>) -> bool {
    let nan = Real::<T>::from_f64(f64::NAN);
    values.fill(nan);
    if let Some(vectors) = vectors {
        vectors.u.fill(T::real(nan));
        vectors.v.fill(T::real(nan));
    }
    true
}

/// Finds the singular values by divide and conquer, of a matrix that is scaled if its squares could overflow or
/// underflow. Returns whether they were found.
fn divided<T: Decomposed>(
    matrix: &[T],
    sizes: [usize; 2],
    values: &mut [Real<T>],
    vectors: Option<svd::Vectors<'_, T>>,
) -> bool {
    let factor = scale::factor(matrix);
    if factor == <Real<T> as Field>::ONE {
        return divided_as_it_is(matrix, sizes, values, vectors);
    }
    let scaled: Vec<T> = matrix.iter().map(|x| x.by(factor)).collect();
    let is_found = divided_as_it_is(&scaled, sizes, values, vectors);
    values.iter_mut().for_each(|x| *x = *x / factor);
    is_found
}

/// The same for a matrix whose squares are in range.
fn divided_as_it_is<T: Decomposed>(
    matrix: &[T],
    [rows, columns]: [usize; 2],
    values: &mut [Real<T>],
    vectors: Option<svd::Vectors<'_, T>>,
) -> bool {
    let matrix = MatRef::from_column_major_slice(matrix, rows, columns);
    let Some(vectors) = vectors else {
        let Ok(found) = with_workspace(|| matrix.singular_values()) else { return false };
        values.iter_mut().zip(found).for_each(|(to, x)| *to = Real::<T>::from_f64(wide(x).re));
        return true;
    };
    let is_full = vectors.u.len() == rows * rows && vectors.v.len() == columns * columns;
    let Ok(found) = with_workspace(|| if is_full { matrix.svd() } else { matrix.thin_svd() }) else {
        return false;
    };
    values
        .iter_mut()
        .zip(found.S().column_vector().iter())
        .for_each(|(to, x)| *to = Real::<T>::from_f64(wide(*x).re));
    for (to, from) in [(vectors.u, found.U()), (vectors.v, found.V())] {
        to.iter_mut().zip(from.col_iter().flat_map(|column| column.iter())).for_each(|(to, x)| *to = *x);
    }
    true
}

/// Up to this size, LAPACK finds eigenvectors by QL iterations, too, so that they have the same signs.
const SAME: usize = 25;

/// The eigenvalues in ascending order and, if wanted, their vectors.
fn stretched<T: Symmetric>(
    a: &Tensor,
    is_lower: bool,
    has_vectors: bool,
) -> Result<(Tensor, Option<Tensor>)> {
    const OPERATOR: &str = aten::_linalg_eigh::NAME;
    let matrices = Matrices::<T>::of(a)?;
    let (n, elements) = (matrices.rows, matrices.elements());
    let batch = &a.sizes()[..a.dim() - 2];
    let mut values = collected(OPERATOR, (elements.len() / n) as i64, |_| <Real<T> as Field>::ZERO)?;
    let mut vectors = Matrices::<T>::zeros(batch, [n, if has_vectors { n } else { 0 }], a.device())?;
    let most = if has_vectors { SAME } else { T::VALUES };
    let (is_small, count) = (n <= most, elements.len() / (n * n));
    let parts = (&mut values[..], vectors.elements_mut(), &mut [0; 0][..]);
    let failed = Failed::none();
    parallel::batch(count, grain_of_spectra(is_small, n, n), parts, |items, (values, vectors, _)| {
        let mut workspace = is_small.then(|| hermitian::Workspace::new(n));
        for (i, at) in items.enumerate() {
            let matrix = &elements[at * n * n..][..n * n];
            let values = &mut values[i * n..][..n];
            let vectors = has_vectors.then(|| &mut vectors[i * n * n..][..n * n]);
            let is_found = match &mut workspace {
                Some(workspace) => workspace.eigen(matrix, is_lower, values, vectors),
                None => eigen(matrix, is_lower, values, vectors),
            };
            failed.record(at, is_found);
        }
    });
    failed.check(OPERATOR, "the eigenvalues")?;
    let values = Tensor::from_vec(values, &a.sizes()[..a.dim() - 1])?;
    let vectors = if has_vectors { Some(vectors.into_tensor()?) } else { None };
    Ok((values, vectors))
}

/// Finds the eigenvalues and, if wanted, the eigenvectors of a symmetric matrix that is given by one triangle. Returns
/// whether they were found; they are not if an element is not finite.
fn eigen<T: Symmetric>(
    elements: &[T],
    is_lower: bool,
    values: &mut [Real<T>],
    mut vectors: Option<&mut [T]>,
) -> bool {
    let (n, mut known) = (values.len(), elements.to_vec()); // only the lower triangle is used
    for j in 0..n {
        let diagonal = &mut known[j * n + j];
        *diagonal = wide(*diagonal).re.cast(); // Hermitian: imaginary parts are ignored
        if !is_lower {
            (j + 1..n).for_each(|i| known[j * n + i] = conjugate(elements[i * n + j]));
        }
        if !known[j * n + j..(j + 1) * n].iter().all(|x| wide(*x).is_finite()) {
            return false;
        }
    }
    let is_found = T::rotated(&known, values, vectors.as_deref_mut())
        || divided_symmetric(&mut known, values, vectors.as_deref_mut());
    vectors.into_iter().flat_map(|vectors| vectors.chunks_exact_mut(n)).for_each(straighten);
    is_found
}

/// The same by divide and conquer, for a matrix that is given by its lower triangle.
fn divided_symmetric<T: Symmetric>(
    known: &mut [T],
    values: &mut [Real<T>],
    vectors: Option<&mut [T]>,
) -> bool {
    let n = values.len();
    let size = |x: &T| wide(*x).re.abs().max(wide(*x).im.abs());
    let lower = (0..n).flat_map(|j| &known[j * n + j..(j + 1) * n]);
    let largest = lower.map(size).fold(0.0, f64::max);
    // Scaled by a power of two, so that squares neither overflow nor underflow.
    let scale = if largest == 0.0 { 1.0 } else { largest.log2().floor().exp2() };
    known.iter_mut().for_each(|x| *x = (wide(*x) / scale).cast());
    let matrix = MatRef::from_column_major_slice(known, n, n);
    let scaled = |x: f64| Real::<T>::from_f64(x * scale);
    let Some(vectors) = vectors else {
        let reduced = with_workspace(|| tridiagonalised(matrix));
        let mut beside = vec![<Real<T> as Field>::ZERO; n];
        for i in 0..n {
            values[i] = Real::<T>::from_f64(wide(reduced[(i, i)]).re);
            beside[i] = Real::<T>::from_f64(if i + 1 < n { wide(reduced[(i + 1, i)]).norm() } else { 0.0 });
        }
        let is_found = root_free::eigenvalues(values, &mut beside);
        values.sort_by(root_free::in_order);
        values.iter_mut().for_each(|x| *x = scaled(wide(*x).re));
        return is_found && values.iter().all(|x| wide(*x).is_finite());
    };
    let Ok(found) = with_workspace(|| matrix.self_adjoint_eigen(Side::Lower)) else { return false };
    values.iter_mut().zip(found.S().column_vector().iter()).for_each(|(to, x)| *to = scaled(wide(*x).re));
    let columns = found.U().col_iter();
    vectors.iter_mut().zip(columns.flat_map(|column| column.iter())).for_each(|(to, x)| *to = *x);
    true
}

/// A similar tridiagonal matrix, in the diagonal and below it. Of the matrix, the lower triangle is read.
///
/// `faer` finds eigenvalues without vectors from there on by the same rotations as with them, which takes half of all
/// time.
fn tridiagonalised<T: ComplexField>(matrix: MatRef<'_, T>) -> Mat<T> {
    let (n, parallelism) = (matrix.nrows(), faer::get_global_parallelism());
    let mut reduced = matrix.to_owned();
    let mut factors = Mat::zeros(recommended_block_size::<T>(n, n), n.saturating_sub(1));
    let mut memory = MemBuffer::new(tridiag_in_place_scratch::<T>(n, parallelism, Spec::default()));
    let memory = MemStack::new(&mut memory);
    tridiag_in_place(reduced.as_mut(), factors.as_mut(), parallelism, memory, Spec::default());
    reduced
}

/// The elements of matrices that have singular values.
trait Decomposed: Divided + ComplexField<Real: Element> + Field<Real: Element> {
    /// Whether [`bidiagonalised`](Self::bidiagonalised) is faster than other algorithms for matrices of medium size,
    /// with so many left and right vectors, if any.
    fn is_bidiagonalised(_sizes: [usize; 2], _counts: Option<[usize; 2]>) -> bool {
        false
    }

    /// Finds the singular values and vectors. Returns whether all were found.
    fn bidiagonalised(
        _matrix: &[Self],
        _sizes: [usize; 2],
        _values: &mut [Real<Self>],
        _vectors: Option<svd::Vectors<'_, Self>>,
    ) -> bool {
        false
    }
}

macro_rules! decomposed {
    ($($ty:ty),+) => { $(
        impl Decomposed for $ty {
            fn is_bidiagonalised(sizes: [usize; 2], counts: Option<[usize; 2]>) -> bool {
                singular::is_for::<$ty>(sizes, counts)
            }

            fn bidiagonalised(
                matrix: &[Self],
                sizes: [usize; 2],
                values: &mut [Self],
                vectors: Option<svd::Vectors<'_, Self>>,
            ) -> bool {
                singular::svd(matrix, sizes, values, vectors)
            }
        }
    )+ };
}

decomposed!(f32, f64);

impl Decomposed for Complex<f32> {}
impl Decomposed for Complex<f64> {}

/// The real numbers of a field.
type Real<T> = <T as Field>::Real;

/// The elements of symmetric or Hermitian matrices.
trait Symmetric: Decomposed {
    /// Up to this size, the path for small matrices finds eigenvalues without vectors in less time than the others.
    const VALUES: usize = 64;

    /// The result of [`eigen`] for matrices of medium size, given by their lower triangle, by a faster algorithm, if
    /// there is one and it converges.
    fn rotated(_known: &[Self], _values: &mut [Real<Self>], _vectors: Option<&mut [Self]>) -> bool {
        false
    }
}

macro_rules! symmetric {
    ($($ty:ty),+) => { $(
        impl Symmetric for $ty {
            const VALUES: usize = 32;

            fn rotated(known: &[Self], values: &mut [Self], vectors: Option<&mut [Self]>) -> bool {
                symmetric::is_for::<$ty>(values.len()) && symmetric::eigen(known, values, vectors)
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
