//! Linear algebra as users call it, on top of the operators that factorise and solve.

use torch_library::guard::GradMode;
use torch_library::prelude::*;

use crate::arguments::square;
use crate::aten;
use crate::loops;

mod least_squares;
mod norms;

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn cholesky_solve(this: &Tensor, input2: &Tensor, upper: bool) -> Result<Tensor> {
        check_types(aten::cholesky_solve::NAME, this, input2)?;
        let adjoint = super::adjoint(input2)?;
        let (lower, higher) = if upper { (&adjoint, input2) } else { (input2, &adjoint) };
        let half = aten::linalg_solve_triangular(lower, this, false)?;
        aten::linalg_solve_triangular(higher, &half, true)
    }

    fn cholesky_inverse(this: &Tensor, upper: bool) -> Result<Tensor> {
        let [.., n] = *this.sizes() else {
            bail!(Shape, "{}: a tensor without dimensions is not a matrix", aten::cholesky_inverse::NAME)
        };
        let ones = aten::eye::call(n, Some(this.dtype()), None, Some(this.device()), None)?;
        let inverse = aten::cholesky_solve::call(&ones, this, upper)?;
        if loops::has_elements(this) && !this.is_wrapper() {
            let is_zero = aten::eq_Scalar(&aten::diagonal::call(this, 0, -2, -1)?, 0.into())?;
            ensure!(
                !aten::any(&is_zero)?.item()?.to::<bool>()?,
                Argument,
                "{}: a factor has zero on its diagonal, so the matrix is singular",
                aten::cholesky_inverse::NAME
            );
        }
        Ok(inverse)
    }

    fn triangular_solve(
        this: &Tensor,
        a: &Tensor,
        upper: bool,
        transpose: bool,
        unitriangular: bool,
    ) -> Result<(Tensor, Tensor)> {
        check_types(aten::triangular_solve::NAME, this, a)?;
        let (matrix, is_upper) =
            if transpose { (aten::transpose_int(a, -2, -1)?, !upper) } else { (a.clone(), upper) };
        let solution = aten::linalg_solve_triangular::call(&matrix, this, is_upper, true, unitriangular)?;
        let batch = &solution.sizes()[..solution.dim() - 2];
        let columns = aten::transpose_int(a, -2, -1)?;
        let matrices = aten::expand(&columns, &[batch, &columns.sizes()[a.dim() - 2..]].concat())?;
        let copy = aten::clone::with(&matrices).memory_format(MemoryFormat::Contiguous).call()?;
        Ok((solution, aten::transpose_int(&copy, -2, -1)?))
    }
}

