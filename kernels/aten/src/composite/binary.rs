//! Arithmetic, powers and functions of two numbers with a scalar, as a wrapped-number tensor, which has lower priority
//! in type promotion; and powers in double precision.

use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use crate::arguments::check_exponent;
use crate::aten;

mod compare;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod kernels {
    use super::*;

    fn add_Scalar(this: &Tensor, other: Scalar, alpha: Scalar) -> Result<Tensor> {
        aten::add_Tensor::call(this, &Tensor::wrapped_number(other), alpha)
    }

    fn add__Scalar(this: &mut Tensor, other: Scalar, alpha: Scalar) -> Result<&mut Tensor> {
        aten::add__Tensor::call(this, &Tensor::wrapped_number(other), alpha)
    }

    fn sub_Scalar(this: &Tensor, other: Scalar, alpha: Scalar) -> Result<Tensor> {
        aten::sub_Tensor::call(this, &Tensor::wrapped_number(other), alpha)
    }

    fn sub__Scalar(this: &mut Tensor, other: Scalar, alpha: Scalar) -> Result<&mut Tensor> {
        aten::sub__Tensor::call(this, &Tensor::wrapped_number(other), alpha)
    }

    fn rsub_Tensor(this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<Tensor> {
        aten::sub_Tensor::call(other, this, alpha)
    }

    fn rsub_Scalar(this: &Tensor, other: Scalar, alpha: Scalar) -> Result<Tensor> {
        aten::sub_Tensor::call(&Tensor::wrapped_number(other), this, alpha)
    }

    fn mul_Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::mul_Tensor::call(this, &Tensor::wrapped_number(other))
    }

    fn mul__Scalar(this: &mut Tensor, other: Scalar) -> Result<&mut Tensor> {
        // PyTorch multiplies the number by the tensor here, and only a second factor is not rounded.
        let factor = match_dtype!(this.dtype(), T: Half => match other {
            Scalar::Complex(_) => other,
            number => Scalar::from(number.cast::<T>().cast::<f64>()),
        }, else => other);
        aten::mul__Tensor::call(this, &Tensor::wrapped_number(factor))
    }

    fn div_Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::div_Tensor::call(this, &Tensor::wrapped_number(other))
    }

    fn div__Scalar(this: &mut Tensor, other: Scalar) -> Result<&mut Tensor> {
        aten::div__Tensor::call(this, &Tensor::wrapped_number(other))
    }

    fn div_Scalar_mode(this: &Tensor, other: Scalar, rounding_mode: Option<&str>) -> Result<Tensor> {
        aten::div_Tensor_mode::call(this, &Tensor::wrapped_number(other), rounding_mode)
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
        if dtype != DType::Float64 {
            // As `float64`, powers of two between the least and the largest number of the result are exact.
            let exponent = aten::to_dtype(other, DType::Float64)?;
            let power = aten::exp2(&aten::clamp::call(&exponent, Some((-400).into()), Some(400.into()))?)?;
            return aten::to_dtype(&aten::mul_Tensor(&aten::to_dtype(this, DType::Float64)?, &power)?, dtype);
        }
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
            product = aten::mul_Tensor(&product, &aten::exp2(power)?)?; // exact, of whole numbers
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

    fn copysign_Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::copysign_Tensor(this, &Tensor::wrapped_number(other))
    }

    fn xlogy_Scalar_Other(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::xlogy_Tensor(this, &Tensor::wrapped_number(other))
    }

    fn xlogy_Scalar_Self(this: Scalar, other: &Tensor) -> Result<Tensor> {
        aten::xlogy_Tensor(&Tensor::wrapped_number(this), other)
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

    fn _add_relu_Tensor(this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<Tensor> {
        positive(aten::_add_relu_Tensor::NAME, this, &aten::add_Tensor::call(this, other, alpha)?)
    }

    fn _add_relu_Scalar(this: &Tensor, other: Scalar, alpha: Scalar) -> Result<Tensor> {
        positive(aten::_add_relu_Scalar::NAME, this, &aten::add_Scalar::call(this, other, alpha)?)
    }

    fn float_power_Tensor_Tensor(this: &Tensor, exponent: &Tensor) -> Result<Tensor> {
        let dtype = widest(this.dtype().is_complex() || exponent.dtype().is_complex());
        aten::pow_Tensor_Tensor(&aten::to_dtype(this, dtype)?, &aten::to_dtype(exponent, dtype)?)
    }

    fn float_power_Tensor_Scalar(this: &Tensor, exponent: Scalar) -> Result<Tensor> {
        let (dtype, exponent) = with_exponent(this, exponent)?;
        aten::pow_Tensor_Scalar(&aten::to_dtype(this, dtype)?, exponent)
    }

    fn float_power_Scalar(this: Scalar, exponent: &Tensor) -> Result<Tensor> {
        let (dtype, this) = with_exponent(exponent, this)?;
        aten::pow_Scalar(this, &aten::to_dtype(exponent, dtype)?)
    }

    fn float_power__Tensor<'t>(this: &'t mut Tensor, exponent: &Tensor) -> Result<&'t mut Tensor> {
        let dtype = widest(this.dtype().is_complex() || exponent.dtype().is_complex());
        check_widest(aten::float_power__Tensor::NAME, this, dtype)?;
        aten::pow__Tensor(this, &aten::to_dtype(exponent, dtype)?)
    }

    fn float_power__Scalar(this: &mut Tensor, exponent: Scalar) -> Result<&mut Tensor> {
        let (dtype, exponent) = with_exponent(this, exponent)?;
        check_widest(aten::float_power__Scalar::NAME, this, dtype)?;
        aten::pow__Scalar(this, exponent)
    }
}

/// The dtype in which `float_power` computes.
fn widest(is_complex: bool) -> DType {
    if is_complex { DType::Complex128 } else { DType::Float64 }
}

/// The dtype of the `float_power` of a tensor and a number, and the number in it.
fn with_exponent(tensor: &Tensor, number: Scalar) -> Result<(DType, Scalar)> {
    let is_complex = tensor.dtype().is_complex() || matches!(number, Scalar::Complex(_));
    Ok((widest(is_complex), if is_complex { number } else { Scalar::Float(number.to()?) }))
}

/// # Errors
/// The tensor that is written has another dtype than the result.
fn check_widest(operator: &str, this: &Tensor, dtype: DType) -> Result<()> {
    ensure!(
        this.dtype() == dtype,
        DType,
        "{operator}: a result of {dtype} cannot be written to a tensor of {}",
        this.dtype()
    );
    Ok(())
}

/// Zero where a sum is not positive, or not a number.
fn positive(operator: &str, this: &Tensor, sum: &Tensor) -> Result<Tensor> {
    use DType::{Float32, Float64, Int8, Int16, Int32, Int64};
    for dtype in [this.dtype(), sum.dtype()] {
        let is_known = matches!(dtype, Float32 | Float64 | Int8 | Int16 | Int32 | Int64);
        ensure!(is_known, DType, "{operator} is not implemented for {dtype}");
    }
    aten::where_self(&aten::gt_Scalar(sum, 0.into())?, sum, &aten::zeros_like(sum)?)
}
