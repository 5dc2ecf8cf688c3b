//! Mathematical functions, as compositions of other operators.

use torch_library::prelude::*;

use crate::arguments::check_exponent;
use crate::aten;

pub(crate) mod complex;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod explicit {
    use super::*;

    fn isinf(this: &Tensor) -> Result<Tensor> {
        match this.dtype().is_differentiable() {
            true => aten::eq_Scalar(&aten::abs(this)?, f64::INFINITY.into()),
            false => aten::full_like::with(this, false.into()).dtype(Some(DType::Bool)).call(),
        }
    }

    fn ldexp_Tensor(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        let dtype = this.dtype();
        if !dtype.is_floating_point() || !(other.dtype().is_integer() || other.dtype() == DType::Bool) {
            return aten::mul_Tensor(this, &aten::pow_Scalar(2.0.into(), other)?);
        }
        ensure!(
            other.dtype() != DType::Bool,
            DType,
            "{}: exponents of bool, expected numbers",
            aten::ldexp_Tensor::NAME
        );
        // In three steps, none of which overflows unless the result does.
        let exponent = aten::clamp::call(
            &aten::to_dtype(other, DType::Float64)?,
            Some((-2100).into()),
            Some(2100.into()),
        )?;
        let third = aten::floor(&aten::div_Scalar(&exponent, 3.into())?)?;
        let rest = aten::sub_Tensor(&aten::sub_Tensor(&exponent, &third)?, &third)?;
        let powers = [third.clone(), third, rest];
        let mut product = aten::to_dtype(this, DType::Float64)?;
        for power in &powers {
            product = aten::mul_Tensor(&product, &aten::pow_Scalar(2.0.into(), power)?)?;
        }
        aten::to_dtype(&product, dtype)
    }

    fn fmod_Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::fmod_Tensor(this, &Tensor::wrapped_number(other))
    }

    fn remainder_Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::remainder_Tensor(this, &Tensor::wrapped_number(other))
    }

    fn remainder_Scalar_Tensor(this: Scalar, other: &Tensor) -> Result<Tensor> {
        aten::remainder_Tensor(&Tensor::wrapped_number(this), other)
    }

    fn pow__Scalar(this: &mut Tensor, exponent: Scalar) -> Result<&mut Tensor> {
        check_exponent(aten::pow__Scalar::NAME, this, exponent)?;
        if (this.dtype(), exponent) == (DType::Bool, Scalar::Bool(true)) {
            return Ok(this); // the only power of a boolean that is one
        }
        aten::pow__Tensor(this, &Tensor::wrapped_number(exponent))
    }

    fn pow_Scalar(this: Scalar, exponent: &Tensor) -> Result<Tensor> {
        let exponent = aten::contiguous(exponent)?; // the result is contiguous, whatever the strides of the exponent
        aten::pow_Tensor_Tensor(&Tensor::wrapped_number(this), &exponent)
    }

    fn floor_divide(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        aten::div_Tensor_mode(this, other, Some("floor"))
    }

    fn floor_divide_Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::div_Scalar_mode(this, other, Some("floor"))
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn positive(this: &Tensor) -> Result<Tensor> {
        ensure!(this.dtype() != DType::Bool, DType, "{}: expected numbers, got bool", aten::positive::NAME);
        Ok(this.clone())
    }

    fn isfinite(this: &Tensor) -> Result<Tensor> {
        if !this.dtype().is_floating_point() && !this.dtype().is_complex() {
            return aten::ones_like::with(this).dtype(Some(DType::Bool)).call();
        }
        let is_any = aten::logical_or(&aten::isnan(this)?, &aten::isinf(this)?)?;
        aten::logical_not(&is_any)
    }
}
