//! Factorisations of matrices and solutions of linear systems, matrix by matrix of a batch.
//!
//! Results are column-major, and pivots, signs and `info` are those of LAPACK. For large matrices, `faer` computes
//! products and spectra.

use torch_library::geometry::{Dims, infer_size, saturating_numel};
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use crate::arguments::square;
use crate::aten;
use crate::loops;
use crate::loops::pointwise::{common_device, unsupported};
use crate::number::Number;
use matrices::{Given, Matrices, column_major, transposed, wide, work_of_factors};
use triangle::Triangle;

mod cholesky;
mod eigen;
mod exponential;
mod householder;
mod ldl;
mod lu;
mod matrices;
mod qr;
mod reflections;
mod registers;
mod singular;
mod small;
mod spectral;
mod symmetric;
mod tiny;
mod triangle;
mod unpack;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn linalg_lu_factor_ex(a: &Tensor, pivot: bool, check_errors: bool) -> Result<(Tensor, Tensor, Tensor)> {
        let _lease = loops::frozen([a])?;
        const OPERATOR: &str = aten::linalg_lu_factor_ex::NAME;
        ensure!(
            pivot,
            Argument,
            "{OPERATOR}: pivot=False is not supported, because it fails for most matrices"
        );
        let factors = Factors::of(OPERATOR, a)?;
        check(OPERATOR, &factors.info, check_errors, "U has a zero on its diagonal")?;
        Ok((factors.lu, factors.pivots, factors.info))
    }

    fn _linalg_solve_ex(
        a: &Tensor,
        b: &Tensor,
        left: bool,
        check_errors: bool,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        let _lease = loops::frozen([a, b])?;
        const OPERATOR: &str = aten::_linalg_solve_ex::NAME;
        square(OPERATOR, a)?;
        let is_vector = b.dim() == 1 || b.sizes() == &a.sizes()[..a.dim() - 1];
        ensure!(
            left || !is_vector,
            Shape,
            "{OPERATOR}: with left=False the right-hand sides must be matrices, these are of sizes {:?}",
            b.sizes()
        );
        let columns = if is_vector { aten::unsqueeze(b, -1)? } else { b.clone() };
        let (solution, factors) = solved(OPERATOR, a, &columns, left, is_vector)?;
        check(OPERATOR, &factors.info, check_errors, "the matrix is singular")?;
        Ok((solution, factors.lu, factors.pivots, factors.info))
    }

    fn linalg_inv_ex(a: &Tensor, check_errors: bool) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([a])?;
        const OPERATOR: &str = aten::linalg_inv_ex::NAME;
        let n = square(OPERATOR, a)?;
        let ones = Tensor::zeros(&[n, n], a.dtype(), a.device())?;
        let diagonal = ones.strided_view(&[n], &[n + 1], 0)?;
        match_dtype!(a.dtype(), T: Float | Complex => {
            loops::map(&diagonal, [], |[]: [T; 0]| T::ONE)?;
        }, else => return Err(unsupported(OPERATOR, a.dtype())));
        let (inverse, factors) = solved(OPERATOR, a, &ones, true, false)?;
        check(OPERATOR, &factors.info, check_errors, "the matrix is singular")?;
        Ok((inverse, factors.info))
    }

    fn _linalg_det(a: &Tensor) -> Result<(Tensor, Tensor, Tensor)> {
        let _lease = loops::frozen([a])?;
        const OPERATOR: &str = aten::_linalg_det::NAME;
        let factors = Factors::of_either(OPERATOR, a)?;
        let det = Tensor::zeros(&a.sizes()[..a.dim() - 2], a.dtype(), a.device())?;
        factors.with_diagonals(&det, |diagonal, sign| {
            diagonal.iter().fold(sign, |product, x| times(product, *x))
        })?;
        Ok((det, factors.lu, factors.pivots))
    }

    fn _linalg_slogdet(a: &Tensor) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        let _lease = loops::frozen([a])?;
        const OPERATOR: &str = aten::_linalg_slogdet::NAME;
        let factors = Factors::of_either(OPERATOR, a)?;
        let empty = |dtype| Tensor::zeros(&a.sizes()[..a.dim() - 2], dtype, a.device());
        let (sign, logarithm) = (empty(a.dtype())?, empty(a.dtype().to_real())?);
        let is_real = !a.dtype().is_complex();
        factors.with_diagonals(&sign, |diagonal, sign| {
            diagonal.iter().fold(sign, |sign, x| times(sign, direction(*x, is_real)))
        })?;
        factors.with_diagonals(&logarithm, |diagonal, _| {
            diagonal.iter().map(|x| x.norm().ln()).sum::<f64>().into()
        })?;
        Ok((sign, logarithm, factors.lu, factors.pivots))
    }

    fn linalg_cholesky_ex(this: &Tensor, upper: bool, check_errors: bool) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::linalg_cholesky_ex::NAME;
        let n = square(OPERATOR, this)? as usize;
        check_type(OPERATOR, this.dtype(), true)?;
        let mut out = column_major(this.sizes(), this.dtype(), this.device())?;
        let info = Tensor::zeros(&this.sizes()[..this.dim() - 2], DType::Int32, this.device())?;
        if loops::has_elements(&out) {
            match_dtype!(this.dtype(), T: Float | Complex => {
                // The upper triangle is the lower one of the transposed matrix, and the same holds for the factor.
                let mut matrices = Matrices::<T>::of(&if upper { transposed(this)? } else { this.clone() })?;
                let mut found = vec![0; info.numel() as usize];
                matrices.each(n * n * n, &mut [0; 0], &mut found, |a, _, info| *info = cholesky::factor(a, n));
                let factors = matrices.into_tensor()?;
                if upper {
                    loops::assign(&transposed(&out)?, &factors)?;
                } else {
                    out = factors;
                }
                info.clone().copy_from_slice(&found)?;
            }, else => return Err(unsupported(OPERATOR, this.dtype())));
        }
        check(OPERATOR, &info, check_errors, "the matrix is not positive definite")?;
        Ok((out, info))
    }

    fn linalg_solve_triangular(
        this: &Tensor,
        b: &Tensor,
        upper: bool,
        left: bool,
        unitriangular: bool,
    ) -> Result<Tensor> {
        let _lease = loops::frozen([this, b])?;
        const OPERATOR: &str = aten::linalg_solve_triangular::NAME;
        let b = &aten::to_dtype(b, this.dtype())?; // as in PyTorch, which copies it to the solution's memory
        let system = System::new(OPERATOR, this, b, left)?;
        check_type(OPERATOR, this.dtype(), false)?;
        let out = column_major(&system.sizes, this.dtype(), this.device())?;
        if !loops::has_elements(&out) {
            return Ok(out);
        }
        match_dtype!(this.dtype(), T: Float | Complex => {
            let triangles = Given::<T>::of(&aten::expand(this, &system.matrix_sizes())?)?;
            let mut solution = Matrices::<T>::of(&system.turned(&aten::expand(b, &system.sizes)?)?)?;
            let n = solution.rows;
            let mut places: Vec<usize> = (0..saturating_numel(&system.batch) as usize).collect();
            let mut done = vec![(); places.len()];
            solution.each(n * n * solution.columns, &mut places, &mut done, |x, place, ()| {
                let (is_upper, is_unit) = (upper, unitriangular);
                let elements = triangles.get(place[0]);
                Triangle { elements, n, is_upper, is_unit, is_transposed: !left }.solve(x);
            });
            let solution = solution.into_tensor()?;
            if left {
                return Ok(solution);
            }
            loops::assign(&out, &transposed(&solution)?)?;
        }, else => return Err(unsupported(OPERATOR, this.dtype())));
        Ok(out)
    }

    fn linalg_qr(a: &Tensor, mode: &str) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([a])?;
        const OPERATOR: &str = aten::linalg_qr::NAME;
        let [batch @ .., rows, columns] = a.sizes() else {
            bail!(Shape, "{OPERATOR}: sizes {:?} are not those of matrices", a.sizes())
        };
        let (inner, has_q) = match mode {
            "reduced" => (*rows.min(columns), true),
            "complete" => (*rows, true),
            "r" => (*rows.min(columns), false),
            _ => bail!(
                Argument,
                "{OPERATOR}: unknown mode {mode:?}, expected \"reduced\", \"complete\" or \"r\""
            ),
        };
        let empty = |sizes: [i64; 2]| column_major(&[batch, &sizes].concat(), a.dtype(), a.device());
        let q = if has_q { empty([*rows, inner])? } else { Tensor::zeros(&[0], a.dtype(), a.device())? };
        let r = empty([inner, *columns])?;
        let is_there = loops::has_elements(&q) || loops::has_elements(&r);
        match_dtype!(a.dtype(), T: Float => {
            if is_there {
                match *rows.max(columns) <= qr::SMALL {
                    true => qr::by_columns::<T>(a, [&q, &r])?,
                    false => qr::by_blocks::<T>(a, [&q, &r])?,
                }
            }
        }, else => match_dtype!(a.dtype(), T: Complex => {
            if is_there {
                qr::by_columns::<T>(a, [&q, &r])?;
            }
        }, else => return Err(unsupported(OPERATOR, a.dtype()))));
        Ok((q, r))
    }
}

