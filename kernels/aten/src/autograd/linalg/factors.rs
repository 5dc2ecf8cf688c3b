//! Derivatives of LU and Cholesky factors, of what is solved with them, of eigenvalues, and of pseudoinverses.

use torch_library::derivatives;
use torch_library::prelude::*;

use super::adjoint;
use super::phases::check_phases;
use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    linalg_lu_factor_ex(
        Tensor A, *, bool pivot=True, bool check_errors=False
    ) -> (Tensor LU, Tensor pivots, Tensor info) as LinalgLuFactorExBackward0 {
        A => {
            let (p, l, u) = aten::lu_unpack(LU, pivots)?;
            p.matmul(&of_factors(grad, &l, &u)?)
        },
        pivots => non_differentiable,
        info => non_differentiable,
    }
    lu_unpack(
        Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True
    ) -> (Tensor P, Tensor L, Tensor U) as LuUnpackBackward0 {
        LU_data => {
            let missing = |at: i64, grad: &Tensor| Ok::<i64, Error>(LU_data.size(at)? - grad.size(at)?);
            let below = grads[0].as_ref().map(|grad| {
                aten::constant_pad_nd(&tril(grad, -1)?, &[0, missing(-1, grad)?])
            });
            let above = grads[1].as_ref().map(|grad| {
                aten::constant_pad_nd(&aten::triu(grad)?, &[0, 0, 0, missing(-2, grad)?])
            });
            below.into_iter().chain(above).reduce(|sum, part| sum?.add(&part?)).transpose()
        },
        LU_pivots => non_differentiable,
        P => non_differentiable,
    }
    linalg_lu_solve(
        Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False
    ) -> Tensor as LinalgLuSolveBackward0 {
        LU => aten::sum_to_size(&of_solution(grad, (LU, pivots), result, left, adjoint)?, LU.sizes()),
        pivots => non_differentiable,
        B => aten::sum_to_size(&aten::linalg_lu_solve::call(LU, pivots, grad, left, !adjoint)?, B.sizes()),
    }
    cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor as CholeskySolveBackward0 {
        self => aten::sum_to_size(&aten::cholesky_solve::call(grad, input2, upper)?, self.sizes()),
        input2 => {
            let product = aten::cholesky_solve::call(grad, input2, upper)?.matmul(&adjoint(result)?)?;
            aten::sum_to_size(&of_cholesky(&product, input2, upper)?, input2.sizes())
        },
    }
    cholesky_inverse(Tensor self, bool upper=False) -> Tensor as CholeskyInverseBackward0 {
        self => of_cholesky(&result.matmul(&grad.matmul(result)?)?, self, upper),
    }
    linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors) as LinalgEigBackward0 {
        self => {
            let gradient = of_eigen(grads, eigenvalues, eigenvectors)?;
            if self.dtype().is_complex() { Ok(gradient) } else { aten::real(&gradient) }
        },
    }
    linalg_pinv.atol_rtol_tensor(
        Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False
    ) -> Tensor as LinalgPinvBackward0 {
        self => of_pseudoinverse(grad, self, result),
        atol => cannot_require_grad,
        rtol => cannot_require_grad,
    }
}

/// The gradient of a Cholesky factor, from the negative gradient of the matrix that it is a factor of.
fn of_cholesky(product: &Tensor, factor: &Tensor, upper: bool) -> Result<Tensor> {
    let sum = product.add(&adjoint(product)?)?;
    if upper { factor.matmul(&sum)?.neg() } else { sum.matmul(factor)?.neg() }
}

fn tril(x: &Tensor, diagonal: i64) -> Result<Tensor> {
    aten::tril::with(x).diagonal(diagonal).call()
}

/// The gradient of matrices with an LU factorisation, with their rows in the order of the factors.
///
/// Rows or columns beyond the leading square depend on one of the square's factors, and their gradients contribute to
/// the gradient of that factor.
fn of_factors(grad: &Tensor, l: &Tensor, u: &Tensor) -> Result<Tensor> {
    let (rows, columns) = (grad.size(-2)?, grad.size(-1)?);
    let least = rows.min(columns);
    let split = |x: &Tensor, dim: i64| -> Result<[Tensor; 2]> {
        Ok([x.narrow(dim, 0, least)?, x.narrow(dim, least, x.size(dim)? - least)?])
    };
    let ([l, more_l], [u, more_u]) = (split(l, -2)?, split(u, -1)?);
    let [of_l, of_more_l] = split(&tril(&grad.narrow(-1, 0, least)?, -1)?, -2)?;
    let [of_u, of_more_u] = split(&aten::triu(&grad.narrow(-2, 0, least)?)?, -1)?;
    let over_l = |x: &Tensor| aten::linalg_solve_triangular::call(&adjoint(&l)?, x, true, true, true);
    let over_u = |x: &Tensor| aten::linalg_solve_triangular::call(&adjoint(&u)?, x, false, false, false);
    let (beside, below) = (over_l(&of_more_u)?, over_u(&of_more_l)?);
    let of_l = of_l.sub(&tril(&beside.matmul(&adjoint(&more_u)?)?, -1)?)?;
    let of_u = of_u.sub(&aten::triu(&adjoint(&more_l)?.matmul(&below)?)?)?;
    let inner = tril(&adjoint(&l)?.matmul(&of_l)?, -1)?.add(&aten::triu(&of_u.matmul(&adjoint(&u)?)?)?)?;
    let square = over_l(&over_u(&inner)?)?;
    match rows > columns {
        true => aten::cat::call(&[square, below], -2),
        false => aten::cat::call(&[square, beside], -1),
    }
}

