//! Pseudoinverses, ranks and least-squares solutions, by singular values.

use torch_library::fake::is_fake;
use torch_library::guard::GradMode;
use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::adjoint;
use crate::aten;

/// An operator with a derivative of its own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn linalg_pinv_atol_rtol_tensor(
    this: &Tensor,
    atol: Option<&Tensor>,
    rtol: Option<&Tensor>,
    hermitian: bool,
) -> Result<Tensor> {
    const OPERATOR: &str = aten::linalg_pinv_atol_rtol_tensor::NAME;
    let &[ref batch @ .., rows, _] = this.sizes() else {
        bail!(Shape, "{OPERATOR}: sizes {:?} are not those of matrices", this.sizes())
    };
    ensure!(
        matches!(this.dtype(), DType::Float32 | DType::Float64 | DType::Complex64 | DType::Complex128),
        DType,
        "{OPERATOR} is not implemented for {}, expected float32, float64, complex64 or complex128",
        this.dtype()
    );
    if this.numel() == 0 {
        // A product, so that autocast determines its type as for other matrices.
        let zeros = aten::new_zeros(this, &[batch, &[rows, rows]].concat())?;
        return aten::matmul(&adjoint(this)?, &zeros);
    }
    let (u, s, vh) = match hermitian {
        true => {
            let (values, vectors) = aten::linalg_eigh(this)?;
            let adjoint = adjoint(&vectors)?;
            (vectors, values, adjoint)
        }
        false => aten::linalg_svd::with(this).full_matrices(false).call()?,
    };
    let is_kept = is_kept(&aten::abs(&s)?, this, atol, rtol)?;
    let reciprocals = aten::where_ScalarOther(&is_kept, &aten::reciprocal(&s)?, 0.into())?;
    let scaled = aten::mul_Tensor(&adjoint(&vh)?, &aten::unsqueeze(&reciprocals, -2)?)?;
    aten::matmul(&scaled, &adjoint(&u)?)
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn linalg_pinv_atol_rtol_float(
        this: &Tensor,
        atol: Option<f64>,
        rtol: Option<f64>,
        hermitian: bool,
    ) -> Result<Tensor> {
        let (atol, rtol) = (number(this, atol)?, number(this, rtol)?);
        aten::linalg_pinv_atol_rtol_tensor::call(this, atol.as_ref(), rtol.as_ref(), hermitian)
    }

    fn linalg_pinv(this: &Tensor, rcond: f64, hermitian: bool) -> Result<Tensor> {
        aten::linalg_pinv_atol_rtol_float::call(this, None, Some(rcond), hermitian)
    }

    fn linalg_pinv_rcond_tensor(this: &Tensor, rcond: &Tensor, hermitian: bool) -> Result<Tensor> {
        aten::linalg_pinv_atol_rtol_tensor::call(this, None, Some(rcond), hermitian)
    }

    fn pinverse(this: &Tensor, rcond: f64) -> Result<Tensor> {
        aten::linalg_pinv(this, rcond)
    }

    fn linalg_matrix_rank_atol_rtol_tensor(
        this: &Tensor,
        atol: Option<&Tensor>,
        rtol: Option<&Tensor>,
        hermitian: bool,
    ) -> Result<Tensor> {
        let [batch @ .., _, _] = this.sizes() else {
            bail!(
                Shape,
                "{}: sizes {:?} are not those of matrices",
                aten::linalg_matrix_rank::NAME,
                this.sizes()
            )
        };
        if this.numel() == 0 {
            let has_epsilon = matches!(this.dtype().to_real(), DType::Float32 | DType::Float64);
            ensure!(
                has_epsilon || rtol.is_some(),
                DType,
                "{}: {} has no default tolerance, give rtol",
                aten::linalg_matrix_rank::NAME,
                this.dtype()
            );
            return aten::new_zeros::with(this, batch).dtype(DType::Int64).call();
        }
        let values =
            if hermitian { aten::abs(&aten::linalg_eigvalsh(this)?)? } else { aten::linalg_svdvals(this)? };
        aten::sum_dim_IntList(&is_kept(&values, this, atol, rtol)?, Some(&[-1]))
    }

    fn linalg_matrix_rank_atol_rtol_float(
        this: &Tensor,
        atol: Option<f64>,
        rtol: Option<f64>,
        hermitian: bool,
    ) -> Result<Tensor> {
        let (atol, rtol) = (number(this, atol)?, number(this, rtol)?);
        aten::linalg_matrix_rank_atol_rtol_tensor::call(this, atol.as_ref(), rtol.as_ref(), hermitian)
    }

    fn linalg_matrix_rank(this: &Tensor, tol: f64, hermitian: bool) -> Result<Tensor> {
        aten::linalg_matrix_rank_atol_rtol_float::call(this, Some(tol), Some(0.0), hermitian)
    }

    fn linalg_matrix_rank_tol_tensor(this: &Tensor, tol: &Tensor, hermitian: bool) -> Result<Tensor> {
        let none = number(this, Some(0.0))?;
        aten::linalg_matrix_rank_atol_rtol_tensor::call(this, Some(tol), none.as_ref(), hermitian)
    }

    fn linalg_lstsq(
        this: &Tensor,
        b: &Tensor,
        rcond: Option<f64>,
        driver: Option<&str>,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        const OPERATOR: &str = aten::linalg_lstsq::NAME;
        let driver = driver.unwrap_or("gelsy");
        ensure!(
            ["gels", "gelsy", "gelsd", "gelss"].contains(&driver),
            Argument,
            "{OPERATOR}: unknown driver {driver:?}, expected \"gels\", \"gelsy\", \"gelsd\" or \"gelss\""
        );
        let &[ref batch @ .., rows, columns] = this.sizes() else {
            bail!(Shape, "{OPERATOR}: sizes {:?} are not those of matrices", this.sizes())
        };
        ensure!(
            this.dtype() == b.dtype(),
            DType,
            "{OPERATOR}: {} with right-hand sides of {}, expected one type",
            this.dtype(),
            b.dtype()
        );
        let is_vector = b.dim() == 1 || b.sizes() == &this.sizes()[..this.dim() - 1];
        let right = if is_vector { aten::unsqueeze(b, -1)? } else { b.clone() };
        ensure!(
            right.dim() == batch.len() + 2 && right.sizes()[batch.len()] == rows,
            Shape,
            "{OPERATOR}: matrices of sizes {:?} and right-hand sides of sizes {:?} do not make linear systems",
            this.sizes(),
            b.sizes()
        );
        let direct = direct(this, &right, rcond)?;
        let is_direct = direct.is_some();
        let solution = match direct {
            Some(solution) => solution,
            None => {
                aten::matmul(&aten::linalg_pinv_atol_rtol_float::call(this, None, rcond, false)?, &right)?
            }
        };
        let nothing = |dtype: DType| aten::new_empty::with(this, &[0]).dtype(dtype).call();
        let rank = match driver {
            "gels" => nothing(DType::Int64)?,
            _ if is_direct => aten::full::with(batch, columns.into()).dtype(DType::Int64).call()?,
            _ => aten::linalg_matrix_rank_atol_rtol_float::call(this, None, rcond, false)?,
        };
        let is_full = || match this.device() == Device::META || driver == "gels" {
            true => Ok(true),
            false => is_true_of_all(&aten::eq_Scalar(&rank, columns.into())?),
        };
        let residuals = match driver != "gelsy" && rows > columns && is_full()? {
            true => {
                let left = aten::abs(&aten::sub_Tensor(&right, &aten::matmul(this, &solution)?)?)?;
                aten::sum_dim_IntList(&aten::square(&left)?, Some(&[-2]))?
            }
            false => nothing(this.dtype().to_real())?,
        };
        let values = match driver {
            "gelsd" | "gelss" => aten::linalg_svdvals(&aten::detach(this)?)?,
            _ => nothing(this.dtype().to_real())?,
        };
        let solution = as_lapack_leaves_it(&solution, rows, columns)?;
        let solution = if is_vector { aten::squeeze_dim(&solution, -1)? } else { solution };
        Ok((solution, residuals, rank, values))
    }
}