/// The product. Real numbers are multiplied as such: a complex product with an infinity has a NaN imaginary part.
fn times(a: Complex64, b: Complex64) -> Complex64 {
    if a.im == 0.0 && b.im == 0.0 { Complex64::from(a.re * b.re) } else { a * b }
}

/// A number divided by its absolute value; zero for zero, and for a real NaN.
fn direction(x: Complex64, is_real: bool) -> Complex64 {
    match x.norm() {
        0.0 => Complex64::ZERO,
        size if is_real && size.is_nan() => Complex64::ZERO,
        _ if is_real => Complex64::from(x.re.signum()),
        size => x / size,
    }
}

/// The LU factors of matrices, or of their transposes.
struct Factors {
    lu: Tensor,
    pivots: Tensor,
    info: Tensor,
    operator: &'static str,
}

impl Factors {
    fn of(operator: &'static str, a: &Tensor) -> Result<Self> {
        let [batch @ .., rows, columns] = a.sizes() else {
            bail!(Shape, "{operator}: sizes {:?} are not those of matrices", a.sizes())
        };
        let (steps, device) = (*rows.min(columns), a.device());
        let mut pivots = Tensor::zeros(&[batch, &[steps]].concat(), DType::Int32, device)?;
        let mut info = Tensor::zeros(batch, DType::Int32, device)?;
        if !loops::has_elements(a) {
            if a.numel() > 0 {
                check_type(operator, a.dtype(), false)?;
            }
            let lu = column_major(a.sizes(), a.dtype(), device)?;
            return Ok(Factors { lu, pivots, info, operator });
        }
        let lu = match_dtype!(a.dtype(), T: Float | Complex => {
            let mut matrices = Matrices::<T>::of(a)?;
            let (rows, mut swaps) = (matrices.rows, vec![0; pivots.numel() as usize]);
            let mut found = vec![0; info.numel() as usize];
            let work = work_of_factors(rows, matrices.columns);
            matrices.each(work, &mut swaps, &mut found, |a, swaps, info| *info = lu::factor(a, rows, swaps));
            pivots.copy_from_slice(&swaps)?;
            info.copy_from_slice(&found)?;
            matrices.into_tensor()?
        }, else => return Err(unsupported(operator, a.dtype())));
        Ok(Factors { lu, pivots, info, operator })
    }

