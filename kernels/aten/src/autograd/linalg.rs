//! Derivatives of matrix factorisations, and of what is solved with them.

use torch_library::derivatives;
use torch_library::guard::GradMode;
use torch_library::prelude::*;

use super::binary::conj;
use crate::aten;
use crate::composite::linalg::adjoint;
use crate::prelude::*;

mod determinant;
mod factors;
mod phases;

use determinant::{beside_singular, of_determinant, scaled_inverse, solved_by_factors};
use phases::check_phases;

derivatives! {
    in aten;

    _linalg_solve_ex(
        Tensor A, Tensor B, *, bool left=True, bool check_errors=False
    ) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info) as LinalgSolveExBackward0 {
        A => {
            let of_right = of_right_sides(A, LU, pivots, grad, left)?;
            let is_vector = result.dim() == A.dim() - 1;
            let columns = |x: &Tensor| if is_vector { x.unsqueeze(-1) } else { Ok(x.clone()) };
            let (of_right, result) = (columns(&of_right)?, columns(result)?);
            let product = if left { of_right.matmul(&adjoint(&result)?) } else { adjoint(&result)?.matmul(&of_right) };
            aten::sum_to_size(&product?.neg()?, A.sizes())
        },
        B => aten::sum_to_size(&of_right_sides(A, LU, pivots, grad, left)?, B.sizes()),
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
    triangular_solve(
        Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False
    ) -> (Tensor solution, Tensor cloned_coefficient) as TriangularSolveBackward0 {
        self => match &grads[0] {
            Some(grad) => aten::sum_to_size(&of_right_side(grad, A, upper, transpose, unitriangular)?, self.sizes()),
            None => aten::new_zeros(A, self.sizes()),
        },
        A => {
            let of_copy = grads[1].as_ref().map(|grad| aten::sum_to_size(grad, A.sizes())).transpose()?;
            let of_solution = match &grads[0] {
                None => None,
                Some(grad) => {
                    let of_right = of_right_side(grad, A, upper, transpose, unitriangular)?;
                    let product = match transpose {
                        true => conj(solution)?.matmul(&aten::mT(&of_right)?),
                        false => of_right.matmul(&adjoint(solution)?),
                    };
                    let (product, skipped) = (product?.neg()?, i64::from(unitriangular));
                    let half = match upper {
                        true => aten::triu::with(&product).diagonal(skipped).call(),
                        false => aten::tril::with(&product).diagonal(-skipped).call(),
                    };
                    Some(aten::sum_to_size(&half?, A.sizes())?)
                }
            };
            match (of_solution, of_copy) {
                (Some(a), Some(b)) => a.add(&b),
                (Some(grad), None) | (None, Some(grad)) => Ok(grad),
                (None, None) => aten::zeros_like(A),
            }
        },
    }
    linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info) as LinalgInvExBackward0 {
        A => adjoint(inverse)?.matmul(&grad.matmul(&adjoint(inverse)?)?)?.neg(),
        info => non_differentiable,
    }
    linalg_matrix_exp(Tensor self) -> Tensor as LinalgMatrixExpBackward0 {
        self => aten::matrix_exp_backward(self, grad),
    }
    _linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots) as LinalgDetBackward0 {
        A => {
            if GradMode::is_enabled() {
                of_determinant(grad, A, result)
            } else {
                solved_by_factors(A, &beside_singular(LU)?, pivots, &grad.mul(&conj(result)?)?)
            }
        },
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
                // The sign of a real determinant is locally constant.
                Some(grad) if A.dtype().is_complex() => {
                    let turn = aten::imag(&conj(grad)?.mul(sign)?)?;
                    of_logarithm.sub(&turn.mul(Complex64::I)?)?
                }
                _ => of_logarithm,
            };
            if GradMode::is_enabled() { scaled_inverse(A, &factor) } else { solved_by_factors(A, LU, pivots, &factor) }
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
            let product = adjoint(&factor)?.matmul(&grad)?;
            // The imaginary part of the diagonal stays, as in PyTorch, though no Hermitian matrix has one.
            let below = aten::tril::with(&product).diagonal(-1).call()?;
            let half = aten::tril(&product)?.add(&adjoint(&below)?)?.mul(0.5)?;
            let half = aten::linalg_solve_triangular(&adjoint(&factor)?, &half, true)?;
            aten::linalg_solve_triangular::call(&factor, &half, false, false, false)
        },
        info => non_differentiable,
    }
    _linalg_eigh(
        Tensor A, str UPLO="L", bool compute_v=True
    ) -> (Tensor eigenvalues, Tensor eigenvectors) as LinalgEighBackward0 {
        A => {
            let v = eigenvectors;
            let mut inner = match &grads[0] {
                Some(grad) => aten::diag_embed(&grad.to_dtype(v.dtype())?)?,
                None => aten::zeros_like(v)?,
            };
            if let Some(grad) = &grads[1] {
                let along = adjoint(v)?.matmul(grad)?;
                check_phases(aten::_linalg_eigh::NAME, &along)?;
                // Orthonormal vectors can only turn: by the skew part.
                let turn = along.sub(&adjoint(&along)?)?.mul(0.5)?;
                inner = inner.add(&turn.mul(&reciprocal_distances(eigenvalues)?)?)?;
            }
            v.matmul(&inner)?.matmul(&adjoint(v)?)
        },
    }
    _linalg_svd(
        Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None
    ) -> (Tensor U, Tensor S, Tensor Vh) as LinalgSvdBackward0 {
        A => {
            ensure!(compute_uv, Argument, "{}: the derivative needs vectors: compute_uv=True", aten::_linalg_svd::NAME);
            // The singular vectors beyond the singular values are not unique, and have no gradient.
            let count = S.size(-1)?;
            let first = |tensor: &Tensor, dim: i64| tensor.narrow(dim, 0, count);
            let of_u = grads[0].as_ref().map(|grad| first(grad, -1)).transpose()?;
            let of_vh = grads[2].as_ref().map(|grad| first(grad, -2)).transpose()?;
            of_svd(&[of_u, grads[1].clone(), of_vh], &first(U, -1)?, S, &first(Vh, -2)?)
        },
    }
    linalg_qr(Tensor A, str mode="reduced") -> (Tensor Q, Tensor R) as LinalgQrBackward0 {
        A => of_qr(grads, A, Q, R, mode),
    }
}