/// The gradient of the LU factors of a matrix, from that of a solution.
fn of_solution(
    grad: &Tensor,
    (factors, pivots): (&Tensor, &Tensor),
    x: &Tensor,
    left: bool,
    is_adjoint: bool,
) -> Result<Tensor> {
    let (p, l, u) = aten::lu_unpack(factors, pivots)?;
    // Transposes the system, if necessary, so that the unknowns are columns.
    let turned = |x: &Tensor| if left { Ok(x.clone()) } else { adjoint(x) };
    let (grad, x) = (turned(grad)?, turned(x)?);
    if left != is_adjoint {
        let of_right = grad.matmul(&adjoint(&x)?)?.neg()?;
        let of_u = aten::linalg_solve_triangular(&adjoint(&u)?, &of_right, false)?;
        let of_l = of_u.matmul(&adjoint(&u)?)?;
        let of_l = aten::linalg_solve_triangular::call(&adjoint(&l)?, &of_l, true, true, true)?;
        return tril(&of_l, -1)?.add(&aten::triu(&of_u)?);
    }
    let of_right = adjoint(&p)?.matmul(&x)?.matmul(&adjoint(&grad)?)?.matmul(&p)?.neg()?;
    let of_l = aten::linalg_solve_triangular::call(&adjoint(&l)?, &of_right, true, false, true)?;
    let of_u = adjoint(&l)?.matmul(&of_l)?;
    let of_u = aten::linalg_solve_triangular::call(&adjoint(&u)?, &of_u, false, false, false)?;
    tril(&of_l, -1)?.add(&aten::triu(&of_u)?)
}

/// The gradient of square matrices, from those of their eigenvalues and their eigenvectors, which have length 1 and any
/// phase.
fn of_eigen(grads: &[Option<Tensor>], values: &Tensor, v: &Tensor) -> Result<Tensor> {
    let vh = adjoint(v)?;
    let mut inner = match &grads[0] {
        Some(grad) => aten::diag_embed(grad)?,
        None => aten::zeros_like(v)?,
    };
    if let Some(grad) = &grads[1] {
        let along = vh.matmul(grad)?;
        check_phases(aten::linalg_eig::NAME, &along)?;
        let lengths = aten::real(&aten::diagonal::call(&along, 0, -2, -1)?)?;
        let across = along.sub(&vh.matmul(v)?.mul(&lengths.unsqueeze(-2)?)?)?;
        let distances = super::reciprocal_distances(&super::conj(values)?)?;
        inner = inner.add(&across.mul(&distances)?)?;
    }
    aten::linalg_solve(&vh, &inner.matmul(&vh)?)
}

/// The gradient of matrices, from that of their pseudoinverses.
fn of_pseudoinverse(grad: &Tensor, a: &Tensor, inverse: &Tensor) -> Result<Tensor> {
    let (outer, higher) = (adjoint(inverse)?, adjoint(grad)?);
    if a.size(-2)? <= a.size(-1)? {
        let inner = higher.matmul(inverse)?;
        let weighted = inner.matmul(&outer)?;
        let own = adjoint(&inverse.matmul(&inner)?)?.neg()?;
        let left = outer.matmul(inverse)?.matmul(&higher.sub(&inner.matmul(a)?)?)?;
        own.add(&weighted)?.sub(&a.matmul(inverse)?.matmul(&weighted)?)?.add(&left)
    } else {
        let inner = inverse.matmul(&higher)?;
        let weighted = outer.matmul(&inner)?;
        let own = adjoint(&inner.matmul(inverse)?)?.neg()?;
        let right = higher.sub(&a.matmul(&inner)?)?.matmul(inverse)?.matmul(&outer)?;
        own.add(&right)?.add(&weighted)?.sub(&weighted.matmul(inverse)?.matmul(a)?)
    }
}