    /// The factors of square matrices, in their own memory order: of the transposes if the matrices are row-major.
    fn of_either(operator: &'static str, a: &Tensor) -> Result<Self> {
        square(operator, a)?;
        check_type(operator, a.dtype(), operator == aten::_linalg_det::NAME)?;
        let is_turned = a.is_contiguous(MemoryFormat::Contiguous) && !a.dtype().is_complex();
        Factors::of(operator, &if is_turned { transposed(a)? } else { a.clone() })
    }

    /// Writes a number for each matrix, computed from the diagonal of U and the sign of the row swaps.
    fn with_diagonals(&self, out: &Tensor, f: impl Fn(&[Complex64], Complex64) -> Complex64) -> Result<()> {
        if !loops::has_elements(out) {
            return Ok(());
        }
        let [batch @ .., n] = self.pivots.sizes() else { return Ok(()) };
        let [batch_strides @ .., _, _] = self.lu.strides() else { return Ok(()) };
        let (sizes, strides) = ([batch, &[*n]].concat(), [batch_strides, &[n + 1]].concat());
        let diagonals = self.lu.strided_view(&sizes, &strides, self.lu.storage_offset())?;
        let n = *n as usize;
        let pivots = loops::elements::<i32>(&self.pivots)?;
        match_dtype!(self.lu.dtype(), T: Float | Complex => {
            let elements: Vec<Complex64> = loops::elements::<T>(&diagonals)?.into_iter().map(wide).collect();
            let number = |at: usize| {
                let sign = if lu::is_odd(&pivots[at * n..][..n]) { -1.0 } else { 1.0 };
                f(&elements[at * n..][..n], sign.into())
            };
            let numbers = (0..out.numel() as usize).map(number);
            match_dtype!(out.dtype(), R: Float | Complex => {
                out.clone().fill_from::<R>(numbers.map(|x| x.cast()))
            }, else => Err(unsupported(self.operator, out.dtype())))
        }, else => Err(unsupported(self.operator, self.lu.dtype())))
    }
}