/// The gradient of the right-hand side of a triangular system.
fn of_right_side(
    grad: &Tensor,
    a: &Tensor,
    upper: bool,
    transpose: bool,
    unitriangular: bool,
) -> Result<Tensor> {
    Ok(aten::triangular_solve::call(grad, &conj(a)?, upper, !transpose, unitriangular)?.0)
}

/// The gradient of the right-hand sides of linear equations. Where it need not be differentiated again, the LU factors
/// of the equations serve once more.
fn of_right_sides(a: &Tensor, lu: &Tensor, pivots: &Tensor, grad: &Tensor, left: bool) -> Result<Tensor> {
    if GradMode::is_enabled() {
        return aten::linalg_solve::call(&adjoint(a)?, grad, left);
    }
    let is_vector = grad.dim() == a.dim() - 1;
    let columns = if is_vector { grad.unsqueeze(-1)? } else { grad.clone() };
    let solution = aten::linalg_lu_solve::call(lu, pivots, &columns, left, true)?;
    if is_vector { solution.squeeze_dim(-1) } else { Ok(solution) }
}

/// The Hermitian matrices with the lower triangles of these; only the real part of the diagonal counts.
fn symmetric(a: &Tensor) -> Result<Tensor> {
    let half = aten::tril(a)?.add(&aten::tril::with(a).diagonal(-1).call()?)?.mul(0.5)?;
    half.add(&adjoint(&half)?)
}

/// The gradient of matrices with a QR factorisation.
fn of_qr(grads: &[Option<Tensor>], a: &Tensor, q: &Tensor, r: &Tensor, mode: &str) -> Result<Tensor> {
    let (rows, columns) = (a.size(-2)?, a.size(-1)?);
    ensure!(
        mode == "reduced" || (mode == "complete" && rows <= columns),
        Argument,
        "{}: there is no derivative with mode {mode:?} of matrices of {rows} × {columns}",
        aten::linalg_qr::NAME
    );
    let or_zeros = |grad: &Option<Tensor>, like: &Tensor| match grad {
        Some(grad) => Ok(grad.clone()),
        None => aten::zeros_like(like),
    };
    let (of_q, of_r) = (or_zeros(&grads[0], q)?, or_zeros(&grads[1], r)?);
    if rows >= columns {
        return of_tall(&of_q, &of_r, q, r);
    }
    // The columns of A beyond the leading square are Q times those of R, and Q is a factor of the square.
    let split = |x: &Tensor| -> Result<[Tensor; 2]> {
        Ok([x.narrow(-1, 0, rows)?, x.narrow(-1, rows, columns - rows)?])
    };
    let ([_, rest], [of_square, of_rest], [square, _]) = (split(a)?, split(&of_r)?, split(r)?);
    let of_q = of_q.add(&rest.matmul(&adjoint(&of_rest)?)?)?;
    let parts = [of_tall(&of_q, &of_square, q, &square)?, q.matmul(&of_rest)?];
    aten::cat::with(&parts).dim(-1).call()
}

