//! Special functions, as compositions of other operators.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod explicit {
    use super::*;

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

/// Has a derivative of its own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn mvlgamma(this: &Tensor, p: i64) -> Result<Tensor> {
    let constant = p as f64 * (p as f64 - 1.0) / 4.0 * PI.ln();
    let moved = of_each_variable(aten::mvlgamma::NAME, this, p)?;
    let mut sum = aten::sum_dim_IntList(&aten::lgamma(&moved)?, Some(&[-1]))?;
    aten::add__Scalar(&mut sum, constant.into())?; // in place, so that a result without elements keeps its strides
    Ok(sum)
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
