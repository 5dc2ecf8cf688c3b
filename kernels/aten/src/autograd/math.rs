//! Derivatives of further element-wise functions.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};

use torch_library::derivatives;
use torch_library::prelude::*;

use super::binary::{conj, conj_of};
use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

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
        self => grad.mul(&conj(&aten::rsqrt(&self.mul(self)?.sub(1)?)?)?),
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

    // Where both operands are equal, each gets half of the gradient.
    maximum(Tensor self, Tensor other) -> Tensor as MaximumBackward0 {
        self => larger(grad, self, other),
        other => larger(grad, other, self),
    }
    minimum(Tensor self, Tensor other) -> Tensor as MinimumBackward0 {
        self => larger(grad, other, self),
        other => larger(grad, self, other),
    }
    fmax(Tensor self, Tensor other) -> Tensor as FmaxBackward0 {
        self => taken(grad, self, other, aten::lt_Tensor(self, other)?),
        other => taken(grad, other, self, aten::gt_Tensor(self, other)?),
    }
    fmin(Tensor self, Tensor other) -> Tensor as FminBackward0 {
        self => taken(grad, self, other, aten::gt_Tensor(self, other)?),
        other => taken(grad, other, self, aten::lt_Tensor(self, other)?),
    }
    ldexp.Tensor(Tensor self, Tensor other) -> Tensor as LdexpBackward0 {
        self => grad.mul(&conj(&aten::pow_Scalar(Scalar::from(2.0), other)?)?),
        other => grad.mul(&conj(&result.mul(std::f64::consts::LN_2)?)?),
    }
    ldexp_(Tensor(a!) self, Tensor other) -> Tensor(a!) as LdexpBackward0 {
        self => grad.mul(&conj(&aten::pow_Scalar(Scalar::from(2.0), other)?)?),
        other => grad.mul(&conj(&result.mul(std::f64::consts::LN_2)?)?),
    }
    complex(Tensor real, Tensor imag) -> Tensor as ComplexBackward0 {
        real => aten::real(grad),
        imag => aten::imag(grad),
    }
    // The radial and the tangential component.
    polar(Tensor abs, Tensor angle) -> Tensor as PolarBackward0 {
        abs => {
            let direction = aten::polar(&aten::ones_like(abs)?, angle)?;
            aten::real(&grad.mul(&conj(&direction)?)?)
        },
        angle => aten::imag(&grad.mul(&conj(result)?)?),
    }
    #[in_place]
    atan2(Tensor self, Tensor other) -> Tensor as Atan2Backward0 {
        self => grad.mul(&other.div(&self.mul(self)?.add(&other.mul(other)?)?)?),
        other => grad.mul(&self.neg()?.div(&self.mul(self)?.add(&other.mul(other)?)?)?),
    }
    #[in_place]
    fmod.Tensor(Tensor self, Tensor other) -> Tensor as FmodBackward1 {
        self => grad.clone(),
        other => grad.neg()?.mul(&aten::div_Tensor_mode(self, other, Some("trunc"))?),
    }
    #[in_place]
    fmod.Scalar(Tensor self, Scalar other) -> Tensor as FmodBackward0 {
        self => grad.clone(),
    }
    #[in_place]
    remainder.Tensor(Tensor self, Tensor other) -> Tensor as RemainderBackward1 {
        self => grad.clone(),
        other => grad.neg()?.mul(&aten::div_Tensor_mode(self, other, Some("floor"))?),
    }
    #[in_place]
    remainder.Scalar(Tensor self, Scalar other) -> Tensor as RemainderBackward0 {
        self => grad.clone(),
    }

    pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor as PowBackward0 {
        self => power_base(grad, self, exponent),
    }
    pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!) as PowBackward0 {
        self => power_base(grad, self, exponent),
    }
    pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor as PowBackward1 {
        self => power_of_tensor(grad, self, exponent),
        exponent => power_exponent(grad, self, exponent, result),
    }
    pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!) as PowBackward1 {
        self => power_of_tensor(grad, self, exponent),
        exponent => power_exponent(grad, self, exponent, result),
    }
    pow.Scalar(Scalar self, Tensor exponent) -> Tensor as PowBackward2 {
        exponent => {
            let (base, zero) = (self.cast::<Complex64>(), Scalar::from(0));
            let logarithm = match base.im == 0.0 && base.re >= 0.0 {
                true => Scalar::from(base.re.ln()),
                false if result.dtype().is_complex() => Scalar::from(base.ln()),
                false => Scalar::from(f64::NAN),
            };
            let slope = grad.mul(&conj(&result.mul(logarithm)?)?)?;
            let flat = base == Complex64::default() && !exponent.dtype().is_complex();
            if flat { zero_where(&aten::ge_Scalar(exponent, zero)?, &slope) } else { Ok(slope) }
        },
    }

    #[in_place]
    lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor as LerpBackward0 {
        self => grad.sub(&grad.mul(conj_of(weight))?),
        end => grad.mul(conj_of(weight)),
    }
    #[in_place]
    lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor as LerpBackward1 {
        self => grad.mul(&conj(&one_minus(weight)?)?),
        end => grad.mul(&conj(weight)?),
        weight => grad.mul(&conj(&end.sub(self)?)?),
    }
    #[in_place]
    addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor as AddcmulBackward0 {
        self => grad.clone(),
        tensor1 => grad.mul(&conj(&tensor2.mul(value)?)?),
        tensor2 => grad.mul(&conj(&tensor1.mul(value)?)?),
    }
    #[in_place]
    addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor as AddcdivBackward0 {
        self => grad.clone(),
        tensor1 => grad.mul(conj_of(value))?.div(&conj(tensor2)?),
        tensor2 => grad.neg()?.mul(&conj(&tensor1.mul(value)?.div(&tensor2.mul(tensor2)?)?)?),
    }

    isnan(Tensor self) -> Tensor as non_differentiable;
    isinf(Tensor self) -> Tensor as non_differentiable;
}

