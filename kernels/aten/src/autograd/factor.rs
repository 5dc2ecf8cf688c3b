//! Derivatives of Householder reflections, polar decompositions and matrix square roots.

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::linalg::adjoint;
use crate::prelude::*;

derivatives! {
    in aten;

    geqrf(Tensor self) -> (Tensor a, Tensor tau) as GeqrfBackward0 {
        self => without_derivative("geqrf"),
    }
    linalg_householder_product(Tensor input, Tensor tau) -> Tensor as LinalgHouseholderProductBackward0 {
        (input, tau) => {
            let [.., rows, columns] = *input.sizes() else { bail!(Internal, "no matrices") };
            let ones = aten::eye_m(rows, columns)?.to_dtype(input.dtype())?.expand(input.sizes())?;
            let (input, tau, _) = Reflections { vectors: input, factors: tau,
                is_adjoint: false }.backward(&ones, grad)?;
            (input, tau)
        },
    }
    ormqr(
        Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False
    ) -> Tensor as OrmqrBackward0 {
        (self, input2, input3) => {
            // `C Q` is the conjugate transpose of `Qᴴ Cᴴ`.
            let turned = |x: &Tensor| if left { Ok(x.clone()) } else { adjoint(x) };
            let reflections = Reflections { vectors: self, factors: input2, is_adjoint: left == transpose };
            let (vectors, factors, other) = reflections.backward(&turned(input3)?, &turned(grad)?)?;
            (vectors, factors, Some(turned(&other)?))
        },
    }
    linalg_matrix_sqrth(Tensor self) -> Tensor as LinalgMatrixSqrthBackward0 {
        self => {
            // Only symmetric changes of the matrix count.
            let symmetric = grad.add(&adjoint(grad)?)?.mul(0.5)?;
            sylvester(result, &symmetric)
        },
    }
    linalg_polar(Tensor A) -> (Tensor U, Tensor H) as LinalgPolarBackward0 {
        A => polar([grads[0].as_ref(), grads[1].as_ref()], U, H),
    }
}

fn without_derivative(function: &str) -> Result<Tensor> {
    bail!(NotSupported, "the derivative of `{function}` is not implemented")
}

/// The product of Householder reflections `1 - t v vᴴ`, or its conjugate transpose.
struct Reflections<'a> {
    vectors: &'a Tensor,
    factors: &'a Tensor,
    is_adjoint: bool,
}

impl Reflections<'_> {
    /// The gradients of the vectors, of the factors, and of the matrix that is multiplied from the left, given the
    /// gradient of the product. Empty vectors or factors get no gradient.
    fn backward(&self, other: &Tensor, grad: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>, Tensor)> {
        let [.., rows, columns] = *self.vectors.sizes() else { bail!(Internal, "no matrices") };
        let steps = self.factors.size(-1)?;
        if self.vectors.numel() == 0 || self.factors.numel() == 0 {
            return Ok((None, None, grad.clone()));
        }
        let ones = aten::eye_m(rows, steps)?.to_dtype(self.vectors.dtype())?;
        let below = |x: &Tensor| aten::tril::with(x).diagonal(-1).call();
        let vectors = below(&self.vectors.narrow(-1, 0, steps)?)?.add(&ones)?;
        let reflection = |k: i64| -> Result<[Tensor; 2]> {
            let factor = self.factors.narrow(-1, k, 1)?.unsqueeze(-1)?;
            let factor = if self.is_adjoint { aten::conj(&factor)? } else { factor };
            Ok([vectors.narrow(-1, k, 1)?, factor])
        };
        // The last reflection is applied first; in the conjugate transpose, the first.
        let order: Vec<i64> = if self.is_adjoint { (0..steps).collect() } else { (0..steps).rev().collect() };
        let (mut before, mut value) = (Vec::new(), other.clone());
        for k in &order {
            let [vector, factor] = reflection(*k)?;
            let change = vector.mul(&factor)?.matmul(&adjoint(&vector)?.matmul(&value)?)?;
            before.push(value.clone());
            value = value.sub(&change)?;
        }
        let (mut grad, mut columns_of_grad, mut factors_of_grad) = (grad.clone(), Vec::new(), Vec::new());
        for (k, value) in order.iter().zip(&before).rev() {
            let [vector, factor] = reflection(*k)?;
            let (row, row_of_grad) = (adjoint(&vector)?.matmul(value)?, adjoint(&vector)?.matmul(&grad)?);
            let of_factor = row_of_grad.matmul(&adjoint(&row)?)?.neg()?;
            let scaled = row_of_grad.mul(&aten::conj(&factor)?)?;
            let outer = grad.matmul(&adjoint(&row)?)?.mul(&aten::conj(&factor)?)?;
            columns_of_grad.push(outer.add(&value.matmul(&adjoint(&scaled)?)?)?.neg()?);
            factors_of_grad.push(if self.is_adjoint { aten::conj(&of_factor)? } else { of_factor });
            grad = grad.sub(&vector.matmul(&scaled)?)?;
        }
        if self.is_adjoint {
            // In the conjugate transpose, the gradients were computed from the last reflection to the first.
            columns_of_grad.reverse();
            factors_of_grad.reverse();
        }
        let of_vectors = below(&aten::cat::with(&columns_of_grad).dim(-1).call()?)?;
        let of_vectors = aten::constant_pad_nd::call(&of_vectors, &[0, columns - steps], 0.into())?;
        let of_factors = aten::cat::with(&factors_of_grad).dim(-1).call()?;
        let of_factors = aten::squeeze_dim(&of_factors, -2)?;
        Ok((Some(of_vectors), Some(of_factors), grad))
    }
}

/// The solution of `A X + X A = B` for a positive definite `A`.
fn sylvester(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let (values, vectors) = aten::linalg_eigh(a)?;
    let sums = values.unsqueeze(-1)?.add(&values.unsqueeze(-2)?)?;
    let inside = adjoint(&vectors)?.matmul(b)?.matmul(&vectors)?.div(&sums)?;
    vectors.matmul(&inside)?.matmul(&adjoint(&vectors)?)
}

fn polar([of_u, of_h]: [Option<&Tensor>; 2], u: &Tensor, h: &Tensor) -> Result<Option<Tensor>> {
    let mut skew = None;
    let mut sum: Option<Tensor> = None;
    let plus = |a: Option<Tensor>, b: Tensor| -> Result<Option<Tensor>> {
        Ok(Some(match a {
            Some(a) => a.add(&b)?,
            None => b,
        }))
    };
    if let Some(grad) = of_h {
        sum = plus(sum, u.matmul(grad)?)?;
        skew = plus(skew, grad.matmul(h)?.neg()?)?;
    }
    if let Some(grad) = of_u {
        let inside = adjoint(u)?.matmul(grad)?;
        // The part of the gradient that is orthogonal to the columns.
        let outside = grad.sub(&u.matmul(&inside)?)?;
        sum = plus(sum, aten::linalg_solve::with(h, &outside).left(false).call()?)?;
        skew = plus(skew, inside)?;
    }
    match skew {
        None => Ok(sum),
        Some(skew) => {
            let turn = sylvester(h, &skew)?;
            plus(sum, u.matmul(&turn.sub(&adjoint(&turn)?)?)?)
        }
    }
}