/// Whether a condition holds for all elements, those of all examples under `vmap`: whether there are residuals depends
/// on all matrices.
fn is_true_of_all(condition: &Tensor) -> Result<bool> {
    match Level::innermost() {
        Some(level) if level.wraps(condition) => {
            let (of_all, _) = level.unwrap(condition);
            level.outside(|| is_true_of_all(&of_all))
        }
        _ => aten::all(condition)?.item()?.to(),
    }
}

/// Solutions stored column by column, with room for the right-hand sides: LAPACK overwrites those.
fn as_lapack_leaves_it(solution: &Tensor, rows: i64, columns: i64) -> Result<Tensor> {
    let turned = aten::transpose_int(solution, -2, -1)?;
    let padded = aten::constant_pad_nd(&turned, &[0, rows.max(columns) - columns])?;
    // A tensor without elements counts as contiguous whatever its strides, so only `clone` makes them row-major.
    let padded = match padded.numel() {
        0 => aten::clone::with(&padded).memory_format(MemoryFormat::Contiguous).call()?,
        _ => aten::contiguous(&padded)?,
    };
    aten::narrow(&aten::transpose_int(&padded, -2, -1)?, -2, 0, columns)
}

/// The solutions by QR factors, if these show that no singular value counts as zero: the smallest one is at least the
/// reciprocal of the norm of the inverse of R, and the largest at most the norm of R. Only for plain CPU tensors that
/// require no gradient.
fn direct(matrix: &Tensor, right: &Tensor, rcond: Option<f64>) -> Result<Option<Tensor>> {
    let is_plain = |tensor: &Tensor| {
        tensor.device() == Device::CPU
            && !(tensor.is_wrapper() || is_fake(tensor) || tensor.requires_grad() && GradMode::is_enabled())
    };
    let [rows, columns] = [matrix.size(-2)?, matrix.size(-1)?];
    let is_tall = rows >= columns && matrix.numel() > 0 && right.numel() > 0;
    if !is_tall || !is_plain(matrix) || !is_plain(right) || matrix.dtype() != right.dtype() {
        return Ok(None);
    }
    let (q, r) = aten::linalg_qr(matrix)?;
    let ones = aten::eye::with(columns).dtype(matrix.dtype()).call()?;
    let inverse = aten::linalg_solve_triangular(&r, &ones, true)?;
    let norm = |matrix: &Tensor| aten::linalg_vector_norm::with(matrix).dim(&[-2, -1]).call();
    let tolerance = rcond.unwrap_or(rows as f64 * epsilon(r.dtype()));
    let ratio = aten::mul_Scalar(&aten::mul_Tensor(&norm(&r)?, &norm(&inverse)?)?, tolerance.into())?;
    if !aten::all(&aten::lt_Scalar(&ratio, 1.into())?)?.item()?.to::<bool>()? {
        return Ok(None);
    }
    let solution = aten::linalg_solve_triangular(&r, &aten::matmul(&adjoint(&q)?, right)?, true)?;
    aten::contiguous(&solution).map(Some) // like the product with a pseudoinverse
}

