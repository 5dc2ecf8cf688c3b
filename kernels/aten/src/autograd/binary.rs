//! Derivatives of arithmetic and comparison. The engine reduces the gradients of operands that were broadcast.

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    #[in_place]
    add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor as AddBackward0 {
        self => grad.clone(),
        other => scaled(grad, alpha),
    }
    #[in_place]
    add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor as AddBackward1 {
        self => grad.clone(),
    }
    #[in_place]
    sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor as SubBackward0 {
        self => grad.clone(),
        other => scaled(&grad.neg()?, alpha),
    }
    #[in_place]
    sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor as SubBackward1 {
        self => grad.clone(),
    }
    rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor as RsubBackward0 {
        self => scaled(&grad.neg()?, alpha),
        other => grad.clone(),
    }
    rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor as RsubBackward1 {
        self => scaled(&grad.neg()?, alpha),
    }
    #[in_place]
    mul.Tensor(Tensor self, Tensor other) -> Tensor as MulBackward0 {
        self => grad.mul(&conj(other)?),
        other => grad.mul(&conj(self)?),
    }
    #[in_place]
    mul.Scalar(Tensor self, Scalar other) -> Tensor as MulBackward1 {
        self => grad.mul(conj_of(other)),
    }
    #[in_place]
    div.Tensor(Tensor self, Tensor other) -> Tensor as DivBackward0 {
        self => grad.div(&conj(other)?),
        other => divisor_grad(grad, self, other),
    }
    #[in_place]
    div.Scalar(Tensor self, Scalar other) -> Tensor as DivBackward1 {
        self => grad.div(conj_of(other)),
    }
    // A rounded quotient is piecewise constant.
    #[in_place]
    div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor as DivBackward2 {
        self => if rounding_mode.is_some() { aten::zeros_like(grad) } else { grad.div(&conj(other)?) },
        other => if rounding_mode.is_some() { aten::zeros_like(grad) } else { divisor_grad(grad, self, other) },
    }
    div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor as DivBackward3 {
        self => if rounding_mode.is_some() { aten::zeros_like(grad) } else { grad.div(conj_of(other)) },
    }

    where.self(Tensor condition, Tensor self, Tensor other) -> Tensor as WhereBackward0 {
        condition => non_differentiable,
        self => aten::where_ScalarOther(condition, grad, Scalar::from(0)),
        other => aten::where_ScalarSelf(condition, Scalar::from(0), grad),
    }

    eq.Tensor(Tensor self, Tensor other) -> Tensor as non_differentiable;
    eq.Scalar(Tensor self, Scalar other) -> Tensor as non_differentiable;
    ne.Tensor(Tensor self, Tensor other) -> Tensor as non_differentiable;
    ne.Scalar(Tensor self, Scalar other) -> Tensor as non_differentiable;
    lt.Tensor(Tensor self, Tensor other) -> Tensor as non_differentiable;
    lt.Scalar(Tensor self, Scalar other) -> Tensor as non_differentiable;
    le.Tensor(Tensor self, Tensor other) -> Tensor as non_differentiable;
    le.Scalar(Tensor self, Scalar other) -> Tensor as non_differentiable;
    gt.Tensor(Tensor self, Tensor other) -> Tensor as non_differentiable;
    gt.Scalar(Tensor self, Scalar other) -> Tensor as non_differentiable;
    ge.Tensor(Tensor self, Tensor other) -> Tensor as non_differentiable;
    ge.Scalar(Tensor self, Scalar other) -> Tensor as non_differentiable;
}

/// The conjugate of a complex tensor; a real one is returned as it is.
pub fn conj(x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_complex() { aten::conj_physical(x) } else { Ok(x.clone()) }
}

pub(super) fn conj_of(number: Scalar) -> Scalar {
    match number {
        Scalar::Complex(z) => Scalar::Complex(z.conj()),
        real => real,
    }
}

fn is_one(factor: Scalar) -> bool {
    factor.cast::<Complex64>() == Complex64::new(1.0, 0.0)
}

/// The gradient of a factor that was multiplied by a scalar.
pub(super) fn scaled(grad: &Tensor, factor: Scalar) -> Result<Tensor> {
    if is_one(factor) { Ok(grad.clone()) } else { grad.mul(conj_of(factor)) }
}

fn divisor_grad(grad: &Tensor, this: &Tensor, other: &Tensor) -> Result<Tensor> {
    grad.neg()?.mul(&conj(&this.div(other)?.div(other)?)?)
}
