//! Derivatives of reductions: gradients are expanded to every element that was reduced.

use torch_library::autograd::InputMetadata;
use torch_library::derivatives;
use torch_library::geometry::{saturating_numel, wrap_dim};
use torch_library::guard::no_grad;
use torch_library::prelude::*;

use super::binary::conj;
use super::unary::direction;
use crate::aten;
use crate::composite::is_readable;
use crate::composite::reduce::{MARGIN, dims_beside};
use crate::loops::opmath_type;
use crate::prelude::*;

derivatives! {
    in aten;

    sum(Tensor self, *, ScalarType? dtype=None) -> Tensor as SumBackward0 {
        self => grad.expand(self.sizes()),
    }
    sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor as SumBackward1 {
        self => restored(grad, self.dim(), dim.unwrap_or_default(), keepdim)?.expand(self.sizes()),
    }
    mean(Tensor self, *, ScalarType? dtype=None) -> Tensor as MeanBackward0 {
        self => grad.expand(self.sizes())?.div(self.numel()),
    }
    mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor as MeanBackward1 {
        self => restored(grad, self.dim(), dim.unwrap_or_default(), keepdim)?
            .expand(self.sizes())?
            .div(count(self.sizes(), dim.unwrap_or_default())?),
    }
    amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor as AmaxBackward0 {
        self => shared(grad, self, result, dim, keepdim),
    }
    amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor as AminBackward0 {
        self => shared(grad, self, result, dim, keepdim),
    }
    prod(Tensor self, *, ScalarType? dtype=None) -> Tensor as ProdBackward0 {
        self => {
            let flat = self.to_dtype(grad.dtype())?.reshape(&[-1])?;
            conj(&quotients(&flat, result, 0)?)?.mul(grad)?.reshape(self.sizes())
        },
    }
    prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor as ProdBackward1 {
        self => {
            let whole = |reduced| restored(reduced, self.dim(), &[dim], keepdim);
            conj(&quotients(&self.to_dtype(grad.dtype())?, &whole(result)?, dim)?)?.mul(&whole(grad)?)
        },
    }
    var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None,
        bool keepdim=False) -> Tensor as VarBackward0 {
        self => variance(grad, self, dim, correction, keepdim),
    }
    var_mean.correction(
        Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False
    ) -> (Tensor, Tensor) as VarMeanBackward0 {
        self => {
            let grads = [grads[0].as_ref(), grads[1].as_ref()];
            variance_and_mean(grads, self, dim, correction, keepdim)
        },
    }
    std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None,
        bool keepdim=False) -> Tensor as StdBackward0 {
        self => variance(&of_square(grad, result)?, self, dim, correction, keepdim),
    }
    std_mean.correction(
        Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False
    ) -> (Tensor, Tensor) as StdMeanBackward0 {
        self => {
            let of_variance = grads[0].as_ref().map(|grad| of_square(grad, result0)).transpose()?;
            variance_and_mean([of_variance.as_ref(), grads[1].as_ref()], self, dim, correction, keepdim)
        },
    }
    linalg_vector_norm(
        Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None
    ) -> Tensor as LinalgVectorNormBackward0 {
        self => norm(grad, self, result, ord.cast(), dim.unwrap_or_default(), keepdim),
    }
    #[in_place]
    renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor as RenormBackward0 {
        self => renorm(grad, self, p, dim, maxnorm),
    }
    dist(Tensor self, Tensor other, Scalar p=2) -> Tensor as DistBackward0 {
        self => norm(grad, &self.sub(other)?, result, p.cast(), &[], false),
        other => norm(grad, &self.sub(other)?, result, p.cast(), &[], false)?.map(|grad| grad.neg()).transpose(),
    }
    norm.Scalar(Tensor self, Scalar p=2) -> Tensor as NormBackward0 {
        self => norm(grad, self, result, p.cast(), &[], false),
    }
    norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor as NormBackward1 {
        self => norm(grad, self, result, p.map_or(2.0, Scalar::cast), dim, keepdim),
    }
    max(Tensor self) -> Tensor as MaxBackward1 {
        self => extreme(grad, self, result),
    }
    min(Tensor self) -> Tensor as MinBackward1 {
        self => extreme(grad, self, result),
    }
    max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices) as MaxBackward0 {
        self => selected(grad, metadata(self), dim, indices, keepdim),
        indices => non_differentiable,
    }
    min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices) as MinBackward0 {
        self => selected(grad, metadata(self), dim, indices, keepdim),
        indices => non_differentiable,
    }
    logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor as LogsumexpBackward0 {
        self => {
            let whole = |reduced| restored(reduced, self.dim(), dim, keepdim);
            whole(grad)?.mul(&conj(&self.sub(&whole(result)?)?.exp()?)?)
        },
    }

    argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor as non_differentiable;
    argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor as non_differentiable;
    any(Tensor self) -> Tensor as non_differentiable;
    any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor as non_differentiable;
    any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor as non_differentiable;
    all(Tensor self) -> Tensor as non_differentiable;
    all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor as non_differentiable;
    all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor as non_differentiable;
    count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor as non_differentiable;
    count_nonzero(Tensor self, int? dim=None) -> Tensor as non_differentiable;
    equal(Tensor self, Tensor other) -> bool as non_differentiable;
    hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor as non_differentiable;
    aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max) as AminmaxBackward0 {
        self => {
            let dims: Vec<i64> = dim.into_iter().collect();
            let parts = grads.iter().zip([min, max]).filter_map(|(grad, result)| {
                grad.as_ref().map(|grad| shared(grad, self, result, &dims, keepdim))
            });
            parts.reduce(|sum, part| sum?.add(&part?)).transpose()
        },
    }
    nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor as NansumBackward0 {
        self => {
            let grad = restored(&grad.to_dtype(self.dtype())?, self.dim(), dim.unwrap_or_default(), keepdim)?;
            grad.mul(&aten::logical_not(&aten::isnan(self)?)?)
        },
    }
}