/// The same tolerance for all matrices, as a tensor.
fn number(like: &Tensor, tolerance: Option<f64>) -> Result<Option<Tensor>> {
    let number = |x: f64| aten::full::with(&[], x.into()).dtype(DType::Float64).device(like.device()).call();
    tolerance.map(number).transpose()
}

/// A mask of the singular values, or absolute eigenvalues of Hermitian matrices, that are above the tolerance.
fn is_kept(
    values: &Tensor,
    matrices: &Tensor,
    atol: Option<&Tensor>,
    rtol: Option<&Tensor>,
) -> Result<Tensor> {
    let largest = aten::amax::call(values, &[-1], true)?;
    let size = matrices.size(-1)?.max(matrices.size(-2)?) as f64;
    let rounding = size * epsilon(values.dtype());
    let bound = match (rtol, atol) {
        (Some(rtol), _) => aten::mul_Tensor(&largest, &aten::unsqueeze(rtol, -1)?)?,
        (None, None) => aten::mul_Scalar(&largest, rounding.into())?,
        // A positive absolute tolerance replaces the relative one.
        (None, Some(atol)) => {
            let is_none = aten::le_Scalar(&aten::unsqueeze(atol, -1)?, 0.into())?;
            aten::mul_Tensor(&aten::mul_Scalar(&largest, rounding.into())?, &is_none)?
        }
    };
    let bound = match atol {
        Some(atol) => aten::maximum(&bound, &aten::unsqueeze(atol, -1)?)?,
        None => bound,
    };
    aten::gt_Tensor(values, &bound)
}

/// The machine epsilon of a real or complex dtype.
fn epsilon(dtype: DType) -> f64 {
    if dtype.to_real() == DType::Float64 { f64::EPSILON } else { f32::EPSILON.into() }
}
