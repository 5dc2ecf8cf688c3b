//! Derivatives of operators that read or write elements by position.

use torch_library::autograd::InputMetadata;
use torch_library::derivatives;
use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;
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
        self => aten::scatter_add(&aten::new_zeros(grad, self.sizes())?, dim, index, grad),
        index => non_differentiable,
    }
    #[in_place]
    scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor as ScatterAddBackward0 {
        self => grad.clone(),
        index => non_differentiable,
        src => grad.gather(dim, index),
    }
    index_select(Tensor self, int dim, Tensor index) -> Tensor as IndexSelectBackward0 {
        self => aten::index_select_backward(grad, self.sizes(), dim, index),
        index => non_differentiable,
    }
    #[in_place]
    index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor as IndexAddBackward0 {
        self => grad.clone(),
        index => non_differentiable,
        source => super::binary::scaled(&grad.index_select(dim, index)?.expand(source.sizes())?, alpha),
    }
    index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor as IndexCopyBackward0 {
        self => aten::index_copy(grad, dim, index, &aten::new_zeros(grad, source.sizes())?),
        index => non_differentiable,
        source => grad.index_select(dim, index)?.reshape(source.sizes()),
    }
    #[in_place]
    masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor as MaskedFillBackward0 {
        self => aten::masked_fill_Scalar(grad, mask, Scalar::from(0)),
        mask => non_differentiable,
    }
    #[in_place]
    masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor as MaskedFillBackward1 {
        self => aten::masked_fill_Scalar(grad, mask, Scalar::from(0)),
        mask => non_differentiable,
        value => aten::where_ScalarOther(mask, grad, Scalar::from(0))?.sum(),
    }
    #[in_place]
    scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor as ScatterBackward0 {
        self => aten::scatter_value(grad, dim, index, Scalar::from(0)),
        index => non_differentiable,
        src => grad.gather(dim, index),
    }
    #[in_place]
    scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor as ScatterBackward1 {
        self => aten::scatter_value(grad, dim, index, Scalar::from(0)),
        index => non_differentiable,
    }
    index.Tensor(Tensor self, Tensor?[] indices) -> Tensor as IndexBackward0 {
        self => aten::index_put::with(&aten::new_zeros(grad, self.sizes())?, indices, grad).accumulate(true).call(),
        indices => non_differentiable,
    }
    #[in_place]
    index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor as IndexPutBackward0 {
        self => overwritten(grad, indices, accumulate),
        indices => non_differentiable,
        values => aten::index_Tensor(grad, indices),
    }
    _unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor as UnsafeIndexBackward0 {
        self => {
            let zeros = aten::new_zeros(grad, self.sizes())?;
            aten::_unsafe_index_put::with(&zeros, indices, grad).accumulate(true).call()
        },
        indices => non_differentiable,
    }
    _unsafe_index_put(
        Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False
    ) -> Tensor as UnsafeIndexPutBackward0 {
        self => if accumulate {
            Ok(grad.clone())
        } else {
            aten::_unsafe_index_put(grad, indices, &aten::new_zeros(grad, &[])?)
        },
        indices => non_differentiable,
        values => aten::_unsafe_index_Tensor(grad, indices),
    }
    #[in_place]
    _index_put_impl(
        Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False, bool unsafe=False
    ) -> Tensor as IndexPutImplBackward0 {
        self => overwritten(grad, indices, accumulate),
        indices => non_differentiable,
        values => aten::index_Tensor(grad, indices),
    }
    #[in_place]
    put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor as PutBackward0 {
        self => if accumulate {
            Ok(grad.clone())
        } else {
            aten::put(grad, index, &aten::zeros_like(source)?)
        },
        index => non_differentiable,
        source => aten::take(grad, index)?.reshape(source.sizes()),
    }
    embedding(
        Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False
    ) -> Tensor as EmbeddingBackward0 {
        weight => aten::embedding_dense_backward(grad, indices, weight.size(0)?, padding_idx, scale_grad_by_freq),
        indices => non_differentiable,
    }
    embedding_dense_backward(
        Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq
    ) -> Tensor as EmbeddingDenseBackwardBackward0 {
        grad_output => embedded(grad, indices, padding_idx),
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

/// The gradient of a tensor to which values were written, or added, by index.
fn overwritten(grad: &Tensor, indices: &[Option<Tensor>], accumulate: bool) -> Result<Tensor> {
    if accumulate { Ok(grad.clone()) } else { aten::index_put(grad, indices, &aten::new_zeros(grad, &[])?) }
}

/// Looks up rows by index; the padding index gets zeros, since its gradient is not counted.
fn embedded(weight: &Tensor, indices: &Tensor, padding_idx: i64) -> Result<Tensor> {
    let rows = weight.index_select(0, &indices.reshape(&[-1])?)?;
    let mut sizes = indices.sizes().to_vec();
    sizes.extend_from_slice(&weight.sizes()[1..]);
    let rows = rows.reshape(&sizes)?;
    if padding_idx < 0 {
        return Ok(rows);
    }
    let is_padding = aten::eq_Scalar(indices, Scalar::from(padding_idx))?.unsqueeze(-1)?;
    aten::masked_fill_Scalar(&rows, &is_padding, Scalar::from(0))
}
