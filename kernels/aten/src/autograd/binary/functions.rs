//! Derivatives of functions of two numbers, other than arithmetic.

use std::f64::consts::LN_2;

use torch_library::derivatives;
use torch_library::prelude::*;

use super::conj;
use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    #[in_place]
    hypot(Tensor self, Tensor other) -> Tensor as HypotBackward0 {
        self => grad.mul(&self.div(result)?),
        other => grad.mul(&other.div(result)?),
    }
    #[in_place]
    copysign.Tensor(Tensor self, Tensor other) -> Tensor as CopysignBackward0 {
        self => turned(grad, self, result),
        other => aten::zeros_like(grad),
    }
    #[in_place]
    copysign.Scalar(Tensor self, Scalar other) -> Tensor as CopysignBackward1 {
        self => turned(grad, self, result),
    }
    logaddexp(Tensor self, Tensor other) -> Tensor as LogaddexpBackward0 {
        self => grad.mul(&conj(&aten::sigmoid(&self.sub(other)?)?)?),
        other => grad.mul(&conj(&aten::sigmoid(&other.sub(self)?)?)?),
    }
    logaddexp2(Tensor self, Tensor other) -> Tensor as Logaddexp2Backward0 {
        self => grad.mul(&aten::sigmoid(&self.sub(other)?.mul(LN_2)?)?),
        other => grad.mul(&aten::sigmoid(&other.sub(self)?.mul(LN_2)?)?),
    }
    #[in_place]
    xlogy.Tensor(Tensor self, Tensor other) -> Tensor as XlogyBackward0 {
        self => {
            let is_flat = aten::logical_and(&aten::eq_Scalar(self, 0.into())?, &aten::le_Scalar(other, 0.into())?)?;
            aten::masked_fill_Scalar(&aten::xlogy_Tensor(grad, other)?, &is_flat, 0.into())
        },
        other => grad.mul(&self.div(other)?),
    }
    xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor as XlogyBackward1 {
        other => grad.mul(self)?.div(other),
    }
    #[in_place]
    xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor as XlogyBackward2 {
        self => {
            let slope = aten::xlogy_Scalar_Other(grad, other)?;
            let is_flat = other.cast::<f64>() <= 0.0;
            match is_flat {
                true => aten::masked_fill_Scalar(&slope, &aten::eq_Scalar(self, 0.into())?, 0.into()),
                false => Ok(slope),
            }
        },
    }
    nextafter(Tensor self, Tensor other) -> Tensor as NextafterBackward0 {
        self => aten::masked_fill_Scalar(grad, &aten::eq_Tensor(self, other)?, 0.into()),
        other => aten::zeros_like(grad),
    }
}

/// The gradient of `copysign`: that of the result, with its sign flipped where `copysign` flipped that of the
/// magnitude.
fn turned(grad: &Tensor, this: &Tensor, result: &Tensor) -> Result<Tensor> {
    let ratio = aten::masked_fill_Scalar(&result.div(this)?, &aten::eq_Scalar(this, 0.into())?, 0.into())?;
    grad.mul(&ratio)
}
