//! Derivatives of special functions.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2, PI, SQRT_2};

use torch_library::derivatives;
use torch_library::prelude::*;

use super::binary::conj;
use crate::aten;
use crate::composite::special::of_each_variable;
use crate::prelude::*;

mod bessel;

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

    special_entr(Tensor self) -> Tensor as SpecialEntrBackward0 {
        self => grad.mul(&self.log()?.add(1)?.neg()?),
    }
    special_erfcx(Tensor self) -> Tensor as SpecialErfcxBackward0 {
        self => grad.mul(&self.mul(2)?.mul(result)?.sub(FRAC_2_SQRT_PI)?),
    }
    special_log_ndtr(Tensor self) -> Tensor as SpecialLogNdtrBackward0 {
        self => {
            let tail = aten::special_erfcx(&self.mul(-FRAC_1_SQRT_2)?)?;
            grad.div(&tail)?.mul(FRAC_2_SQRT_PI * FRAC_1_SQRT_2)
        },
    }
    special_ndtri(Tensor self) -> Tensor as SpecialNdtriBackward0 {
        self => grad.mul(&aten::square(result)?.div(2)?.exp()?.mul(2.0 * SQRT_2 / FRAC_2_SQRT_PI)?),
    }
    special_xlog1py(Tensor self, Tensor other) -> Tensor as SpecialXlog1PyBackward0 {
        self => {
            let is_flat = aten::logical_and(&aten::eq_Scalar(self, 0.into())?, &aten::le_Scalar(other, (-1).into())?)?;
            aten::masked_fill_Scalar(&aten::special_xlog1py(grad, other)?, &is_flat, 0.into())
        },
        other => grad.mul(&self.div(&other.add(1)?)?),
    }
    special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor as SpecialXlog1PyBackward1 {
        other => grad.mul(self)?.div(&other.add(1)?),
    }
    special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor as SpecialXlog1PyBackward2 {
        self => {
            let slope = aten::special_xlog1py_other_scalar(grad, other)?;
            let is_flat = other.cast::<f64>() <= -1.0;
            match is_flat {
                true => aten::masked_fill_Scalar(&slope, &aten::eq_Scalar(self, 0.into())?, 0.into()),
                false => Ok(slope),
            }
        },
    }
    // There is no derivative with respect to the exponent.
    special_zeta(Tensor self, Tensor other) -> Tensor as SpecialZetaBackward0 {
        self => without_derivative("zeta"),
        other => grad.mul(&self.neg()?)?.mul(&aten::special_zeta(&self.add(1)?, other)?),
    }
    special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor as SpecialZetaBackward1 {
        other => {
            let order: f64 = self.to()?;
            grad.mul(-order)?.mul(&aten::special_zeta_self_scalar(Scalar::from(order + 1.0), other)?)
        },
    }
    special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor as SpecialZetaBackward2 {
        self => without_derivative("zeta"),
    }
    // There is no derivative with respect to the shape.
    #[in_place]
    igamma(Tensor self, Tensor other) -> Tensor as IgammaBackward0 {
        self => without_derivative("igamma"),
        other => grad.mul(&gamma_density(self, other)?),
    }
    #[in_place]
    igammac(Tensor self, Tensor other) -> Tensor as IgammacBackward0 {
        self => without_derivative("igammac"),
        other => grad.mul(&gamma_density(self, other)?.neg()?),
    }
    #[in_place]
    mvlgamma(Tensor self, int p) -> Tensor as MvlgammaBackward0 {
        self => {
            let slopes = aten::digamma(&of_each_variable("MvlgammaBackward0", self, p)?)?;
            grad.mul(&aten::sum_dim_IntList(&slopes, Some(&[-1]))?)
        },
    }
}

/// The gradient of `copysign`: that of the result, with its sign flipped where `copysign` flipped that of the
/// magnitude.
fn turned(grad: &Tensor, this: &Tensor, result: &Tensor) -> Result<Tensor> {
    let ratio = aten::masked_fill_Scalar(&result.div(this)?, &aten::eq_Scalar(this, 0.into())?, 0.into())?;
    grad.mul(&ratio)
}

/// The density of the gamma distribution: the derivative of `igamma` with respect to its second argument.
fn gamma_density(shape: &Tensor, place: &Tensor) -> Result<Tensor> {
    let power = aten::xlogy_Tensor(&shape.sub(1)?, place)?;
    power.sub(place)?.sub(&aten::lgamma(shape)?)?.exp()
}

fn without_derivative(function: &str) -> Result<Tensor> {
    bail!(NotSupported, "the derivative of `{function}` for its first argument is not implemented")
}
