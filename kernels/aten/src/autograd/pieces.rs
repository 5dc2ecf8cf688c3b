//! Derivatives of splits whose parts are not views, of grouped matrix products, and of mantissas.

use torch_library::derivatives;
use torch_library::prelude::*;

use super::view::joined;
use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[] as UnsafeSplitBackward0 {
        self => joined(grads, self.sizes(), self.dtype(), &vec![split_size; grads.len()], dim),
    }
    unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[] as UnsafeSplitWithSizesBackward0 {
        self => joined(grads, self.sizes(), self.dtype(), split_sizes, dim),
    }
    nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor as non_differentiable;
    _unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor) as UniqueBackward0 {
        self => without_derivative(),
        result1 => non_differentiable,
    }
    _grouped_mm(
        Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None
    ) -> Tensor as GroupedMmBackward0 {
        self =>
            aten::_grouped_mm::with(&aten::contiguous(grad)?, &aten::transpose_int(mat2, -2, -1)?).offs(offs).call(),
        mat2 =>
            aten::_grouped_mm::with(&aten::transpose_int(self, -2, -1)?, &aten::contiguous(grad)?).offs(offs).call(),
        offs => non_differentiable,
        bias => cannot_require_grad,
    }
    frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent) as FrexpBackward0 {
        self => grad.div(&aten::exp2(exponent)?),
        exponent => non_differentiable,
    }
}

fn without_derivative() -> Result<Tensor> {
    bail!(NotSupported, "the derivative of `_unique` is not implemented")
}
