//! Matrix factorisations by other factorisations, and tensor equations by linear systems.

use torch_library::geometry::numel;
use torch_library::prelude::*;

use super::below_autocast;
use super::linalg::adjoint;
use crate::aten;
use crate::loops::pointwise::unsupported;

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn linalg_matrix_sqrth(this: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::linalg_matrix_sqrth::NAME;
        check_type(OPERATOR, this)?;
        let spectrum = aten::linalg_eigh(this);
        let (values, vectors) = spectrum.map_err(|error| error.context(OPERATOR))?;
        let roots = aten::sqrt(&aten::clamp_min(&values, 0.into())?)?;
        aten::contiguous(&scaled_back(&vectors, &roots, &adjoint(&vectors)?)?)
    }

    fn linalg_polar(a: &Tensor) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = aten::linalg_polar::NAME;
        ensure!(
            matches!(a.sizes(), [.., rows, columns] if rows >= columns),
            Shape,
            "{OPERATOR}: sizes {:?}, expected matrices with no more columns than rows",
            a.sizes()
        );
        check_type(OPERATOR, a)?;
        let factors = aten::linalg_svd::with(a).full_matrices(false).call();
        let (u, s, vh) = factors.map_err(|error| error.context(OPERATOR))?;
        below_autocast(a.device(), || {
            let unitary = aten::contiguous(&aten::matmul(&u, &vh)?)?;
            Ok((unitary, aten::contiguous(&scaled_back(&adjoint(&vh)?, &s, &vh)?)?))
        })
    }
}

/// `left * diag(values) * right`
fn scaled_back(left: &Tensor, values: &Tensor, right: &Tensor) -> Result<Tensor> {
    aten::matmul(&aten::mul_Tensor(left, &aten::unsqueeze(values, -2)?)?, right)
}

/// # Errors
/// A dtype other than `float32`, `float64` and their complex counterparts.
fn check_type(operator: &str, a: &Tensor) -> Result<()> {
    match a.dtype() {
        DType::Float32 | DType::Float64 | DType::Complex64 | DType::Complex128 => Ok(()),
        other => Err(unsupported(operator, other)),
    }
}

#[torch_impl(aten, CompositeExplicitAutograd)]
fn _linalg_check_errors(info: &Tensor, api_name: &str, is_matrix: bool) -> Result<()> {
    ensure!(
        info.dtype() == DType::Int32,
        DType,
        "{}: reports of {}, expected int32",
        aten::_linalg_check_errors::NAME,
        info.dtype()
    );
    if !super::is_plain(info)? {
        return Ok(());
    }
    let found = info.to_vec::<i32>()?;
    match found.iter().enumerate().find(|(_, info)| **info != 0) {
        None => Ok(()),
        Some((at, code)) => {
            let of_batch = if is_matrix { String::new() } else { format!(" of matrix {at} of the batch") };
            match code {
                ..0 => bail!(Internal, "{api_name}: LAPACK refused argument {}{of_batch}", -code),
                _ => bail!(Argument, "{api_name}: the computation failed at step {code}{of_batch}"),
            }
        }
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn orgqr(this: &Tensor, input2: &Tensor) -> Result<Tensor> {
        aten::linalg_householder_product(this, input2)
    }

    fn linalg_ldl_factor(this: &Tensor, hermitian: bool) -> Result<(Tensor, Tensor)> {
        let (factors, pivots, _) = aten::linalg_ldl_factor_ex::call(this, hermitian, true)?;
        Ok((factors, pivots))
    }

    fn linalg_solve_ex(a: &Tensor, b: &Tensor, left: bool, check_errors: bool) -> Result<(Tensor, Tensor)> {
        let (solution, _, _, info) = aten::_linalg_solve_ex::call(a, b, left, check_errors)?;
        Ok((solution, info))
    }

    fn _lu_with_info(this: &Tensor, pivot: bool, check_errors: bool) -> Result<(Tensor, Tensor, Tensor)> {
        let _ = check_errors; // reported in `info` only, as in PyTorch
        aten::linalg_lu_factor_ex::call(this, pivot, false)
    }

    fn svd(this: &Tensor, some: bool, compute_uv: bool) -> Result<(Tensor, Tensor, Tensor)> {
        let [batch @ .., rows, columns] = this.sizes() else {
            bail!(Shape, "{}: sizes {:?} are not those of matrices", aten::svd::NAME, this.sizes())
        };
        if compute_uv {
            let (u, s, vh) = aten::linalg_svd::with(this).full_matrices(!some).call()?;
            return Ok((u, s, adjoint(&vh)?));
        }
        let zeros = |n: i64| aten::new_zeros(this, &[batch, &[n, n]].concat());
        Ok((zeros(*rows)?, aten::linalg_svdvals(this)?, adjoint(&zeros(*columns)?)?))
    }

    fn linalg_tensorinv(this: &Tensor, ind: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::linalg_tensorinv::NAME;
        let at = usize::try_from(ind).ok().filter(|at| (1..=this.dim()).contains(at));
        let Some(at) = at else {
            bail!(Argument, "{OPERATOR}: ind is {ind}, expected one from 1 to {}", this.dim())
        };
        let (first, last) = this.sizes().split_at(at);
        let (rows, columns) = (numel(first)?, numel(last)?);
        check_square(OPERATOR, this, [rows, columns])?;
        let inverse = aten::linalg_inv(&aten::reshape(this, &[rows, columns])?)?;
        aten::reshape(&inverse, &[last, first].concat())
    }

    fn linalg_tensorsolve(this: &Tensor, other: &Tensor, dims: Option<&[i64]>) -> Result<Tensor> {
        const OPERATOR: &str = aten::linalg_tensorsolve::NAME;
        let this = match dims {
            None => this.clone(),
            Some(dims) => {
                let end = (this.dim() as i64 - dims.len() as i64..this.dim() as i64).collect::<Vec<_>>();
                let moved = aten::movedim_intlist(this, dims, &end);
                moved.map_err(|error| error.context(OPERATOR))?
            }
        };
        let (first, last) = this.sizes().split_at(other.dim().min(this.dim()));
        let (rows, columns) = (numel(first)?, numel(last)?);
        check_square(OPERATOR, &this, [rows, columns])?;
        ensure!(
            other.numel() == rows,
            Shape,
            "{OPERATOR}: right-hand sides of sizes {:?} do not fit coefficients of sizes {:?}",
            other.sizes(),
            this.sizes()
        );
        let (matrix, right) = (aten::reshape(&this, &[rows, columns])?, aten::reshape(other, &[-1])?);
        aten::reshape(&aten::linalg_solve(&matrix, &right)?, last)
    }
}

fn check_square(operator: &str, this: &Tensor, [rows, columns]: [i64; 2]) -> Result<()> {
    ensure!(
        rows == columns,
        Shape,
        "{operator}: the first dimensions of sizes {:?} have {rows} elements and the others {columns}, expected as many",
        this.sizes()
    );
    Ok(())
}
