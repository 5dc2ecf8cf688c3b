//! Reductions, as compositions of other operators.

use torch_library::geometry::{infer_size, wrap_dim};
use torch_library::prelude::*;

use crate::aten;
use crate::loops::opmath_type;

/// The number that [`renorm`](fn@aten::renorm) adds to norms before it divides by them.
pub(crate) const MARGIN: f64 = 1e-7;

/// All dimensions except one.
pub(crate) fn dims_beside(dim: i64, dims: usize) -> Result<Vec<i64>> {
    let left_out = wrap_dim(dim, dims)?;
    Ok((0..dims).filter(|dim| *dim != left_out).map(|dim| dim as i64).collect())
}

#[torch_impl(aten, CompositeExplicitAutograd)]
mod explicit {
    use super::*;

    fn any(this: &Tensor) -> Result<Tensor> {
        aten::any_dims(this)
    }

    fn any_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<Tensor> {
        aten::any_dims::call(this, Some(&[dim]), keepdim)
    }

    fn all(this: &Tensor) -> Result<Tensor> {
        aten::all_dims(this)
    }

    fn all_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<Tensor> {
        aten::all_dims::call(this, Some(&[dim]), keepdim)
    }

    fn _is_all_true(this: &Tensor) -> Result<Tensor> {
        check_bool(aten::_is_all_true::NAME, this)?;
        aten::all(this)
    }

    fn _is_any_true(this: &Tensor) -> Result<Tensor> {
        check_bool(aten::_is_any_true::NAME, this)?;
        aten::any(this)
    }

    fn count_nonzero_dim_IntList(this: &Tensor, dim: &[i64]) -> Result<Tensor> {
        if this.dtype() == DType::Bool {
            return aten::sum_dim_IntList(this, Some(dim));
        }
        aten::sum_dim_IntList(&aten::ne_Scalar(this, 0.into())?, Some(dim))
    }

    fn count_nonzero(this: &Tensor, dim: Option<i64>) -> Result<Tensor> {
        aten::count_nonzero_dim_IntList(this, dim.as_slice())
    }

    fn norm_Scalar(this: &Tensor, p: Scalar) -> Result<Tensor> {
        aten::linalg_vector_norm::with(this).ord(p).call()
    }

    fn norm_ScalarOpt_dim(this: &Tensor, p: Option<Scalar>, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        aten::linalg_vector_norm::call(this, p.unwrap_or(2.into()), Some(dim), keepdim, None)
    }

    fn max(this: &Tensor) -> Result<Tensor> {
        aten::amax(this)
    }

    fn min(this: &Tensor) -> Result<Tensor> {
        aten::amin(this)
    }

    fn sum(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
        aten::sum_dim_IntList::call(this, None, false, dtype)
    }

