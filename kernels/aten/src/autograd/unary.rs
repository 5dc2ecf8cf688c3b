//! Derivatives of unary element-wise functions.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10, PI};

use torch_library::derivatives;
use torch_library::prelude::*;

use super::binary::conj;
use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    #[in_place]
    neg(Tensor self) -> Tensor as NegBackward0 {
        self => grad.neg(),
    }
    #[in_place]
    abs(Tensor self) -> Tensor as AbsBackward0 {
        self => grad.mul(&direction(self)?),
    }
    angle(Tensor self) -> Tensor as AngleBackward0 {
        self => angle_grad(grad, self),
    }
    _conj_physical(Tensor self) -> Tensor as ConjPhysicalBackward0 {
        self => conj(grad),
    }
    conj_physical_(Tensor(a!) self) -> Tensor(a!) as ConjPhysicalBackward1 {
        self => conj(grad),
    }
    #[in_place]
    sgn(Tensor self) -> Tensor as SgnBackward0 {
        self => direction_grad(grad, self, result),
    }
    #[in_place]
    sign(Tensor self) -> Tensor as SignBackward0 {
        self => aten::zeros_like(grad),
    }
    logical_not(Tensor self) -> Tensor as non_differentiable;
    #[in_place]
    exp(Tensor self) -> Tensor as ExpBackward0 {
        self => grad.mul(&conj(result)?),
    }
    #[in_place]
    exp2(Tensor self) -> Tensor as Exp2Backward0 {
        self => grad.mul(&conj(result)?)?.mul(LN_2),
    }
    #[in_place]
    log(Tensor self) -> Tensor as LogBackward0 {
        self => grad.div(&conj(self)?),
    }
    #[in_place]
    sqrt(Tensor self) -> Tensor as SqrtBackward0 {
        self => grad.div(&conj(result)?.mul(2)?),
    }
    #[in_place]
    rsqrt(Tensor self) -> Tensor as RsqrtBackward0 {
        self => grad.mul(-0.5)?.mul(&conj(&aten::pow_Tensor_Scalar(result, 3.into())?)?),
    }
    #[in_place]
    reciprocal(Tensor self) -> Tensor as ReciprocalBackward0 {
        self => grad.neg()?.mul(&conj(&result.mul(result)?)?),
    }
    #[in_place]
    sin(Tensor self) -> Tensor as SinBackward0 {
        self => grad.mul(&conj(&aten::cos(self)?)?),
    }
    #[in_place]
    cos(Tensor self) -> Tensor as CosBackward0 {
        self => grad.mul(&conj(&aten::sin(self)?)?.neg()?),
    }
    #[in_place]
    tan(Tensor self) -> Tensor as TanBackward0 {
        self => grad.mul(&conj(&result.mul(result)?)?.add(1)?),
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
    tanh(Tensor self) -> Tensor as TanhBackward0 {
        self => aten::tanh_backward(grad, result),
    }
    #[in_place]
    sigmoid(Tensor self) -> Tensor as SigmoidBackward0 {
        self => aten::sigmoid_backward(grad, result),
    }
    logit(Tensor self, float? eps=None) -> Tensor as LogitBackward0 {
        self => {
            let eps = eps.filter(|eps| *eps >= 0.0); // a negative number stands for none
            let low = eps.unwrap_or(0.0);
            let steep = grad.div(&self.mul(&aten::rsub_Scalar(self, Scalar::from(1))?)?)?;
            let above = aten::ge_Scalar(self, Scalar::from(low))?;
            let inside = aten::logical_and(&above, &aten::le_Scalar(self, Scalar::from(1.0 - low))?)?;
            aten::where_ScalarOther(&inside, &steep, Scalar::from(if eps.is_some() { 0.0 } else { f64::NAN }))
        },
    }
    #[in_place]
    relu(Tensor self) -> Tensor as ReluBackward0 {
        self => aten::threshold_backward(grad, result, Scalar::from(0)),
    }
    #[in_place]
    gelu(Tensor self, *, str approximate="none") -> Tensor as GeluBackward0 {
        self => aten::gelu_backward::call(grad, self, approximate),
    }

    // At a scalar bound, the gradient is zero.
    #[in_place]
    clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor as ClampBackward1 {
        self => clamp_grad(grad, self, min, max),
    }
    #[in_place]
    clamp_min(Tensor self, Scalar min) -> Tensor as ClampMinBackward0 {
        self => aten::where_ScalarOther(&aten::gt_Scalar(self, min)?, grad, Scalar::from(0)),
    }
    #[in_place]
    clamp_max(Tensor self, Scalar max) -> Tensor as ClampMaxBackward0 {
        self => aten::where_ScalarOther(&aten::lt_Scalar(self, max)?, grad, Scalar::from(0)),
    }
    #[in_place]
    clamp_min.Tensor(Tensor self, Tensor min) -> Tensor as ClampMinBackward1 {
        self => clamp::input_grad(grad, self, Some(min), None),
        min => clamp::min_grad(grad, self, Some(min), None),
    }
    #[in_place]
    clamp_max.Tensor(Tensor self, Tensor max) -> Tensor as ClampMaxBackward1 {
        self => clamp::input_grad(grad, self, None, Some(max)),
        max => clamp::max_grad(grad, self, None, Some(max)),
    }
    clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor as ClampBackward0 {
        self => clamp::input_grad(grad, self, min, max),
        min => clamp::min_grad(grad, self, min, max),
        max => clamp::max_grad(grad, self, min, max),
    }
    frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent) as FrexpBackward0 {
        self => grad.div(&aten::exp2(exponent)?),
        exponent => non_differentiable,
    }
    #[in_place]
    nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor as NanToNumBackward0 {
        self => grad.mul(&aten::isfinite(self)?),
    }
    #[in_place]
    expm1(Tensor self) -> Tensor as Expm1Backward0 {
        self => grad.mul(&conj(result)?.add(1)?),
    }
    #[in_place]
    log1p(Tensor self) -> Tensor as Log1PBackward0 {
        self => grad.div(&conj(self)?.add(1)?),
    }
    #[in_place]
    log2(Tensor self) -> Tensor as Log2Backward0 {
        self => grad.div(&conj(self)?.mul(LN_2)?),
    }
    #[in_place]
    log10(Tensor self) -> Tensor as Log10Backward0 {
        self => grad.div(&conj(self)?.mul(LN_10)?),
    }
    #[in_place]
    asin(Tensor self) -> Tensor as AsinBackward0 {
        self => grad.mul(&conj(&aten::rsqrt(&one_minus(&self.mul(self)?)?)?)?),
    }
    #[in_place]
    acos(Tensor self) -> Tensor as AcosBackward0 {
        self => grad.neg()?.mul(&conj(&aten::rsqrt(&one_minus(&self.mul(self)?)?)?)?),
    }
    #[in_place]
    atan(Tensor self) -> Tensor as AtanBackward0 {
        self => grad.div(&conj(&self.mul(self)?)?.add(1)?),
    }
    #[in_place]
    sinh(Tensor self) -> Tensor as SinhBackward0 {
        self => grad.mul(&conj(&aten::cosh(self)?)?),
    }
    #[in_place]
    cosh(Tensor self) -> Tensor as CoshBackward0 {
        self => grad.mul(&conj(&aten::sinh(self)?)?),
    }
    #[in_place]
    asinh(Tensor self) -> Tensor as AsinhBackward0 {
        self => grad.mul(&conj(&aten::rsqrt(&self.mul(self)?.add(1)?)?)?),
    }
    #[in_place]
    acosh(Tensor self) -> Tensor as AcoshBackward0 {
        self => grad.mul(&conj(&acosh_slope(self)?)?),
    }
    #[in_place]
    atanh(Tensor self) -> Tensor as AtanhBackward0 {
        self => grad.div(&conj(&one_minus(&self.mul(self)?)?)?),
    }
    #[in_place]
    erf(Tensor self) -> Tensor as ErfBackward0 {
        self => grad.mul(&self.mul(self)?.neg()?.exp()?.mul(FRAC_2_SQRT_PI)?),
    }
    #[in_place]
    erfc(Tensor self) -> Tensor as ErfcBackward0 {
        self => grad.mul(&self.mul(self)?.neg()?.exp()?.mul(-FRAC_2_SQRT_PI)?),
    }
    #[in_place]
    square(Tensor self) -> Tensor as PowBackward0 {
        self => grad.mul(&conj(self)?.mul(2)?),
    }

    // Step functions are constant between their steps.
    #[in_place]
    floor(Tensor self) -> Tensor as FloorBackward0 {
        self => aten::zeros_like(grad),
    }
    #[in_place]
    ceil(Tensor self) -> Tensor as CeilBackward0 {
        self => aten::zeros_like(grad),
    }
    #[in_place]
    round(Tensor self) -> Tensor as RoundBackward0 {
        self => aten::zeros_like(grad),
    }
    #[in_place]
    round.decimals(Tensor self, *, int decimals) -> Tensor as RoundBackward1 {
        self => aten::zeros_like(grad),
    }
    #[in_place]
    trunc(Tensor self) -> Tensor as TruncBackward0 {
        self => aten::zeros_like(grad),
    }
    #[in_place]
    frac(Tensor self) -> Tensor as FracBackward0 {
        self => grad.clone(),
    }
    isnan(Tensor self) -> Tensor as non_differentiable;
    isinf(Tensor self) -> Tensor as non_differentiable;
    isposinf(Tensor self) -> Tensor as non_differentiable;
    isneginf(Tensor self) -> Tensor as non_differentiable;
    signbit(Tensor self) -> Tensor as non_differentiable;
}

