//! Derivatives of cumulative sums, products and extremes.

use torch_library::derivatives;
use torch_library::guard::GradMode;
use torch_library::prelude::*;

use super::binary::conj;
use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    #[in_place]
    cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor as CumprodBackward0 {
        self => running_product(grad, self, dim, result),
    }
    logcumsumexp(Tensor self, int dim) -> Tensor as LogcumsumexpBackward0 {
        self => running_logsumexp(grad, self, result, dim),
    }
    #[in_place]
    cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor as CumsumBackward0 {
        self => if grad.numel() <= 1 { Ok(grad.clone()) } else { from_the_end(grad, dim) },
    }
    cummax(Tensor self, int dim) -> (Tensor values, Tensor indices) as CummaxBackward0 {
        self => aten::scatter_add(&aten::new_zeros(grad, metadata(self).sizes())?, dim, indices, grad),
        indices => non_differentiable,
    }
    cummin(Tensor self, int dim) -> (Tensor values, Tensor indices) as CumminBackward0 {
        self => aten::scatter_add(&aten::new_zeros(grad, metadata(self).sizes())?, dim, indices, grad),
        indices => non_differentiable,
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
fn cumprod_backward(grad: &Tensor, input: &Tensor, dim: i64, output: &Tensor) -> Result<Tensor> {
    running_product(grad, input, dim, output)
}

/// The gradient of a cumulative product: for each element, the sum of the products that contain it, divided by it,
/// weighted by their gradients.
fn running_product(grad: &Tensor, this: &Tensor, dim: i64, result: &Tensor) -> Result<Tensor> {
    if this.numel() <= 1 || this.size(dim)? == 1 {
        return Ok(grad.clone());
    }
    let is_zero = aten::eq_Scalar(this, 0.into())?;
    let has_zeros = aten::any(&is_zero)?;
    let are_any = aten::is_nonzero(&has_zeros); // not where elements cannot be read, as under vmap
    if let Ok(false) = are_any {
        return rest_of_sums(grad, result, dim)?.div(&conj(this)?);
    }
    if GradMode::is_enabled() && are_any.is_ok() {
        return each_product(grad, this, dim);
    }
    // Quotients by zero are not used, but would make the gradient of this gradient NaN.
    let divisor = conj(&aten::masked_fill_Scalar(this, &is_zero, 1.into())?)?;
    let before = rest_of_sums(grad, result, dim)?.div(&divisor)?;
    match GradMode::is_enabled() {
        true => aten::where_self(&has_zeros, &each_product(grad, this, dim)?, &before),
        false => with_zeros(grad, this, &is_zero, &before, dim),
    }
}

/// For each element, the sum of the products from there on, weighted by their gradients.
fn rest_of_sums(grad: &Tensor, products: &Tensor, dim: i64) -> Result<Tensor> {
    from_the_end(&grad.mul(&conj(products)?)?, dim)
}

/// For each element, the sum of the elements from there on. The sum of those before it, subtracted from the sum of all,
/// would be less exact, and NaN if one of them is infinite.
fn from_the_end(this: &Tensor, dim: i64) -> Result<Tensor> {
    aten::flip(&aten::cumsum(&aten::flip(this, &[dim])?, dim)?, &[dim])
}

/// Corrects the gradient from the first zero on. The first zero appears in the products after it, up to the next zero;
/// elements after it only appear in products that are zero.
///
/// The result must not be differentiated again, since the gradient of a zero depends on its neighbours.
fn with_zeros(grad: &Tensor, this: &Tensor, is_zero: &Tensor, before: &Tensor, dim: i64) -> Result<Tensor> {
    let zeros = aten::cumsum(is_zero, dim)?;
    let is_first = aten::logical_and(is_zero, &aten::eq_Scalar(&zeros, 1.into())?)?;
    let others = aten::cumprod(&aten::masked_fill_Scalar(this, &is_first, 1.into())?, dim)?;
    let at_zeros = aten::where_ScalarOther(&is_first, &rest_of_sums(grad, &others, dim)?, 0.into())?;
    aten::where_self(&aten::eq_Scalar(&zeros, 0.into())?, before, &at_zeros)
}

/// Computes it one element after the other, by operators that have derivatives themselves.
fn each_product(grad: &Tensor, this: &Tensor, dim: i64) -> Result<Tensor> {
    let size = this.size(dim)?;
    let part = |index: i64| {
        let rest = size - index - 1;
        let before = aten::prod_dim_int::with(&this.narrow(dim, 0, index)?, dim).keepdim(true).call()?;
        let after = aten::cumprod(&this.narrow(dim, index + 1, rest)?, dim)?;
        let others = aten::cat::with(&[aten::ones_like(&before)?, after]).dim(dim).call()?.mul(&before)?;
        grad.narrow(dim, index, rest + 1)?.mul(&conj(&others)?)?.sum_dim(&[dim], true)
    };
    aten::cat::with(&(0..size).map(part).collect::<Result<Vec<_>>>()?).dim(dim).call()
}

/// The gradient of `logcumsumexp`, for positive and negative gradients separately, by their logarithms, so that nothing
/// overflows.
fn running_logsumexp(grad: &Tensor, this: &Tensor, result: &Tensor, dim: i64) -> Result<Tensor> {
    if this.dim() == 0 || this.numel() == 0 {
        return Ok(grad.clone());
    }
    let from_the_end =
        |logs: &Tensor| aten::flip(&aten::logcumsumexp(&aten::flip(logs, &[dim])?, dim)?, &[dim]);
    if grad.dtype().is_complex() {
        return conj(&from_the_end(&conj(grad)?.log()?.sub(result)?)?.add(this)?.exp()?);
    }
    let size = grad.abs()?.log()?;
    // The logarithm of a zero gradient: it is finite, so that its difference from itself is not NaN.
    let nearly_nothing = match grad.dtype() {
        DType::Float64 => f64::MIN,
        DType::Float16 => -65504.0,
        _ => f64::from(f32::MIN / 2.0),
    };
    let of_sign = |is_sign: Tensor| {
        let logs = aten::where_ScalarOther(&is_sign, &size, nearly_nothing.into())?;
        from_the_end(&logs.sub(result)?)?.add(this)?.exp()
    };
    of_sign(aten::gt_Scalar(grad, 0.into())?)?.sub(&of_sign(aten::lt_Scalar(grad, 0.into())?)?)
}