/// The dimensions that a reduction removed, in order; an empty list means all.
fn reduced(ndim: usize, dims: &[i64]) -> Result<Vec<usize>> {
    if dims.is_empty() || ndim == 0 {
        return Ok((0..ndim).collect());
    }
    let mut dims = dims.iter().map(|dim| wrap_dim(*dim, ndim)).collect::<Result<Vec<_>>>()?;
    dims.sort_unstable();
    Ok(dims)
}

/// A reduced tensor with its removed dimensions restored, each of size 1.
pub(super) fn restored(reduced_tensor: &Tensor, ndim: usize, dims: &[i64], keepdim: bool) -> Result<Tensor> {
    let mut tensor = reduced_tensor.clone();
    if !keepdim {
        for dim in reduced(ndim, dims)? {
            tensor = tensor.unsqueeze(dim as i64)?;
        }
    }
    Ok(tensor)
}

/// The number of elements that are reduced to one.
pub(super) fn count(sizes: &[i64], dims: &[i64]) -> Result<i64> {
    Ok(saturating_numel(reduced(sizes.len(), dims)?.into_iter().map(|dim| &sizes[dim])))
}

/// The gradient of an extreme: equal extremes share it evenly.
pub(super) fn shared(
    grad: &Tensor,
    this: &Tensor,
    result: &Tensor,
    dims: &[i64],
    keepdim: bool,
) -> Result<Tensor> {
    let grad = restored(grad, this.dim(), dims, keepdim)?;
    let extreme = aten::eq_Tensor(&restored(result, this.dim(), dims, keepdim)?, this)?;
    let dims: Vec<i64> = reduced(this.dim(), dims)?.into_iter().map(|dim| dim as i64).collect();
    let how_many = if dims.is_empty() { aten::sum(&extreme)? } else { extreme.sum_dim(&dims, true)? };
    grad.mul(&extreme)?.div(&how_many)
}

/// For each element, the product of the others along a dimension, given the product of all.
///
/// If it cannot be determined whether elements are zero, they are assumed to be.
fn quotients(this: &Tensor, product: &Tensor, dim: i64) -> Result<Tensor> {
    let is_safe = is_readable(this) && no_grad(|| aten::all(this)?.item())? == Scalar::Bool(true);
    if is_safe { product.div(this) } else { products_of_others(this, dim) }
}

/// For each element, the product of the others along a dimension, as the product of those before and those after it:
/// this also works where elements are zero.
pub(super) fn products_of_others(this: &Tensor, dim: i64) -> Result<Tensor> {
    if this.dim() == 0 || this.size(dim)? == 0 {
        return aten::ones_like(this);
    }
    let rest = this.size(dim)? - 1;
    let one = aten::ones_like(&this.narrow(dim, 0, 1)?)?;
    let products_before = |x: &Tensor| {
        let shifted = aten::cat::call(&[one.clone(), x.narrow(dim, 0, rest)?], dim)?;
        aten::cumprod(&shifted, dim)
    };
    let behind = aten::flip(&products_before(&aten::flip(this, &[dim])?)?, &[dim])?;
    products_before(this)?.mul(&behind)
}

fn variance(
    grad: &Tensor,
    this: &Tensor,
    dims: Option<&[i64]>,
    correction: Option<Scalar>,
    keepdim: bool,
) -> Result<Tensor> {
    let is_of_all = dims.is_none() || this.dim() == 0;
    let dims = dims.unwrap_or_default();
    let degrees = count(this.sizes(), dims)? as f64 - correction.map_or(1.0, Scalar::cast::<f64>);
    let mean = if dims.is_empty() { this.mean()? } else { this.mean_dim(dims, true)? };
    if is_of_all && degrees <= 0.0 {
        // As in PyTorch, which tells negative degrees of freedom from zero only if dimensions are given.
        let is_mean = aten::eq_Tensor(this, &mean)?;
        return grad.mul(&aten::where_Scalar(&is_mean, f64::NAN.into(), f64::INFINITY.into())?);
    }
    let distance = this.sub(&mean)?;
    restored(grad, this.dim(), dims, keepdim)?.mul(&distance.mul(2.0 / degrees)?)
}

