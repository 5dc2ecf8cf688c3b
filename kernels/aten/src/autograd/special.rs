//! Derivatives of special functions.

use std::f64::consts::{LN_2, PI};

use torch_library::derivatives;
use torch_library::prelude::*;

use super::binary::conj;
use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;


    #[in_place]
    exp2(Tensor self) -> Tensor as Exp2Backward0 {
        self => grad.mul(&conj(result)?)?.mul(LN_2),
    }
    logit(Tensor self, float? eps=None) -> Tensor as LogitBackward0 {
        self => {
            let low = eps.unwrap_or(0.0);
            let steep = grad.div(&self.mul(&aten::rsub_Scalar(self, Scalar::from(1))?)?)?;
            let above = aten::ge_Scalar(self, Scalar::from(low))?;
            let inside = aten::logical_and(&above, &aten::le_Scalar(self, Scalar::from(1.0 - low))?)?;
            aten::where_ScalarOther(&inside, &steep, Scalar::from(if eps.is_some() { 0.0 } else { f64::NAN }))
        },
    }
    #[in_place]
    erfinv(Tensor self) -> Tensor as ErfinvBackward0 {
        self => {
            let root = aten::erfinv(self)?; // recomputed, as the result may have been written to
            grad.mul(&root.mul(&root)?.exp()?)?.mul(PI.sqrt() / 2.0)
        },
    }
    #[in_place]
    lgamma(Tensor self) -> Tensor as LgammaBackward0 {
        self => grad.mul(&aten::digamma(self)?),
    }
    #[in_place]
    digamma(Tensor self) -> Tensor as DigammaBackward0 {
        self => grad.mul(&aten::polygamma(1, self)?),
    }
    polygamma(int n, Tensor self) -> Tensor as PolygammaBackward0 {
        // For the largest order there is no next one; but for orders that large, the results are not finite anyway.
        self => grad.mul(&aten::polygamma(n.saturating_add(1), self)?),
    }
    #[in_place]
    sinc(Tensor self) -> Tensor as SincBackward0 {
        self => {
            let angle = self.mul(PI)?;
            let slope = aten::cos(&angle)?.sub(&aten::sinc(self)?)?.div(self)?;
            aten::masked_fill_Scalar(&grad.mul(&conj(&slope)?)?, &aten::eq_Scalar(self, 0.into())?, 0.into())
        },
    }
    #[in_place]
    deg2rad(Tensor self) -> Tensor as Deg2RadBackward0 {
        self => grad.mul(PI / 180.0),
    }
    #[in_place]
    rad2deg(Tensor self) -> Tensor as Rad2DegBackward0 {
        self => grad.mul(180.0 / PI),
    }
    #[in_place]
    nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor as NanToNumBackward0 {
        self => grad.mul(&aten::isfinite(self)?),
    }
    nextafter(Tensor self, Tensor other) -> Tensor as NextafterBackward0 {
        self => aten::masked_fill_Scalar(grad, &aten::eq_Tensor(self, other)?, 0.into()),
        other => aten::zeros_like(grad),
    }
    signbit(Tensor self) -> Tensor as non_differentiable;
    isposinf(Tensor self) -> Tensor as non_differentiable;
    isneginf(Tensor self) -> Tensor as non_differentiable;

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

}

/// The gradient of `copysign`: that of the result, with its sign flipped where `copysign` flipped that of the
/// magnitude.
fn turned(grad: &Tensor, this: &Tensor, result: &Tensor) -> Result<Tensor> {
    let ratio = aten::masked_fill_Scalar(&result.div(this)?, &aten::eq_Scalar(this, 0.into())?, 0.into())?;
    grad.mul(&ratio)
}
