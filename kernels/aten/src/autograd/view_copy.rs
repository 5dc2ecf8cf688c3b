//! Derivatives of copying views, which are those of the views.

use torch_library::derivatives;
use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use super::view::{joined, stacked, strided};
use crate::arguments::inverse;
use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    alias_copy(Tensor self) -> Tensor as AliasBackward0_copy {
        self => grad.clone(),
    }
    lift_fresh_copy(Tensor self) -> Tensor as LiftFreshBackward0_copy {
        self => grad.clone(),
    }
    as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride,
        SymInt? storage_offset=None) -> Tensor as AsStridedBackward0_copy {
        self => strided::backward(grad, metadata(self), size, stride, storage_offset),
    }
    unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor as UnfoldBackward0_copy {
        self => {
            // The view of a contiguous tensor has the same elements.
            let places = aten::arange(Scalar::from(self.numel()))?.reshape(self.sizes())?;
            let shown = aten::unfold(&places, dimension, size, step)?.reshape(&[-1])?;
            let whole = aten::new_zeros(grad, &[self.numel()])?;
            aten::index_add(&whole, 0, &shown, &grad.reshape(&[-1])?)?.reshape(self.sizes())
        },
    }
    view_copy(Tensor self, SymInt[] size) -> Tensor as ViewBackward0_copy {
        self => grad.reshape(self.sizes()),
    }
    view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor as non_differentiable;
    _reshape_alias_copy(Tensor self, SymInt[] size, SymInt[] stride) -> Tensor as ReshapeAliasBackward0_copy {
        self => grad.reshape(self.sizes()),
    }
    _conj_copy(Tensor self) -> Tensor as ConjBackward0_copy {
        self => aten::conj(grad),
    }
    _neg_view_copy(Tensor self) -> Tensor as NegViewBackward0_copy {
        self => aten::neg(grad),
    }
    view_as_real_copy(Tensor self) -> Tensor as ViewAsRealBackward0_copy {
        self => aten::view_as_complex(&aten::contiguous(grad)?),
    }
    view_as_complex_copy(Tensor self) -> Tensor as ViewAsComplexBackward0_copy {
        self => aten::view_as_real(&aten::resolve_conj(&aten::contiguous(grad)?)?),
    }
    permute_copy(Tensor self, int[] dims) -> Tensor as PermuteBackward0_copy {
        self => grad.permute(&inverse(dims)?),
    }
    transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor as TransposeBackward0_copy {
        self => grad.transpose(dim0, dim1),
    }
    t_copy(Tensor self) -> Tensor as TBackward0_copy {
        self => grad.t(),
    }
    unsqueeze_copy(Tensor self, int dim) -> Tensor as UnsqueezeBackward0_copy {
        self => aten::squeeze_dim(grad, dim),
    }
    squeeze_copy(Tensor self) -> Tensor as SqueezeBackward0_copy {
        self => grad.reshape(self.sizes()),
    }
    squeeze_copy.dim(Tensor self, int dim) -> Tensor as SqueezeBackward1_copy {
        self => grad.reshape(self.sizes()),
    }
    squeeze_copy.dims(Tensor self, int[] dim) -> Tensor as SqueezeBackward2_copy {
        self => grad.reshape(self.sizes()),
    }
    expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor as ExpandBackward0_copy {
        self => aten::sum_to_size(grad, self.sizes()),
    }
    slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None,
        SymInt step=1) -> Tensor as SliceBackward0_copy {
        self => aten::slice_backward(grad, self.sizes(), dim, start.unwrap_or(0), end.unwrap_or(i64::MAX), step),
    }
    narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor as NarrowCopyBackward0 {
        self => {
            let size = self.sizes()[wrap_dim(dim, self.dim())?];
            let start = if start < 0 { start + size } else { start };
            aten::slice_backward(grad, self.sizes(), dim, start, start + length, 1)
        },
    }
    select_copy.int(Tensor self, int dim, SymInt index) -> Tensor as SelectBackward0_copy {
        self => aten::select_backward(grad, self.sizes(), dim, index),
    }
    diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor as DiagonalBackward0_copy {
        self => aten::diagonal_scatter::call(&aten::new_zeros(grad, self.sizes())?, grad, offset, dim1, dim2),
    }
    unbind_copy.int(Tensor self, int dim=0) -> Tensor[] as UnbindBackward0_copy {
        self => stacked(grads, dim),
    }
    split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[] as SplitBackward0_copy {
        self => joined(grads, self.sizes(), self.dtype(), &vec![split_size; grads.len()], dim),
    }
    split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[] as SplitWithSizesBackward0_copy {
        self => joined(grads, self.sizes(), self.dtype(), split_sizes, dim),
    }
}