/// The gradient of a square, from that of its square root.
fn of_square(grad: &Tensor, root: &Tensor) -> Result<Tensor> {
    let is_zero = aten::eq_Scalar(root, Scalar::from(0))?;
    aten::where_ScalarSelf(&is_zero, Scalar::from(0), &grad.div(&root.mul(2)?)?)
}

fn variance_and_mean(
    [of_variance, of_mean]: [Option<&Tensor>; 2],
    this: &Tensor,
    dims: Option<&[i64]>,
    correction: Option<Scalar>,
    keepdim: bool,
) -> Result<Option<Tensor>> {
    let of_variance = of_variance.map(|grad| variance(grad, this, dims, correction, keepdim));
    let dims = dims.unwrap_or_default();
    let of_mean = of_mean.map(|grad| {
        let count = count(this.sizes(), dims)?;
        restored(grad, this.dim(), dims, keepdim)?.expand(this.sizes())?.div(count)
    });
    of_variance.into_iter().chain(of_mean).reduce(|sum, part| sum?.add(&part?)).transpose()
}

/// The gradient of a vector norm; none for order 0, which counts elements.
fn norm(
    grad: &Tensor,
    this: &Tensor,
    result: &Tensor,
    ord: f64,
    dims: &[i64],
    keepdim: bool,
) -> Result<Option<Tensor>> {
    if ord == 0.0 {
        return Ok(None);
    }
    let (grad, result) =
        (restored(grad, this.dim(), dims, keepdim)?, restored(result, this.dim(), dims, keepdim)?);
    if ord == 1.0 {
        return grad.mul(&direction(this)?).map(Some);
    }
    if ord.is_infinite() {
        let extreme = aten::logical_or(&aten::eq_Tensor(&this.abs()?, &result)?, &aten::isnan(this)?)?;
        let dims: Vec<i64> = if dims.is_empty() { (0..this.dim() as i64).collect() } else { dims.to_vec() };
        let how_many = extreme.sum_dim(&dims, true)?;
        return direction(this)?.mul(&extreme)?.mul(&grad.div(&how_many)?).map(Some);
    }
    let is_zero = aten::eq_Scalar(&result, Scalar::from(0))?;
    if ord == 2.0 {
        // The quotient is at most 1; that of the gradient and a small norm could overflow.
        let slope = aten::masked_fill_Scalar(&this.div(&result)?, &is_zero, Scalar::from(0))?;
        return grad.mul(&slope).map(Some);
    }
    let scale = grad.div(&aten::pow_Tensor_Scalar(&result, Scalar::from(ord - 1.0))?)?;
    let scale = aten::where_ScalarSelf(&is_zero, Scalar::from(0), &scale)?;
    let steepness = aten::pow_Tensor_Scalar(&this.abs()?, Scalar::from(ord - 1.0))?;
    let steepness = match ord < 1.0 {
        // The slope is infinite at zero, where the subgradient is taken to be zero.
        true => aten::masked_fill_Scalar(&steepness, &aten::eq_Scalar(this, 0.into())?, 0.into())?,
        false => steepness,
    };
    direction(this)?.mul(&steepness)?.mul(&scale).map(Some)
}

/// The gradient of `renorm`: for slices that were scaled down, the component that would change their norm is removed.
fn renorm(grad: &Tensor, this: &Tensor, p: Scalar, dim: i64, maxnorm: Scalar) -> Result<Tensor> {
    let dims = dims_beside(dim, this.dim())?;
    let wide = opmath_type(this.dtype());
    let length = aten::linalg_vector_norm::call(this, p, Some(&dims), true, Some(wide))?;
    let along = conj(this)?.mul(grad)?;
    let along = if along.dtype().is_complex() { aten::real(&along)? } else { along };
    let along = aten::sum_dim_IntList::call(&along, Some(&dims), true, Some(wide.to_real()))?;
    let inverse = aten::reciprocal(&length.add(MARGIN)?)?;
    let longer = norm(&along, this, &length, p.cast(), &dims, true)?;
    let longer = longer.map_or_else(|| aten::zeros_like(grad), |longer| longer.mul(&inverse))?;
    let scaled = grad.sub(&longer)?.mul(&inverse.mul(maxnorm)?)?;
    aten::where_self(&aten::gt_Scalar(&length, maxnorm)?, &aten::to_dtype(&scaled, grad.dtype())?, grad)
}

/// The gradient of an extreme: equal extremes share it evenly, and so do NaNs.
pub(super) fn extreme(grad: &Tensor, this: &Tensor, result: &Tensor) -> Result<Tensor> {
    let are_none = aten::logical_and(&aten::isnan(this)?, &aten::isnan(result)?)?;
    let extreme = aten::logical_or(&aten::eq_Tensor(this, result)?, &are_none)?;
    grad.mul(&extreme)?.div(&aten::sum(&extreme)?)
}

/// The gradient of elements that were selected by index along a dimension.
pub(super) fn selected(
    grad: &Tensor,
    this: &InputMetadata,
    dim: i64,
    indices: &Tensor,
    keepdim: bool,
) -> Result<Tensor> {
    aten::value_selecting_reduction_backward(grad, dim, indices, this.sizes(), keepdim)
}
