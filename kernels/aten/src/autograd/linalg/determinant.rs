//! Gradients of determinants, also of those of singular matrices.

use torch_library::guard::no_grad;
use torch_library::prelude::*;

use super::super::binary::conj;
use super::super::reduce::products_of_others;
use crate::aten;
use crate::composite::is_readable;
use crate::composite::linalg::adjoint;
use crate::prelude::*;

/// The gradient of matrices, from that of their determinants, by a formula that can be differentiated again.
pub(super) fn of_determinant(grad: &Tensor, a: &Tensor, det: &Tensor) -> Result<Tensor> {
    let regular = |a: &Tensor, grad: &Tensor, det: &Tensor| scaled_inverse(a, &grad.mul(&conj(det)?)?);
    if !is_readable(a) {
        return regular(a, grad, det);
    }
    let limit = 100.0 * epsilon(a.dtype());
    let is_singular = no_grad(|| aten::lt_Scalar(&det.abs()?, limit.into()))?;
    let count = is_singular.sum()?.item()?.to::<i64>()?;
    if count == 0 {
        return regular(a, grad, det);
    }
    if count == is_singular.numel() {
        return of_singular(grad, a);
    }
    let zeros = aten::zeros_like(a)?;
    let (at_singular, at_regular) = ([Some(is_singular.clone())], [Some(aten::logical_not(&is_singular)?)]);
    let some = |x: &Tensor| aten::index_Tensor(x, &at_singular);
    let rest = |x: &Tensor| aten::index_Tensor(x, &at_regular);
    let grads = aten::index_put(&zeros, &at_singular, &of_singular(&some(grad)?, &some(a)?)?)?;
    aten::index_put(&grads, &at_regular, &regular(&rest(a)?, &rest(grad)?, &rest(det)?)?)
}

/// The gradient of singular matrices: the adjoint of their adjugates, from their singular values and vectors.
fn of_singular(grad: &Tensor, a: &Tensor) -> Result<Tensor> {
    let (u, s, vh) = aten::linalg_svd(a)?;
    let turn = aten::linalg_det(&u)?.mul(&aten::linalg_det(&vh)?)?;
    let factor = conj(&turn)?.mul(grad)?.unsqueeze(-1)?;
    let values = factor.mul(&products_of_others(&s, -1)?)?;
    u.mul(&values.unsqueeze(-2)?)?.matmul(&vh)
}

fn epsilon(dtype: DType) -> f64 {
    match dtype.to_real() {
        DType::Float32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    }
}

/// `factors` times the inverses of the conjugate transposes of the matrices.
pub(super) fn scaled_inverse(a: &Tensor, factors: &Tensor) -> Result<Tensor> {
    let n = a.size(-1)?;
    let factors = factors.unsqueeze(-1)?.expand(&[factors.sizes(), &[n]].concat())?;
    aten::linalg_solve(&adjoint(a)?, &aten::diag_embed(&factors.to_dtype(a.dtype())?)?)
}

/// LU factors of an invertible matrix: zeros on the diagonal of U are replaced by epsilon, because the determinant is
/// differentiable at singular matrices, too.
pub(super) fn beside_singular(lu: &Tensor) -> Result<Tensor> {
    let epsilon = epsilon(lu.dtype());
    let is_zero = aten::eq_Scalar(&aten::diagonal::call(lu, 0, -2, -1)?, 0.into())?;
    lu.add(&aten::diag_embed(&is_zero.to_dtype(lu.dtype())?.mul(epsilon)?)?)
}

/// The result of [`scaled_inverse`], computed from the LU factors of the determinant. It does not fail for a singular
/// matrix.
pub(super) fn solved_by_factors(
    a: &Tensor,
    lu: &Tensor,
    pivots: &Tensor,
    factors: &Tensor,
) -> Result<Tensor> {
    let factors = factors.unsqueeze(-1)?.expand(pivots.sizes())?;
    let right = aten::diag_embed(&factors.to_dtype(a.dtype())?)?;
    // Row-major real matrices were factored in place, which factors their transposes.
    let is_turned = a.is_contiguous(MemoryFormat::Contiguous) && !a.dtype().is_complex();
    aten::linalg_lu_solve::call(lu, pivots, &right, true, !is_turned)
}
