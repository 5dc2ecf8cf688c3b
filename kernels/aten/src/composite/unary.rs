//! Functions of one operand, as compositions of other operators.

use torch_library::Element;
use torch_library::prelude::*;

use crate::aten;
use crate::loops::parameter;

#[torch_impl(aten, CompositeExplicitAutograd)]
fn isinf(this: &Tensor) -> Result<Tensor> {
    if this.dtype().is_float8() {
        return aten::isinf(&aten::to_dtype(this, DType::Float32)?); // not all of them have infinity or `abs`
    }
    match this.dtype().is_differentiable() {
        true => aten::eq_Scalar(&aten::abs(this)?, f64::INFINITY.into()),
        false => aten::full_like::with(this, false.into()).dtype(DType::Bool).call(),
    }
}

/// Has a derivative of its own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn logit(this: &Tensor, eps: Option<f64>) -> Result<Tensor> {
    if this.dtype().is_complex() {
        return Err(no_probability(aten::logit::NAME, this));
    }
    let dtype = if this.dtype().is_floating_point() { this.dtype() } else { DType::DEFAULT };
    let this = aten::to_dtype(this, dtype)?;
    let inside = match eps {
        Some(eps) if eps >= 0.0 => {
            // Clamps to the lower bound last, so that it wins where `eps` is above one half.
            let [low, high] = ends::<f64>(aten::logit::NAME, eps, dtype)?.map(Scalar::from);
            let below = aten::where_ScalarSelf(&aten::gt_Scalar(&this, high)?, high, &this)?;
            aten::where_ScalarSelf(&aten::lt_Scalar(&this, low)?, low, &below)?
        }
        _ => this,
    };
    aten::log(&aten::div_Tensor(&inside, &aten::rsub_Scalar(&inside, 1.into())?)?)
}

/// The ends of the range to which `logit` clamps: `eps` as a number of the elements' type, and what is left of one.
pub(crate) fn ends<T: Element>(operator: &str, eps: f64, dtype: DType) -> Result<[T; 2]> {
    let low: f64 = parameter(operator, eps.into(), dtype)?;
    Ok([low.cast(), parameter(operator, (1.0 - low).into(), dtype)?])
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn isreal(this: &Tensor) -> Result<Tensor> {
        match this.dtype().is_complex() {
            true => aten::eq_Scalar(&aten::imag(this)?, 0.into()),
            false => aten::ones_like::with(this).dtype(DType::Bool).call(),
        }
    }

    fn positive(this: &Tensor) -> Result<Tensor> {
        ensure!(this.dtype() != DType::Bool, DType, "{}: expected numbers, got bool", aten::positive::NAME);
        Ok(this.clone())
    }

    fn isfinite(this: &Tensor) -> Result<Tensor> {
        if !this.dtype().is_floating_point() && !this.dtype().is_complex() {
            return aten::ones_like::with(this).dtype(DType::Bool).call();
        }
        let is_any = aten::logical_or(&aten::isnan(this)?, &aten::isinf(this)?)?;
        aten::logical_not(&is_any)
    }
}

/// The error for numbers that are not probabilities.
pub(crate) fn no_probability(operator: &str, this: &Tensor) -> Error {
    Error::new(
        ErrorKind::DType,
        format!("{operator}: {} cannot be a probability, expected a real type", this.dtype()),
    )
}
