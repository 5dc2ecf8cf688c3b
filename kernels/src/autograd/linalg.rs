//! Derivatives of factors of matrices and of what is solved with them.

use torch_library::derivatives;
use torch_library::prelude::*;

use super::binary::conj;
use crate::aten;
use crate::composite::linalg::adjoint;
use crate::methods::TensorMethods;

derivatives! {
    in aten;

    _linalg_solve_ex(
        Tensor A, Tensor B, *, bool left=True, bool check_errors=False
    ) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info) as LinalgSolveExBackward0 {
        A => {
            let of_right = aten::linalg_solve::call(&adjoint(A)?, grad, left)?;
            let is_vector = result.dim() == A.dim() - 1;
            let columns = |x: &Tensor| if is_vector { x.unsqueeze(-1) } else { Ok(x.clone()) };
            let (of_right, result) = (columns(&of_right)?, columns(result)?);
            let product = if left { of_right.matmul(&adjoint(&result)?) } else { adjoint(&result)?.matmul(&of_right) };
            aten::sum_to_size(&product?.neg()?, A.sizes())
        },
        B => aten::sum_to_size(&aten::linalg_solve::call(&adjoint(A)?, grad, left)?, B.sizes()),
        LU => non_differentiable,
        pivots => non_differentiable,
        info => non_differentiable,
    }
    linalg_solve_triangular(
        Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False
    ) -> Tensor as LinalgSolveTriangularBackward0 {
        self => {
            let of_right = aten::linalg_solve_triangular::call(&adjoint(self)?, grad, !upper, left, unitriangular)?;
            let x = adjoint(result)?;
            let product = if left { of_right.matmul(&x) } else { x.matmul(&of_right) }?.neg()?;
            let skipped = i64::from(unitriangular);
            let half = if upper {
                aten::triu::with(&product).diagonal(skipped).call()
            } else {
                aten::tril::with(&product).diagonal(-skipped).call()
            };
            aten::sum_to_size(&half?, self.sizes())
        },
        B => {
            let of_right = aten::linalg_solve_triangular::call(&adjoint(self)?, grad, !upper, left, unitriangular)?;
            aten::sum_to_size(&of_right, B.sizes())
        },
    }
    linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info) as LinalgInvExBackward0 {
        A => adjoint(inverse)?.matmul(&grad.matmul(&adjoint(inverse)?)?)?.neg(),
        info => non_differentiable,
    }
    _linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots) as LinalgDetBackward0 {
        A => scaled_inverse(A, &grad.mul(&conj(result)?)?),
        LU => non_differentiable,
        pivots => non_differentiable,
    }
    _linalg_slogdet(
        Tensor A
    ) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots) as LinalgSlogdetBackward0 {
        A => {
            let of_logarithm = match &grads[1] {
                Some(grad) => grad.clone(),
                None => aten::zeros_like(logabsdet)?,
            };
            let factor = match &grads[0] {
                // The sign of a real number does not move.
                Some(grad) if A.dtype().is_complex() => {
                    let turn = aten::imag(&conj(grad)?.mul(sign)?)?;
                    of_logarithm.sub(&turn.mul(Complex64::I)?)?
                }
                _ => of_logarithm,
            };
            scaled_inverse(A, &factor)
        },
        LU => non_differentiable,
        pivots => non_differentiable,
    }
    linalg_cholesky_ex(
        Tensor self, *, bool upper=False, bool check_errors=False
    ) -> (Tensor L, Tensor info) as LinalgCholeskyExBackward0 {
        self => {
            let turned = |x: &Tensor| if upper { adjoint(x) } else { Ok(x.clone()) };
            let (factor, grad) = (turned(L)?, turned(grad)?);
            let half = symmetric(&adjoint(&factor)?.matmul(&grad)?)?.mul(0.5)?;
            let half = aten::linalg_solve_triangular(&adjoint(&factor)?, &half, true)?;
            aten::linalg_solve_triangular::call(&factor, &half, false, false, false)
        },
        info => non_differentiable,
    }
    linalg_qr(Tensor A, str mode="reduced") -> (Tensor Q, Tensor R) as LinalgQrBackward0 {
        A => of_qr(grads, A, Q, R, mode),
    }
}

/// Numbers times the inverses of the adjoint matrices.
fn scaled_inverse(a: &Tensor, factors: &Tensor) -> Result<Tensor> {
    let n = a.size(-1)?;
    let factors = factors.unsqueeze(-1)?.expand(&[factors.sizes(), &[n]].concat())?;
    Ok(aten::_linalg_solve_ex(&adjoint(a)?, &aten::diag_embed(&factors.to_dtype(a.dtype())?)?)?.0)
}

/// The Hermitian matrices with the lower halves of these; of the diagonal counts the real part.
fn symmetric(a: &Tensor) -> Result<Tensor> {
    let half = aten::tril(a)?.add(&aten::tril::with(a).diagonal(-1).call()?)?.mul(0.5)?;
    half.add(&adjoint(&half)?)
}

/// The gradient of matrices that were factored into orthonormal columns and a triangle.
fn of_qr(grads: &[Option<Tensor>], a: &Tensor, q: &Tensor, r: &Tensor, mode: &str) -> Result<Tensor> {
    let (rows, columns) = (a.size(-2)?, a.size(-1)?);
    ensure!(
        mode == "reduced" && rows >= columns,
        Argument,
        "aten::linalg_qr: a derivative with mode {mode:?} of matrices of {rows} × {columns}, expected mode \"reduced\" and no \
         more columns than rows"
    );
    let zero = || aten::zeros_like(a);
    let of_q = grads[0].clone().map_or_else(zero, Ok)?;
    let mut inner = adjoint(&of_q)?.matmul(q)?.neg()?;
    if let Some(of_r) = &grads[1] {
        inner = inner.add(&r.matmul(&adjoint(of_r)?)?)?;
    }
    let sum = of_q.add(&q.matmul(&symmetric(&inner)?)?)?;
    aten::linalg_solve_triangular::call(&adjoint(r)?, &sum, false, false, false)
}