/// Linear systems `A X = B`, or `X A = B`, for batches that broadcast.
struct System {
    batch: Dims,
    /// The sizes of right-hand sides and solutions.
    sizes: Vec<i64>,
    n: i64,
    is_left: bool,
}

impl System {
    fn new(operator: &'static str, a: &Tensor, b: &Tensor, is_left: bool) -> Result<Self> {
        let n = square(operator, a)?;
        common_device(operator, &[a, b])?;
        let [batch @ .., rows, columns] = b.sizes() else {
            bail!(Shape, "{operator}: right-hand sides of sizes {:?} are not those of matrices", b.sizes())
        };
        ensure!(
            a.dtype() == b.dtype(),
            DType,
            "{operator}: the matrix is of {}, the right-hand side of {}, convert one to the other by `aten::to_dtype`",
            a.dtype(),
            b.dtype()
        );
        ensure!(
            n == if is_left { *rows } else { *columns },
            Shape,
            "{operator}: a matrix of {n} × {n} and right-hand sides of {rows} × {columns} do not make a linear system"
        );
        let batch = infer_size(&a.sizes()[..a.dim() - 2], batch).map_err(|error| error.context(operator))?;
        let sizes = [&batch[..], &[*rows, *columns]].concat();
        Ok(System { batch, sizes, n, is_left })
    }

    fn matrix_sizes(&self) -> Vec<i64> {
        [&self.batch[..], &[self.n, self.n]].concat()
    }

    /// The right-hand sides as columns: `X A = B` is `Aᵀ Xᵀ = Bᵀ`.
    fn turned(&self, right: &Tensor) -> Result<Tensor> {
        if self.is_left { Ok(right.clone()) } else { transposed(right) }
    }
}

/// The solution of linear systems, whose right-hand sides may be vectors, and the factors that it was computed with.
fn solved(
    operator: &'static str,
    a: &Tensor,
    b: &Tensor,
    is_left: bool,
    is_vector: bool,
) -> Result<(Tensor, Factors)> {
    let system = System::new(operator, a, b, is_left)?;
    check_type(operator, a.dtype(), operator == aten::_linalg_solve_ex::NAME)?;
    let factors = Factors::of(operator, a)?;
    let ndim = system.sizes.len() - usize::from(is_vector);
    let mut out = match is_left {
        true => column_major(&system.sizes[..ndim], a.dtype(), a.device())?,
        false => Tensor::zeros(&system.sizes, a.dtype(), a.device())?,
    };
    if !loops::has_elements(&out) {
        return Ok((out, factors));
    }
    let right = system.turned(&aten::expand(b, &system.sizes)?)?;
    let (lu, pivots, batch) = (&factors.lu, &factors.pivots, &system.batch);
    let is_inverse = operator == aten::linalg_inv_ex::NAME;
    let solve = lu::Solve { factors: lu, pivots, batch, is_transposed: !is_left, is_inverse };
    let solution = match_dtype!(a.dtype(), T: Float | Complex => {
        system.turned(&solve.all::<T>(&right)?.into_tensor()?)?
    }, else => return Err(unsupported(operator, a.dtype())));
    if is_vector {
        // A batch of vectors has the strides of a matrix.
        let column = solution.strided_view(out.sizes(), &solution.strides()[..ndim], 0)?;
        loops::assign(&out, &column)?;
    } else {
        out = solution;
    }
    Ok((out, factors))
}

/// Checks that a factorisation supports a dtype.
///
/// # Errors
/// The dtype is not `float32`, `float64` or their complex dtypes. With `takes_halves`, other floating-point dtypes
/// pass, too: they have no kernels, but some operators accept them for tensors without elements.
fn check_type(operator: &str, dtype: DType, takes_halves: bool) -> Result<()> {
    let is_fit = match dtype.to_real() {
        DType::Float32 | DType::Float64 => true,
        _ => takes_halves && dtype.is_differentiable(),
    };
    if is_fit { Ok(()) } else { Err(unsupported(operator, dtype)) }
}

/// Checks that all factorisations succeeded.
///
/// # Errors
/// One of the matrices has no such factors, and `check_errors` is set.
fn check(operator: &str, info: &Tensor, check_errors: bool, what: &str) -> Result<()> {
    if !check_errors || !loops::has_elements(info) {
        return Ok(());
    }
    let found = loops::elements::<i32>(info)?;
    match found.iter().enumerate().find(|(_, info)| **info != 0) {
        None => Ok(()),
        Some((at, step)) => {
            let of_batch =
                if info.dim() > 0 { format!(" of matrix {at} of the batch") } else { String::new() };
            bail!(Argument, "{operator}: {what}, found at step {step}{of_batch}")
        }
    }
}
