//! Derivatives of sums and extremes: gradients are expanded to every element that was reduced.

use torch_library::derivatives;
use torch_library::geometry::{saturating_numel, wrap_dim};
use torch_library::prelude::*;

use crate::aten;
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
    argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor as non_differentiable;
    argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor as non_differentiable;
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
