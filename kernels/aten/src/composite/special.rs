//! Special functions, as compositions of other operators.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod explicit {
    use super::*;

    fn copysign_Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::copysign_Tensor(this, &Tensor::wrapped_number(other))
    }

    fn xlogy_Scalar_Other(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::xlogy_Tensor(this, &Tensor::wrapped_number(other))
    }

    fn xlogy_Scalar_Self(this: Scalar, other: &Tensor) -> Result<Tensor> {
        aten::xlogy_Tensor(&Tensor::wrapped_number(this), other)
    }

    fn special_xlog1py_other_scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::special_xlog1py(this, &Tensor::wrapped_number(other))
    }

    fn special_xlog1py_self_scalar(this: Scalar, other: &Tensor) -> Result<Tensor> {
        aten::special_xlog1py(&Tensor::wrapped_number(this), other)
    }

    fn special_zeta_other_scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::special_zeta(this, &Tensor::wrapped_number(other))
    }

    fn special_zeta_self_scalar(this: Scalar, other: &Tensor) -> Result<Tensor> {
        aten::special_zeta(&Tensor::wrapped_number(this), other)
    }
}

/// The error for numbers that are not probabilities.
pub(crate) fn no_probability(operator: &str, this: &Tensor) -> Error {
    Error::new(
        ErrorKind::DType,
        format!("{operator}: {} cannot be a probability, expected a real type", this.dtype()),
    )
}

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn logit(this: &Tensor, eps: Option<f64>) -> Result<Tensor> {
        if this.dtype().is_complex() {
            return Err(no_probability(aten::logit::NAME, this));
        }
        let dtype = if this.dtype().is_floating_point() { this.dtype() } else { DType::DEFAULT };
        let this = aten::to_dtype(this, dtype)?;
        let inside = match eps {
            Some(eps) if eps >= 0.0 => {
                // Clamps to the lower bound last, so that it wins where `eps` is above one half.
                let (low, high) = (Scalar::from(eps), Scalar::from(1.0 - eps));
                let below = aten::where_ScalarSelf(&aten::gt_Scalar(&this, high)?, high, &this)?;
                aten::where_ScalarSelf(&aten::lt_Scalar(&this, low)?, low, &below)?
            }
            _ => this,
        };
        aten::log(&aten::div_Tensor(&inside, &aten::rsub_Scalar(&inside, 1.into())?)?)
    }

    fn mvlgamma(this: &Tensor, p: i64) -> Result<Tensor> {
        let constant = p as f64 * (p as f64 - 1.0) / 4.0 * PI.ln();
        let moved = of_each_variable(aten::mvlgamma::NAME, this, p)?;
        aten::add_Scalar(&aten::sum_dim_IntList(&aten::lgamma(&moved)?, Some(&[-1]))?, constant.into())
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn special_expit(this: &Tensor) -> Result<Tensor> {
        aten::sigmoid(this)
    }

    fn special_erf(this: &Tensor) -> Result<Tensor> {
        aten::erf(this)
    }

    fn float_power_Tensor_Tensor(this: &Tensor, exponent: &Tensor) -> Result<Tensor> {
        let is_complex = this.dtype().is_complex() || exponent.dtype().is_complex();
        let dtype = if is_complex { DType::Complex128 } else { DType::Float64 };
        aten::pow_Tensor_Tensor(&aten::to_dtype(this, dtype)?, &aten::to_dtype(exponent, dtype)?)
    }

    fn float_power_Tensor_Scalar(this: &Tensor, exponent: Scalar) -> Result<Tensor> {
        let is_complex = this.dtype().is_complex() || matches!(exponent, Scalar::Complex(_));
        let dtype = if is_complex { DType::Complex128 } else { DType::Float64 };
        let exponent = if is_complex { exponent } else { Scalar::Float(exponent.to()?) };
        aten::pow_Tensor_Scalar(&aten::to_dtype(this, dtype)?, exponent)
    }

    fn float_power_Scalar(this: Scalar, exponent: &Tensor) -> Result<Tensor> {
        let is_complex = exponent.dtype().is_complex() || matches!(this, Scalar::Complex(_));
        let dtype = if is_complex { DType::Complex128 } else { DType::Float64 };
        let this = if is_complex { this } else { Scalar::Float(this.to()?) };
        aten::pow_Scalar(this, &aten::to_dtype(exponent, dtype)?)
    }

    fn isclose(this: &Tensor, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<Tensor> {
        const OPERATOR: &str = aten::isclose::NAME;
        ensure!(
            this.dtype() == other.dtype(),
            DType,
            "{OPERATOR}: {} and {} cannot be compared, convert one to the other by `aten::to_dtype`",
            this.dtype(),
            other.dtype()
        );
        ensure!(
            rtol >= 0.0 && atol >= 0.0,
            Argument,
            "{OPERATOR}: tolerances {rtol} and {atol}, neither may be negative"
        );
        let is_same = aten::eq_Tensor(this, other)?;
        let is_float = this.dtype().is_differentiable();
        let close = match equal_nan && is_float {
            true => {
                aten::logical_or(&is_same, &aten::logical_and(&aten::isnan(this)?, &aten::isnan(other)?)?)?
            }
            false => is_same,
        };
        if rtol == 0.0 && atol == 0.0 {
            return Ok(close);
        }
        // Integers are compared as floating-point numbers, booleans as integers.
        let number = |x: &Tensor| if is_float { Ok(x.clone()) } else { aten::to_dtype(x, DType::DEFAULT) };
        let (this, other) = (number(this)?, number(other)?);
        let allowed = aten::add_Scalar(&aten::abs(&aten::mul_Scalar(&other, rtol.into())?)?, atol.into())?;
        let distance = aten::abs(&aten::sub_Tensor(&this, &other)?)?;
        let is_near = aten::logical_and(&aten::isfinite(&distance)?, &aten::le_Tensor(&distance, &allowed)?)?;
        aten::logical_or(&close, &is_near)
    }

    fn allclose(this: &Tensor, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<bool> {
        aten::all(&aten::isclose::call(this, other, rtol, atol, equal_nan)?)?.item()?.to()
    }

    fn special_i0(this: &Tensor) -> Result<Tensor> {
        aten::i0(this)
    }

    fn special_multigammaln(this: &Tensor, p: i64) -> Result<Tensor> {
        aten::mvlgamma(this, p)
    }

    fn special_ndtr(this: &Tensor) -> Result<Tensor> {
        let error = aten::erf(&aten::mul_Scalar(this, FRAC_1_SQRT_2.into())?)?;
        aten::mul_Scalar(&aten::add_Scalar(&error, 1.into())?, 0.5.into())
    }
}

/// The arguments of the gamma functions that make up the multivariate one: along a new dimension, each half less than
/// the one before.
pub(crate) fn of_each_variable(operator: &str, this: &Tensor, p: i64) -> Result<Tensor> {
    ensure!(p >= 1, Argument, "{operator}: {p} variables, expected at least 1");
    let dtype = match this.dtype() {
        dtype if dtype.is_floating_point() => dtype,
        DType::Bool => bail!(DType, "{operator}: expected numbers, got bool"),
        dtype if dtype.is_complex() => bail!(DType, "{operator} is not implemented for {dtype}"),
        _ => DType::DEFAULT,
    };
    let start = 0.5 - p as f64 * 0.5;
    let steps = aten::arange_start_step::with(start.into(), 0.5.into()).step(0.5).dtype(dtype);
    aten::add_Tensor(&steps.device(this.device()).call()?, &aten::unsqueeze(this, -1)?)
}
