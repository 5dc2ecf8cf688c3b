//! Kernels of variances and standard deviations.

use std::sync::atomic::{AtomicBool, Ordering};

use num_traits::Float;
use torch_library::Element;
use torch_library::prelude::*;

use crate::aten;
use crate::cpu::folds::{Moment, Moments};
use crate::loops::match_opmath;
use crate::loops::reduce::fold;
use crate::loops::reduction::Reduction;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn var_correction(
        this: &Tensor,
        dim: Option<&[i64]>,
        correction: Option<Scalar>,
        keepdim: bool,
    ) -> Result<Tensor> {
        if this.dtype().is_complex() {
            return variance_of_parts(this, |part| {
                aten::var_correction::call(part, dim, correction, keepdim)
            });
        }
        let variance = Variance { operator: aten::var_correction::NAME, this, dim, correction, keepdim };
        Ok(variance.compute(|variance| variance)?.0)
    }

    fn std_correction(
        this: &Tensor,
        dim: Option<&[i64]>,
        correction: Option<Scalar>,
        keepdim: bool,
    ) -> Result<Tensor> {
        if this.dtype().is_complex() {
            return aten::sqrt(&aten::var_correction::call(this, dim, correction, keepdim)?);
        }
        let variance = Variance { operator: aten::std_correction::NAME, this, dim, correction, keepdim };
        Ok(variance.compute(f64::sqrt)?.0)
    }

    fn var_mean_correction(
        this: &Tensor,
        dim: Option<&[i64]>,
        correction: Option<Scalar>,
        keepdim: bool,
    ) -> Result<(Tensor, Tensor)> {
        if this.dtype().is_complex() {
            let variance = aten::var_correction::call(this, dim, correction, keepdim)?;
            return Ok((variance, aten::mean_dim::call(this, dim, keepdim, None)?));
        }
        let variance = Variance { operator: aten::var_mean_correction::NAME, this, dim, correction, keepdim };
        variance.compute(|variance| variance)
    }
}

/// The variance of complex numbers: the sum of the variances of both parts.
fn variance_of_parts(this: &Tensor, variance: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    aten::add_Tensor(&variance(&aten::real(this)?)?, &variance(&aten::imag(this)?)?)
}

struct Variance<'a> {
    operator: &'static str,
    this: &'a Tensor,
    dim: Option<&'a [i64]>,
    correction: Option<Scalar>,
    keepdim: bool,
}

impl Variance<'_> {
    /// A function of the variance, and the mean.
    fn compute(&self, finish: impl Fn(f64) -> f64 + Sync) -> Result<(Tensor, Tensor)> {
        let Variance { operator, this, dim, correction, keepdim } = *self;
        let reduction = Reduction::new(operator, this, dim, keepdim)?;
        let correction =
            correction.map_or(Ok(1.0), Scalar::to::<f64>).map_err(|error| error.context(operator))?;
        let (out, mean) = (reduction.output(this.dtype())?, reduction.output(this.dtype())?);
        let divisor = (reduction.count() as f64 - correction).max(0.0);
        // The squares may overflow where their root does not. (Those of `float16` fit `float32`.)
        let overflows = AtomicBool::new(false);
        match_opmath!(this.dtype(), T: Float => {
            fold([&out, &mean], this, reduction.is_reduced(), &Moments, |moment: Moment<T>| {
                if reduction.count() == 0 {
                    return [T::nan(); 2]; // whatever the divisor
                }
                if moment.squares.is_infinite() {
                    overflows.store(true, Ordering::Relaxed); // read after all threads have finished
                }
                let variance = moment.squares.cast::<f64>() / divisor;
                [finish(variance).cast::<T>(), moment.mean]
            })?;
        }, else => return Err(reduction.unsupported(this.dtype())));
        if overflows.into_inner() && this.dtype() != DType::Float64 {
            let wide = aten::to_dtype(this, DType::Float64)?;
            let parts = Variance { operator, this: &wide, dim, correction: self.correction, keepdim };
            let (out, mean) = parts.compute(finish)?;
            return Ok((aten::to_dtype(&out, this.dtype())?, aten::to_dtype(&mean, this.dtype())?));
        }
        Ok((out, mean))
    }
}