fn one_minus(x: &Tensor) -> Result<Tensor> {
    aten::rsub_Scalar(x, Scalar::from(1))
}

fn zero_where(condition: &Tensor, grad: &Tensor) -> Result<Tensor> {
    aten::where_ScalarSelf(condition, Scalar::from(0), grad)
}

/// The gradient of `this` as an operand of a maximum.
fn larger(grad: &Tensor, this: &Tensor, other: &Tensor) -> Result<Tensor> {
    zero_where(&aten::lt_Tensor(this, other)?, &halved(grad, this, other)?)
}

/// The gradient of one of two operands: zero where the other one was taken, because this one is worse or NaN.
fn taken(grad: &Tensor, this: &Tensor, other: &Tensor, is_worse: Tensor) -> Result<Tensor> {
    zero_where(&aten::logical_or(&is_worse, &aten::isnan(this)?)?, &halved(grad, this, other)?)
}

/// The gradient, halved where both operands are equal.
fn halved(grad: &Tensor, this: &Tensor, other: &Tensor) -> Result<Tensor> {
    aten::where_self(&aten::eq_Tensor(this, other)?, &grad.div(2)?, grad)
}

fn power_base(grad: &Tensor, this: &Tensor, exponent: Scalar) -> Result<Tensor> {
    let (power, one) = (exponent.cast::<Complex64>(), Complex64::new(1.0, 0.0));
    if power == Complex64::default() {
        return aten::zeros_like(grad);
    }
    let number = |z: Complex64| if z.im == 0.0 { Scalar::from(z.re) } else { Scalar::from(z) };
    let slope = aten::pow_Tensor_Scalar(this, number(power - one))?.mul(number(power))?;
    grad.mul(&conj(&slope)?)
}

fn power_of_tensor(grad: &Tensor, this: &Tensor, exponent: &Tensor) -> Result<Tensor> {
    let slope = exponent.mul(&aten::pow_Tensor_Tensor(this, &exponent.sub(1)?)?)?;
    zero_where(&aten::eq_Scalar(exponent, Scalar::from(0))?, &grad.mul(&conj(&slope)?)?)
}

fn power_exponent(grad: &Tensor, this: &Tensor, exponent: &Tensor, result: &Tensor) -> Result<Tensor> {
    let is_zero = aten::eq_Scalar(this, Scalar::from(0))?;
    let rises = match exponent.dtype().is_complex() {
        true => is_zero.clone(), // complex exponents have no order
        false => aten::ge_Scalar(exponent, Scalar::from(0))?,
    };
    let flat = aten::logical_and(&is_zero, &rises)?;
    // The logarithm is computed in the dtype of the power.
    let slope = aten::to_dtype(this, result.dtype())?.log()?;
    zero_where(&flat, &grad.mul(&conj(&result.mul(&slope)?)?)?)
}