/// Checks that a right-hand side and a matrix have the same dtype.
///
/// # Errors
/// Their dtypes differ.
fn check_types(operator: &str, right: &Tensor, a: &Tensor) -> Result<()> {
    ensure!(
        right.dtype() == a.dtype(),
        DType,
        "{operator}: a right-hand side of {} and a matrix of {}, expected one type",
        right.dtype(),
        a.dtype()
    );
    Ok(())
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn linalg_matrix_power(this: &Tensor, n: i64) -> Result<Tensor> {
        aten::matrix_power(this, n)
    }

    fn linalg_matmul(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        aten::matmul(this, other)
    }

    fn linalg_diagonal(a: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
        aten::diagonal::call(a, offset, dim1, dim2)
    }

    fn _cholesky_solve_helper(this: &Tensor, a: &Tensor, upper: bool) -> Result<Tensor> {
        let batch = |tensor: &Tensor| tensor.sizes()[..tensor.dim().saturating_sub(2)].to_vec();
        ensure!(
            batch(this) == batch(a),
            Shape,
            "{}: sizes {:?} and {:?} are not of one batch",
            aten::_cholesky_solve_helper::NAME,
            this.sizes(),
            a.sizes()
        );
        aten::cholesky_solve::call(this, a, upper)
    }

    fn linalg_lu_factor(a: &Tensor, pivot: bool) -> Result<(Tensor, Tensor)> {
        let (factors, pivots, _) = aten::linalg_lu_factor_ex::call(a, pivot, true)?;
        Ok((factors, pivots))
    }

    fn linalg_solve(a: &Tensor, b: &Tensor, left: bool) -> Result<Tensor> {
        Ok(aten::_linalg_solve_ex::call(a, b, left, true)?.0)
    }

    fn linalg_lu(a: &Tensor, pivot: bool) -> Result<(Tensor, Tensor, Tensor)> {
        let (factors, pivots, _) = aten::linalg_lu_factor_ex::with(a).pivot(pivot).call()?;
        aten::lu_unpack(&factors, &pivots)
    }

    fn lu_solve(this: &Tensor, factors: &Tensor, pivots: &Tensor) -> Result<Tensor> {
        aten::linalg_lu_solve(factors, pivots, this)
    }

    fn matrix_exp(this: &Tensor) -> Result<Tensor> {
        aten::linalg_matrix_exp(this)
    }

    fn matrix_exp_backward(this: &Tensor, grad: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::matrix_exp_backward::NAME;
        let n = square(OPERATOR, this)?;
        ensure!(
            grad.sizes() == this.sizes(),
            Shape,
            "{OPERATOR}: a gradient of sizes {:?} for matrices of sizes {:?}",
            grad.sizes(),
            this.sizes()
        );
        // The exponential of the block matrix [[A, G], [0, A]] has the derivative of exp at A in the direction G as its
        // upper right block.
        let block = super::adjoint(this)?;
        let columns = |parts: &[Tensor]| aten::cat::with(parts).dim(-1).call();
        let rows = [columns(&[block.clone(), grad.clone()])?, columns(&[aten::zeros_like(&block)?, block])?];
        let all = aten::linalg_matrix_exp(&aten::cat::with(&rows).dim(-2).call()?)?;
        aten::narrow(&aten::narrow(&all, -2, 0, n)?, -1, n, n)
    }

    fn linalg_vander(x: &Tensor, n: Option<i64>) -> Result<Tensor> {
        const OPERATOR: &str = aten::linalg_vander::NAME;
        ensure!(
            !matches!(x.dtype(), DType::Bool | DType::Float16 | DType::BFloat16),
            DType,
            "{OPERATOR}: {} is not supported, expected numbers, of 32 bits at least if they are floating-point",
            x.dtype()
        );
        let x = if x.dim() == 0 { aten::unsqueeze(x, -1)? } else { x.clone() };
        let x = if x.dtype().is_integer() { aten::to_dtype(&x, DType::Int64)? } else { x };
        let count = n.unwrap_or(x.size(-1)?);
        ensure!(count > 1, Argument, "{OPERATOR}: {count} powers, expected at least 2");
        powers(&x, count)
    }

    fn vander(x: &Tensor, n: Option<i64>, increasing: bool) -> Result<Tensor> {
        const OPERATOR: &str = aten::vander::NAME;
        ensure!(x.dim() == 1, Shape, "{OPERATOR}: sizes {:?}, expected a vector", x.sizes());
        let count = n.unwrap_or(x.size(0)?);
        ensure!(count >= 0, Argument, "{OPERATOR}: {count} powers, expected zero or more");
        let is_whole = !x.dtype().is_floating_point() && !x.dtype().is_complex();
        let x = if is_whole { aten::to_dtype(x, DType::Int64)? } else { x.clone() };
        let powers = match count {
            0 => aten::new_zeros(&x, &[x.size(0)?, 0])?,
            count => powers(&x, count)?,
        };
        if increasing { Ok(powers) } else { aten::flip(&powers, &[1]) }
    }

    fn linalg_inv(a: &Tensor) -> Result<Tensor> {
        Ok(aten::linalg_inv_ex::call(a, true)?.0)
    }

    fn inverse(this: &Tensor) -> Result<Tensor> {
        aten::linalg_inv(this)
    }

    fn linalg_det(a: &Tensor) -> Result<Tensor> {
        Ok(aten::_linalg_det(a)?.0)
    }

    fn det(this: &Tensor) -> Result<Tensor> {
        aten::linalg_det(this)
    }

    fn linalg_slogdet(a: &Tensor) -> Result<(Tensor, Tensor)> {
        let (sign, logarithm, _, _) = aten::_linalg_slogdet(a)?;
        Ok((sign, logarithm))
    }

    fn slogdet(this: &Tensor) -> Result<(Tensor, Tensor)> {
        aten::linalg_slogdet(this)
    }

    fn logdet(this: &Tensor) -> Result<Tensor> {
        let (sign, logarithm) = aten::linalg_slogdet(this)?;
        if this.dtype().is_complex() {
            return aten::add_Tensor(&aten::log(&sign)?, &logarithm);
        }
        aten::where_ScalarSelf(&aten::eq_Scalar(&sign, (-1).into())?, f64::NAN.into(), &logarithm)
    }

    fn linalg_cholesky(this: &Tensor, upper: bool) -> Result<Tensor> {
        Ok(aten::linalg_cholesky_ex::call(this, upper, true)?.0)
    }

    fn linalg_svd(a: &Tensor, full_matrices: bool, driver: Option<&str>) -> Result<(Tensor, Tensor, Tensor)> {
        aten::_linalg_svd::call(a, full_matrices, true, driver)
    }

    fn linalg_svdvals(a: &Tensor, driver: Option<&str>) -> Result<Tensor> {
        Ok(aten::_linalg_svd::call(a, false, needs_vectors(a), driver)?.1)
    }

    fn linalg_eigh(this: &Tensor, uplo: &str) -> Result<(Tensor, Tensor)> {
        aten::_linalg_eigh::call(this, uplo, true)
    }

    fn linalg_eigvalsh(this: &Tensor, uplo: &str) -> Result<Tensor> {
        Ok(aten::_linalg_eigh::call(this, uplo, needs_vectors(this))?.0)
    }

    fn linalg_eigvals(this: &Tensor) -> Result<Tensor> {
        if needs_vectors(this) { Ok(aten::linalg_eig(this)?.0) } else { aten::_linalg_eigvals(this) }
    }

    fn linalg_multi_dot(tensors: &[Tensor]) -> Result<Tensor> {
        super::chain(tensors).map_err(|error| error.context(aten::linalg_multi_dot::NAME))
    }

    fn chain_matmul(matrices: &[Tensor]) -> Result<Tensor> {
        const OPERATOR: &str = aten::chain_matmul::NAME;
        if let Some(other) = matrices.iter().find(|matrix| matrix.dim() != 2) {
            bail!(Shape, "{OPERATOR}: a tensor of sizes {:?}, expected a matrix", other.sizes())
        }
        match matrices {
            [] => bail!(Argument, "{OPERATOR}: no matrices, expected one at least"),
            [one] => aten::clone(one),
            several => super::chain(several).map_err(|error| error.context(OPERATOR)),
        }
    }

    fn linalg_vecdot(x: &Tensor, y: &Tensor, dim: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::linalg_vecdot::NAME;
        ensure!(
            x.dtype().is_differentiable(),
            DType,
            "{OPERATOR}: {} is not supported, expected a floating-point or complex type",
            x.dtype()
        );
        ensure!(
            x.dtype() == y.dtype() && (x.dim() != 1 || y.dim() != 1 || x.sizes() == y.sizes()),
            Argument,
            "{OPERATOR}: {} of sizes {:?} and {} of sizes {:?}, expected vectors of one type and length",
            x.dtype(),
            x.sizes(),
            y.dtype(),
            y.sizes()
        );
        let x = if x.dtype().is_complex() { aten::conj(x)? } else { x.clone() };
        aten::sum_dim_IntList(&aten::mul_Tensor(&x, y)?, Some(&[dim]))
    }
}

