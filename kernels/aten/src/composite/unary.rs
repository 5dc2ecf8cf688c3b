//! Functions of one operand, as compositions of other operators.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeExplicitAutograd)]
fn isinf(this: &Tensor) -> Result<Tensor> {
    if this.dtype().is_float8() {
        return aten::isinf(&aten::to_dtype(this, DType::Float32)?); // not all of them have infinity or `abs`
    }
    match this.dtype().is_differentiable() {
        true => aten::eq_Scalar(&aten::abs(this)?, f64::INFINITY.into()),
        false => aten::full_like::with(this, false.into()).dtype(Some(DType::Bool)).call(),
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn isreal(this: &Tensor) -> Result<Tensor> {
        match this.dtype().is_complex() {
            true => aten::eq_Scalar(&aten::imag(this)?, 0.into()),
            false => aten::ones_like::with(this).dtype(Some(DType::Bool)).call(),
        }
    }

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
