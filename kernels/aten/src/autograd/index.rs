//! Derivatives of concatenation, and of operators that read elements by position.

use torch_library::autograd::InputMetadata;
use torch_library::derivatives;
use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::scatter::gathered;
use crate::prelude::*;

derivatives! {
    in aten;

    cat(Tensor[] tensors, int dim=0) -> Tensor as CatBackward0 {
        tensors => parts(grad, metadata(tensors), dim),
    }
    stack(Tensor[] tensors, int dim=0) -> Tensor as StackBackward0 {
        tensors => slices(grad, metadata(tensors).len(), dim),
    }
    gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor as GatherBackward0 {
        self => gathered(grad, self.sizes(), dim, index, sparse_grad),
        index => non_differentiable,
    }
    take(Tensor self, Tensor index) -> Tensor as TakeBackward0 {
        self => {
            let zeros = aten::new_zeros(grad, &[self.numel()])?;
            let index = [Some(index.clone())];
            let flat = aten::index_put::with(&zeros, &index, grad).accumulate(true).call()?;
            flat.reshape(self.sizes())
        },
        index => non_differentiable,
    }
    index_select(Tensor self, int dim, Tensor index) -> Tensor as IndexSelectBackward0 {
        self => aten::index_select_backward(grad, self.sizes(), dim, index),
        index => non_differentiable,
    }
    index.Tensor(Tensor self, Tensor?[] indices) -> Tensor as IndexBackward0 {
        self => aten::index_put::with(&aten::new_zeros(grad, self.sizes())?, indices, grad).accumulate(true).call(),
        indices => non_differentiable,
    }
    nonzero(Tensor self) -> Tensor as non_differentiable;
    embedding(
        Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False
    ) -> Tensor as EmbeddingBackward0 {
        weight => aten::embedding_backward(
            grad, indices, weight.size(0)?, padding_idx, scale_grad_by_freq, sparse,
        ),
        indices => non_differentiable,
    }
    _embedding_bag(
        Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False,
        Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1
    ) -> (Tensor, Tensor, Tensor, Tensor) as EmbeddingBagBackward0 {
        weight => aten::_embedding_bag_backward::call(
            grad, indices, offsets, result1, result2, result3, weight.size(0)?, scale_grad_by_freq, mode, sparse,
            per_sample_weights, padding_idx,
        ),
        indices => non_differentiable,
        offsets => non_differentiable,
        per_sample_weights => aten::_embedding_bag_per_sample_weights_backward::call(
            grad, weight, indices, offsets, result1, mode, padding_idx,
        ),
        result1 => non_differentiable,
        result2 => non_differentiable,
        result3 => non_differentiable,
    }
    nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor as non_differentiable;
}

/// The gradient of each of the tensors that were concatenated.
fn parts(grad: &Tensor, tensors: &[InputMetadata], dim: i64) -> Result<Vec<Tensor>> {
    let is_skipped = |tensor: &&InputMetadata| tensor.sizes() == [0]; // by `cat`
    let axis = match tensors.iter().all(|tensor| is_skipped(&tensor)) {
        true => 0, // without elements, any dimension will do
        false => wrap_dim(dim, grad.dim())? as i64,
    };
    let mut start = 0;
    let part = |tensor: &InputMetadata| {
        if is_skipped(&tensor) {
            return aten::new_zeros(grad, &[0]);
        }
        let size = tensor.size(axis)?;
        start += size;
        grad.narrow(axis, start - size, size)
    };
    tensors.iter().map(part).collect()
}

/// The gradient of each of the tensors that were stacked.
fn slices(grad: &Tensor, count: usize, dim: i64) -> Result<Vec<Tensor>> {
    (0..count as i64).map(|index| grad.select(dim, index)).collect()
}
