//! Scales of losses in half precision: gradients are divided by the scale, and the scale follows what they hold.

use torch_library::prelude::*;

use crate::aten;
use crate::loops;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod kernels {
    use super::*;

    fn _amp_foreach_non_finite_check_and_unscale_(
        this: &mut [Tensor],
        found_inf: &mut Tensor,
        inv_scale: &Tensor,
    ) -> Result<()> {
        const OPERATOR: &str = aten::_amp_foreach_non_finite_check_and_unscale_::NAME;
        one(OPERATOR, "found_inf", found_inf, DType::Float32)?;
        one(OPERATOR, "inv_scale", inv_scale, DType::Float32)?;
        let factor = aten::reshape(inv_scale, &[])?;
        for grad in this {
            ensure!(
                grad.dtype().is_floating_point(),
                DType,
                "{OPERATOR}: a gradient of {}, expected a floating-point type",
                grad.dtype()
            );
            let is_finite = aten::all(&aten::isfinite(grad)?)?;
            let found = aten::masked_fill_Scalar(found_inf, &aten::logical_not(&is_finite)?, 1.into())?;
            aten::copy_(found_inf, &found)?;
            let wide = loops::opmath_type(grad.dtype());
            let product = aten::mul_Tensor(&aten::to_dtype(grad, wide)?, &aten::to_dtype(&factor, wide)?)?;
            aten::copy_(grad, &product)?;
        }
        Ok(())
    }

    fn _amp_foreach_non_finite_check_and_unscale(
        this: &[Tensor],
        found_inf: &Tensor,
        inv_scale: &Tensor,
    ) -> Result<(Vec<Tensor>, Tensor)> {
        let mut grads = this.iter().map(aten::clone).collect::<Result<Vec<_>>>()?;
        let mut found_inf = aten::clone(found_inf)?;
        aten::_amp_foreach_non_finite_check_and_unscale_(&mut grads, &mut found_inf, inv_scale)?;
        Ok((grads, found_inf))
    }

    fn _amp_update_scale_<'a>(
        this: &'a mut Tensor,
        growth_tracker: &mut Tensor,
        found_inf: &Tensor,
        scale_growth_factor: f64,
        scale_backoff_factor: f64,
        growth_interval: i64,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::_amp_update_scale_::NAME;
        one(OPERATOR, "self", this, DType::Float32)?;
        one(OPERATOR, "growth_tracker", growth_tracker, DType::Int32)?;
        one(OPERATOR, "found_inf", found_inf, DType::Float32)?;
        let [scale, steps, found] =
            [&*this, &*growth_tracker, found_inf].map(|tensor| aten::reshape(tensor, &[]));
        let (scale, found) = (scale?, aten::ne_Scalar(&found?, 0.into())?);
        // Products are rounded once, as PyTorch's are.
        let wide = aten::to_dtype(&scale, DType::Float64)?;
        let times = |factor: f64| aten::to_dtype(&aten::mul_Scalar(&wide, factor.into())?, DType::Float32);
        let steps = aten::add_Scalar(&steps?, 1.into())?;
        let grows = aten::eq_Scalar(&steps, growth_interval.into())?;
        let larger = times(scale_growth_factor)?;
        let is_held = aten::logical_and(&grows, &aten::isfinite(&larger)?)?;
        let next = aten::where_self(&is_held, &larger, &scale)?;
        let next = aten::where_self(&found, &times(scale_backoff_factor)?, &next)?;
        let starts_again = aten::logical_or(&found, &grows)?;
        aten::copy_(growth_tracker, &aten::masked_fill_Scalar(&steps, &starts_again, 0.into())?)?;
        aten::copy_(this, &next)?;
        Ok(this)
    }

    fn _amp_update_scale(
        this: &Tensor,
        growth_tracker: &Tensor,
        found_inf: &Tensor,
        scale_growth_factor: f64,
        scale_backoff_factor: f64,
        growth_interval: i64,
    ) -> Result<(Tensor, Tensor)> {
        let (mut scale, mut tracker) = (aten::clone(this)?, aten::clone(growth_tracker)?);
        aten::_amp_update_scale_(
            &mut scale,
            &mut tracker,
            found_inf,
            scale_growth_factor,
            scale_backoff_factor,
            growth_interval,
        )?;
        Ok((scale, tracker))
    }
}

/// # Errors
/// A tensor that is not one element of this dtype.
fn one(operator: &str, name: &str, tensor: &Tensor, dtype: DType) -> Result<()> {
    ensure!(
        tensor.numel() == 1 && tensor.dtype() == dtype,
        Argument,
        "{operator}: `{name}` has sizes {:?} and is {}, expected one element of {dtype}",
        tensor.sizes(),
        tensor.dtype()
    );
    Ok(())
}