    fn mean(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
        aten::mean_dim::call(this, None, false, dtype)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
fn linalg__powsum(
    this: &Tensor,
    ord: Scalar,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    const OPERATOR: &str = aten::linalg__powsum::NAME;
    let order: f64 = ord.to().map_err(|error: Error| error.context(OPERATOR))?;
    let this = match dtype {
        Some(dtype) if dtype != this.dtype() => aten::to_dtype(this, dtype)?,
        _ => this.clone(),
    };
    let (dtype, real) = (this.dtype(), this.dtype().to_real());
    ensure!(
        dtype.is_floating_point() || dtype.is_complex(),
        DType,
        "{OPERATOR} is not implemented for {dtype}\n  help: `dtype` may name a floating-point type"
    );
    let magnitudes = aten::to_dtype(&aten::abs(&this)?, opmath_type(real))?;
    let powers = aten::pow_Tensor_Scalar(&magnitudes, order.into())?;
    aten::to_dtype(&aten::sum_dim_IntList::call(&powers, dim, keepdim, None)?, real)
}

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn std_mean_correction(
        this: &Tensor,
        dim: Option<&[i64]>,
        correction: Option<Scalar>,
        keepdim: bool,
    ) -> Result<(Tensor, Tensor)> {
        let std = aten::std_correction::call(this, dim, correction, keepdim)?;
        // The mean of the variance's own pass, which is NaN where an element is infinite.
        Ok((std, aten::var_mean_correction::call(this, dim, correction, keepdim)?.1))
    }

    fn dist(this: &Tensor, other: &Tensor, p: Scalar) -> Result<Tensor> {
        aten::norm_Scalar::call(&aten::sub_Tensor(this, other)?, p)
    }

    fn renorm(this: &Tensor, p: Scalar, dim: i64, maxnorm: Scalar) -> Result<Tensor> {
        const OPERATOR: &str = aten::renorm::NAME;
        let real = |number: Scalar| number.to::<f64>().map_err(|error| error.context(OPERATOR));
        let (order, largest) = (real(p)?, real(maxnorm)?);
        ensure!(order > 0.0, Argument, "{OPERATOR}: p is {order}, expected a positive number");
        ensure!(largest >= 0.0, Argument, "{OPERATOR}: maxnorm is {largest}, expected zero or more");
        ensure!(
            this.dim() > 1,
            Shape,
            "{OPERATOR}: sizes {:?}, expected at least two dimensions",
            this.sizes()
        );
        let dims = dims_beside(dim, this.dim()).map_err(|error| error.context(OPERATOR))?;
        let wide = opmath_type(this.dtype());
        let norm = aten::linalg_vector_norm::call(this, p, Some(&dims), true, Some(wide))?;
        let shorter =
            aten::mul_Scalar(&aten::reciprocal(&aten::add_Scalar(&norm, MARGIN.into())?)?, maxnorm)?;
        let is_longer = aten::gt_Scalar(&norm, maxnorm)?;
        let factor = aten::where_ScalarOther(&is_longer, &shorter, 1.into())?;
        // Row-major, whatever the layout of the input.
        let this = aten::contiguous(this)?;
        aten::mul_Tensor(&this, &aten::to_dtype(&factor, this.dtype().to_real())?)
    }

    fn logsumexp(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        let dtype = if this.dtype().is_differentiable() { this.dtype() } else { DType::DEFAULT };
        let this = &aten::to_dtype(this, dtype)?;
        if this.numel() == 0 {
            return aten::log(&aten::sum_dim_IntList::call(&aten::exp(this)?, Some(dim), keepdim, None)?);
        }
        ensure!(
            keepdim || !dim.is_empty() || this.dim() == 0,
            Argument,
            "{}: no dimension is given, of a tensor that has {}; name all of them, or keep them",
            aten::logsumexp::NAME,
            this.dim()
        );
        // For complex numbers, the real part determines the magnitude of the exponential.
        let size = if dtype.is_complex() { aten::real(this)? } else { this.clone() };
        let largest = aten::detach(&aten::amax::call(&size, dim, true)?)?;
        // If the maximum is infinite, so is the result, and shifting by it would give NaN.
        let is_infinite = aten::isinf(&largest)?;
        let shift = aten::where_ScalarSelf(&is_infinite, 0.into(), &largest)?;
        let sum = aten::sum_dim_IntList::call(
            &aten::exp(&aten::sub_Tensor(this, &shift)?)?,
            Some(dim),
            true,
            None,
        )?;
        let out = aten::add_Tensor(&aten::log(&sum)?, &shift)?;
        if keepdim { Ok(out) } else { aten::squeeze_dims(&out, dim) }
    }

    fn aminmax(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<(Tensor, Tensor)> {
        let dims = dim.as_slice();
        Ok((aten::amin::call(this, dims, keepdim)?, aten::amax::call(this, dims, keepdim)?))
    }

    fn nansum(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
        ensure!(
            !this.dtype().is_complex(),
            DType,
            "{}: {} is not supported",
            aten::nansum::NAME,
            this.dtype()
        );
        let numbers = without_nan(this)?;
        aten::sum_dim_IntList::call(&numbers, dim, keepdim, dtype)
    }
}

#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod without_derivatives {
    use super::*;

    fn _aminmax(this: &Tensor) -> Result<(Tensor, Tensor)> {
        aten::aminmax(this).map_err(|error| error.context(aten::_aminmax::NAME))
    }

    fn _aminmax_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        aten::aminmax::call(this, Some(dim), keepdim).map_err(|error| error.context(aten::_aminmax_dim::NAME))
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn norm_ScalarOpt_dtype(this: &Tensor, p: Option<Scalar>, dtype: DType) -> Result<Tensor> {
        aten::linalg_vector_norm::with(this).ord(p.unwrap_or(2.into())).dtype(dtype).call()
    }

    fn norm_ScalarOpt_dim_dtype(
        this: &Tensor,
        p: Option<Scalar>,
        dim: &[i64],
        keepdim: bool,
        dtype: DType,
    ) -> Result<Tensor> {
        aten::linalg_vector_norm::call(this, p.unwrap_or(2.into()), Some(dim), keepdim, Some(dtype))
    }

    fn max_other(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        aten::maximum(this, other)
    }

    fn min_other(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        aten::minimum(this, other)
    }

    fn var(this: &Tensor, unbiased: bool) -> Result<Tensor> {
        aten::var_correction::call(this, None, correction(unbiased), false)
    }

    fn var_dim(this: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<Tensor> {
        aten::var_correction::call(this, dim, correction(unbiased), keepdim)
    }

    fn var_mean(this: &Tensor, unbiased: bool) -> Result<(Tensor, Tensor)> {
        aten::var_mean_correction::call(this, None, correction(unbiased), false)
    }

    fn var_mean_dim(
        this: &Tensor,
        dim: Option<&[i64]>,
        unbiased: bool,
        keepdim: bool,
    ) -> Result<(Tensor, Tensor)> {
        aten::var_mean_correction::call(this, dim, correction(unbiased), keepdim)
    }

    fn std(this: &Tensor, unbiased: bool) -> Result<Tensor> {
        aten::std_correction::call(this, None, correction(unbiased), false)
    }

    fn std_dim(this: &Tensor, dim: Option<&[i64]>, unbiased: bool, keepdim: bool) -> Result<Tensor> {
        aten::std_correction::call(this, dim, correction(unbiased), keepdim)
    }

    fn std_mean(this: &Tensor, unbiased: bool) -> Result<(Tensor, Tensor)> {
        aten::std_mean_correction::call(this, None, correction(unbiased), false)
    }

    fn std_mean_dim(
        this: &Tensor,
        dim: Option<&[i64]>,
        unbiased: bool,
        keepdim: bool,
    ) -> Result<(Tensor, Tensor)> {
        aten::std_mean_correction::call(this, dim, correction(unbiased), keepdim)
    }

    fn sum_to_size(this: &Tensor, size: &[i64]) -> Result<Tensor> {
        let fits = infer_size(this.sizes(), size).is_ok_and(|sizes| sizes.as_slice() == this.sizes());
        ensure!(
            fits,
            Shape,
            "{}: sizes {size:?} do not broadcast to {:?}, so a sum cannot have them",
            aten::sum_to_size::NAME,
            this.sizes()
        );
        if size.is_empty() {
            return aten::sum(this); // a new tensor, even where there is nothing to sum
        }
        if this.sizes() == size {
            return Ok(this.clone());
        }
        let added = this.dim() - size.len();
        let is_summed = |dim: &usize| match dim.checked_sub(added) {
            None => true,
            Some(own) => size[own] == 1 && this.sizes()[*dim] != 1,
        };
        let dims: Vec<i64> = (0..this.dim()).filter(is_summed).map(|dim| dim as i64).collect();
        let sum = aten::sum_dim_IntList::call(this, Some(&dims), true, None)?;
        if added == 0 { Ok(sum) } else { aten::view(&sum, size) }
    }

    fn nanmean(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
        ensure!(
            this.dtype().is_floating_point(),
            DType,
            "{}: {} is not supported, expected a floating-point type",
            aten::nanmean::NAME,
            this.dtype()
        );
        if let Some(dtype) = dtype {
            ensure!(
                dtype.is_floating_point() || dtype.is_complex(),
                DType,
                "{}: a mean of {dtype} is not supported, expected a floating-point or complex type",
                aten::nanmean::NAME
            );
        }
        let is_number = aten::logical_not(&aten::isnan(this)?)?;
        let count = aten::sum_dim_IntList::call(&is_number, dim, keepdim, None)?;
        aten::div_Tensor(&aten::nansum::call(this, dim, keepdim, dtype)?, &count)
    }

    fn diff(
        this: &Tensor,
        n: i64,
        dim: i64,
        prepend: Option<&Tensor>,
        append: Option<&Tensor>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::diff::NAME;
        ensure!(this.dim() > 0, Shape, "{OPERATOR}: a tensor without dimensions has no neighbours");
        ensure!(n >= 0, Argument, "{OPERATOR}: n is {n}, expected zero or more");
        if n == 0 {
            // As in PyTorch, `prepend` and `append` are only checked, not concatenated.
            for joined in prepend.into_iter().chain(append) {
                let dim = wrap_dim(dim, this.dim()).map_err(|error| error.context(OPERATOR))?;
                let mut pairs = joined.sizes().iter().zip(this.sizes()).enumerate();
                ensure!(
                    joined.dim() == this.dim() && pairs.all(|(at, (size, own))| at == dim || size == own),
                    Shape,
                    "{OPERATOR}: sizes {:?} cannot be joined with {:?} along dimension {dim}",
                    joined.sizes(),
                    this.sizes()
                );
            }
            return aten::clone(this);
        }
        let parts: Vec<Tensor> = prepend.into_iter().chain([this]).chain(append).cloned().collect();
        let mut out =
            if let [only] = parts.as_slice() { only.clone() } else { aten::cat::call(&parts, dim)? };
        let size = out.size(dim).map_err(|error| error.context(OPERATOR))?;
        for left in (size - n.min(size)..size).rev() {
            let (behind, before) = (aten::narrow(&out, dim, 1, left)?, aten::narrow(&out, dim, 0, left)?);
            out = match out.dtype() {
                DType::Bool => aten::logical_xor(&behind, &before)?,
                _ => aten::sub_Tensor(&behind, &before)?,
            };
        }
        Ok(out)
    }
}

fn correction(unbiased: bool) -> Option<Scalar> {
    Some(i64::from(unbiased).into())
}

/// # Errors
/// A tensor that is not boolean.
fn check_bool(operator: &str, this: &Tensor) -> Result<()> {
    ensure!(this.dtype() == DType::Bool, DType, "{operator}: a tensor of {}, expected bool", this.dtype());
    Ok(())
}

pub(crate) fn without_nan(this: &Tensor) -> Result<Tensor> {
    if !this.dtype().is_differentiable() {
        return Ok(this.clone());
    }
    aten::masked_fill_Scalar(this, &aten::isnan(this)?, 0.into())
}
