//! Derivatives of sorting, and of elements by their rank.

use torch_library::derivatives;

use super::reduce::{extreme, selected};
use crate::aten;

derivatives! {
    in aten;

    sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices) as SortBackward0 {
        self => selected(grad, metadata(self), dim, indices, true),
        indices => non_differentiable,
    }
    sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values,
        Tensor indices) as SortBackward1 {
        self => selected(grad, metadata(self), dim, indices, true),
        indices => non_differentiable,
    }
    topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values,
        Tensor indices) as TopkBackward0 {
        self => selected(grad, metadata(self), dim, indices, true),
        indices => non_differentiable,
    }
    kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values,
        Tensor indices) as KthvalueBackward0 {
        self => selected(grad, metadata(self), dim, indices, keepdim),
        indices => non_differentiable,
    }
    median(Tensor self) -> Tensor as MedianBackward0 {
        self => extreme(grad, self, result),
    }
    median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices) as MedianBackward1 {
        self => selected(grad, metadata(self), dim, indices, keepdim),
        indices => non_differentiable,
    }
    nanmedian(Tensor self) -> Tensor as NanmedianBackward0 {
        self => extreme(grad, self, result),
    }
    nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices) as NanmedianBackward1 {
        self => selected(grad, metadata(self), dim, indices, keepdim),
        indices => non_differentiable,
    }
    mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices) as ModeBackward0 {
        self => selected(grad, metadata(self), dim, indices, keepdim),
        indices => non_differentiable,
    }
}
