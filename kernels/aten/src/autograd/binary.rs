//! Derivatives of arithmetic, powers, remainders, extremes and comparisons; those of other functions are in
//! `functions.rs`. The engine reduces the gradients of operands that were broadcast.

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

mod functions;

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
        self => first_taken(grad, self, other, aten::lt_Tensor(self, other)?),
        other => taken(grad, other, self, aten::gt_Tensor(self, other)?),
    }
    fmin(Tensor self, Tensor other) -> Tensor as FminBackward0 {
        self => first_taken(grad, self, other, aten::gt_Tensor(self, other)?),
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
    #[in_place]
    atan2(Tensor self, Tensor other) -> Tensor as Atan2Backward0 {
        self => of_angle(grad, other, self, other),
        other => of_angle(grad, &self.neg()?, self, other),
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
    // In place the result may be of a floating-point type, and then it requires a gradient, which is zero everywhere.
    eq_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!) as EqBackward1 {
        self => aten::zeros_like(grad),
        other => aten::new_zeros(grad, other.sizes()),
    }
    eq_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!) as EqBackward0 {
        self => aten::zeros_like(grad),
    }
    ne_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!) as NeBackward1 {
        self => aten::zeros_like(grad),
        other => aten::new_zeros(grad, other.sizes()),
    }
    ne_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!) as NeBackward0 {
        self => aten::zeros_like(grad),
    }
    lt_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!) as LtBackward1 {
        self => aten::zeros_like(grad),
        other => aten::new_zeros(grad, other.sizes()),
    }
    lt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!) as LtBackward0 {
        self => aten::zeros_like(grad),
    }
    le_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!) as LeBackward1 {
        self => aten::zeros_like(grad),
        other => aten::new_zeros(grad, other.sizes()),
    }
    le_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!) as LeBackward0 {
        self => aten::zeros_like(grad),
    }
    gt_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!) as GtBackward1 {
        self => aten::zeros_like(grad),
        other => aten::new_zeros(grad, other.sizes()),
    }
    gt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!) as GtBackward0 {
        self => aten::zeros_like(grad),
    }
    ge_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!) as GeBackward1 {
        self => aten::zeros_like(grad),
        other => aten::new_zeros(grad, other.sizes()),
    }
    ge_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!) as GeBackward0 {
        self => aten::zeros_like(grad),
    }
    isin.Tensor_Tensor(
        Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False
    ) -> Tensor as non_differentiable;
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

fn zero_where(condition: &Tensor, grad: &Tensor) -> Result<Tensor> {
    aten::where_ScalarSelf(condition, Scalar::from(0), grad)
}

/// `grad * part / (y * y + x * x)`, and zero at the origin, where an angle has no slope.
fn of_angle(grad: &Tensor, part: &Tensor, y: &Tensor, x: &Tensor) -> Result<Tensor> {
    let square = y.mul(y)?.add(&x.mul(x)?)?;
    let reciprocal = zero_where(&aten::eq_Scalar(&square, 0.into())?, &aten::reciprocal(&square)?)?;
    grad.mul(part)?.mul(&reciprocal)
}

/// The gradient of `this` as an operand of a maximum.
fn larger(grad: &Tensor, this: &Tensor, other: &Tensor) -> Result<Tensor> {
    zero_where(&aten::lt_Tensor(this, other)?, &halved(grad, this, other)?)
}

/// The gradient of one of two operands: zero where the other one was taken, because this one is worse or NaN.
fn taken(grad: &Tensor, this: &Tensor, other: &Tensor, is_worse: Tensor) -> Result<Tensor> {
    zero_where(&aten::logical_or(&is_worse, &aten::isnan(this)?)?, &halved(grad, this, other)?)
}

/// The gradient of the first of two operands, which is also the one that is taken where both are NaN.
fn first_taken(grad: &Tensor, this: &Tensor, other: &Tensor, is_worse: Tensor) -> Result<Tensor> {
    let has_gradient = aten::logical_or(&aten::isnan(other)?, &aten::logical_not(&is_worse)?)?;
    let only_this_is_nan = aten::logical_and(&aten::isnan(this)?, &aten::logical_not(&aten::isnan(other)?)?)?;
    let is_zero = aten::logical_or(&only_this_is_nan, &aten::logical_not(&has_gradient)?)?;
    zero_where(&is_zero, &halved(grad, this, other)?)
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
    let zero = Scalar::from(0);
    let rises = match exponent.dtype().is_complex() {
        true => aten::logical_and(
            &aten::eq_Scalar(&aten::imag(exponent)?, zero)?,
            &aten::ge_Scalar(&aten::real(exponent)?, zero)?,
        )?,
        false => aten::ge_Scalar(exponent, zero)?,
    };
    let flat = aten::logical_and(&is_zero, &rises)?;
    // The logarithm is computed in the dtype of the power.
    let slope = aten::to_dtype(this, result.dtype())?.log()?;
    zero_where(&flat, &grad.mul(&conj(&result.mul(&slope)?)?)?)
}