/// The gradient of matrices that have no more columns than rows.
fn of_tall(of_q: &Tensor, of_r: &Tensor, q: &Tensor, r: &Tensor) -> Result<Tensor> {
    let inner = r.matmul(&adjoint(of_r)?)?.sub(&adjoint(of_q)?.matmul(q)?)?;
    let sum = of_q.add(&q.matmul(&symmetric(&inner)?)?)?;
    aten::linalg_solve_triangular::call(&adjoint(r)?, &sum, false, false, false)
}

/// `1 / (values[j] - values[i])` in row i and column j, and zeros on the diagonal.
fn reciprocal_distances(values: &Tensor) -> Result<Tensor> {
    let distances = values.unsqueeze(-2)?.sub(&values.unsqueeze(-1)?)?;
    let one = aten::diag_embed(&aten::ones_like(values)?)?;
    one.neg()?.add(1.0)?.div(&distances.add(&one)?)
}

/// The gradient of matrices, from those of their singular values and as many singular vectors.
fn of_svd(grads: &[Option<Tensor>], u: &Tensor, s: &Tensor, vh: &Tensor) -> Result<Tensor> {
    let skew = |x: &Tensor| x.sub(&adjoint(x)?);
    let (row, column) = (s.unsqueeze(-2)?, s.unsqueeze(-1)?);
    let reciprocals = reciprocal_distances(&s.mul(s)?)?;
    let mut inner = match &grads[1] {
        Some(grad) => aten::diag_embed(&grad.to_dtype(u.dtype())?)?,
        None => aten::zeros_like(&vh.narrow(-1, 0, s.size(-1)?)?)?,
    };
    let of_u = grads[0].as_ref().map(|grad| skew(&adjoint(u)?.matmul(grad)?)).transpose()?;
    let of_vh = grads[2].as_ref().map(|grad| skew(&vh.matmul(&adjoint(grad)?)?)).transpose()?;
    if let Some(both) = of_u.iter().chain(&of_vh).cloned().map(Ok).reduce(|sum, part| sum?.add(&part?)) {
        check_phases(aten::_linalg_svd::NAME, &both?)?;
    }
    if let Some(turned) = &of_u {
        inner = inner.add(&turned.mul(&reciprocals)?.mul(&row)?)?;
        if u.dtype().is_complex() {
            // The common phase of a pair of singular vectors is arbitrary; this term fixes it by that of `U`.
            let diagonal = aten::diagonal::call(turned, 0, -2, -1)?.div(&s.mul(2)?)?;
            inner = inner.add(&aten::diag_embed(&diagonal)?)?;
        }
    }
    if let Some(turned) = &of_vh {
        inner = inner.add(&turned.mul(&reciprocals)?.mul(&column)?)?;
    }
    let mut sum = u.matmul(&inner)?.matmul(vh)?;
    // The parts of the vectors' gradients that are orthogonal to the vectors.
    if let (Some(grad), true) = (&grads[0], u.size(-2)? > s.size(-1)?) {
        let grad = grad.div(&row)?;
        let beyond = grad.sub(&u.matmul(&adjoint(u)?.matmul(&grad)?)?)?;
        sum = sum.add(&beyond.matmul(vh)?)?;
    }
    if let (Some(grad), true) = (&grads[2], vh.size(-1)? > s.size(-1)?) {
        let grad = grad.div(&column)?;
        let beyond = grad.sub(&grad.matmul(&adjoint(vh)?)?.matmul(vh)?)?;
        sum = sum.add(&u.matmul(&beyond)?)?;
    }
    Ok(sum)
}