/// Whether the eigenvectors are needed besides the eigenvalues: gradients need them, and a wrapper may hide that there
/// will be a gradient.
fn needs_vectors(matrix: &Tensor) -> bool {
    matrix.is_wrapper() || (matrix.requires_grad() && GradMode::is_enabled())
}

/// The conjugate transpose of matrices.
pub(crate) fn adjoint(matrix: &Tensor) -> Result<Tensor> {
    let transposed = aten::transpose_int(matrix, -2, -1)?;
    if matrix.dtype().is_complex() { aten::conj(&transposed) } else { Ok(transposed) }
}

/// The product of matrices in the best order; a vector at an end counts as a row or a column.
fn chain(tensors: &[Tensor]) -> Result<Tensor> {
    let [first, .., last] = tensors else {
        bail!(Argument, "{} tensors, expected at least two", tensors.len())
    };
    let mut matrices = tensors.to_vec();
    let ends = [first.dim() == 1, last.dim() == 1];
    if ends[0] {
        matrices[0] = aten::unsqueeze(first, 0)?;
    }
    if ends[1] {
        matrices[tensors.len() - 1] = aten::unsqueeze(last, 1)?;
    }
    for pair in matrices.windows(2) {
        ensure!(
            pair.iter().all(|matrix| matrix.dim() == 2) && pair[0].sizes()[1] == pair[1].sizes()[0],
            Shape,
            "matrices of sizes {:?} and {:?} have no product",
            pair[0].sizes(),
            pair[1].sizes()
        );
    }
    let mut product = match matrices.len() <= ORDERED {
        true => product(&matrices, &splits(&matrices), 0, matrices.len() - 1)?,
        false => {
            matrices[1..].iter().try_fold(matrices[0].clone(), |product, next| aten::mm(&product, next))?
        }
    };
    if ends[0] {
        product = aten::squeeze_dim(&product, 0)?;
    }
    if ends[1] { aten::squeeze_dim(&product, -1) } else { Ok(product) }
}