mod clamp;

/// The direction of each number: `x / |x|` of a complex one, the sign of a real one.
pub(super) fn direction(x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_complex() { aten::sgn(x) } else { aten::sign(x) }
}

/// Only a change perpendicular to a number turns its direction; a change of its magnitude does not.
fn direction_grad(grad: &Tensor, this: &Tensor, direction: &Tensor) -> Result<Tensor> {
    if !this.dtype().is_complex() {
        return aten::zeros_like(grad);
    }
    let along = direction.mul(direction)?.mul(&conj(grad)?)?;
    let slope = grad.sub(&along)?.div(&this.abs()?.mul(2)?)?;
    aten::where_ScalarSelf(&aten::eq_Scalar(this, Scalar::from(0))?, Scalar::from(0), &slope)
}

/// Only the component perpendicular to a number changes its angle, inversely to its magnitude; real numbers have no
/// such component.
fn angle_grad(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    if !this.dtype().is_complex() {
        return aten::zeros_like(this);
    }
    let squares = aten::square(&this.abs()?)?;
    let slope = grad.mul(&this.div(&squares)?)?.mul(Complex64::I)?;
    aten::where_ScalarSelf(&aten::eq_Scalar(this, Scalar::from(0))?, Scalar::from(0), &slope)
}

fn clamp_grad(grad: &Tensor, this: &Tensor, min: Option<Scalar>, max: Option<Scalar>) -> Result<Tensor> {
    let inside = match (min, max) {
        (Some(min), Some(max)) => aten::gt_Scalar(this, min)?.mul(&aten::lt_Scalar(this, max)?)?,
        (Some(min), None) => aten::gt_Scalar(this, min)?,
        (None, Some(max)) => aten::lt_Scalar(this, max)?,
        (None, None) => return Ok(grad.clone()),
    };
    aten::where_ScalarOther(&inside, grad, Scalar::from(0))
}

/// The derivative of `acosh`. Of a complex number, the root of `x * x - 1` would be on the wrong branch in half of the
/// plane.
fn acosh_slope(x: &Tensor) -> Result<Tensor> {
    if !x.dtype().is_complex() {
        return aten::rsqrt(&x.mul(x)?.sub(1)?);
    }
    aten::rsqrt(&x.add(1)?)?.mul(&aten::rsqrt(&x.sub(1)?)?)
}

pub(super) fn one_minus(x: &Tensor) -> Result<Tensor> {
    aten::rsub_Scalar(x, Scalar::from(1))
}