/// The largest number of matrices for which the best order is determined: this takes time with the cube of their
/// number, more than it saves beyond this limit, where they are multiplied from left to right.
const ORDERED: usize = 256;

/// For each run of matrices, from first to last, the index after which to split it.
fn splits(matrices: &[Tensor]) -> Vec<Vec<usize>> {
    let count = matrices.len();
    let size =
        |at: usize| if at < count { matrices[at].sizes()[0] } else { matrices[count - 1].sizes()[1] } as f64;
    let (mut costs, mut splits) = (vec![vec![0.0; count]; count], vec![vec![0; count]; count]);
    for len in 1..count {
        for first in 0..count - len {
            let last = first + len;
            let cost = |at: usize| {
                costs[first][at] + costs[at + 1][last] + size(first) * size(at + 1) * size(last + 1)
            };
            let by_cost = |a: &usize, b: &usize| cost(*a).total_cmp(&cost(*b));
            // Among orders of equal cost, PyTorch takes the one from the left for three matrices, and the one from the
            // right otherwise.
            let best = match count {
                3 => (first..last).rev().min_by(by_cost),
                _ => (first..last).min_by(by_cost),
            };
            let best = best.unwrap_or(first);
            (costs[first][last], splits[first][last]) = (cost(best), best);
        }
    }
    splits
}

fn product(matrices: &[Tensor], splits: &[Vec<usize>], first: usize, last: usize) -> Result<Tensor> {
    if first == last {
        return Ok(matrices[first].clone());
    }
    let split = splits[first][last];
    aten::mm(&product(matrices, splits, first, split)?, &product(matrices, splits, split + 1, last)?)
}

/// The powers of each element along a new last dimension, from exponent 0 to `count - 1`.
fn powers(x: &Tensor, count: i64) -> Result<Tensor> {
    let sizes = |last: i64| -> Vec<i64> { x.sizes().iter().copied().chain([last]).collect() };
    let factors = aten::expand(&aten::unsqueeze(x, -1)?, &sizes(count - 1))?;
    let products = aten::cumprod::with(&factors, -1).dtype(x.dtype()).call()?;
    aten::cat::with(&[aten::new_ones(x, &sizes(1))?, products]).dim(-1).call()
}
