//! Derivatives of writes and reductions at positions given by an index or a mask.

use torch_library::derivatives;
use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    #[in_place]
    scatter_reduce.two(
        Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True
    ) -> Tensor as ScatterReduceBackward0 {
        (self, src) =>
            Joined { tensor: self, dim, index: index.clone(), src, reduce, include_self, result }.gradients(grad),
        index => non_differentiable,
    }
    #[in_place]
    index_reduce(
        Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True
    ) -> Tensor as IndexReduceBackward0 {
        (self, source) => {
            let mut sizes = vec![1; source.dim()];
            if let Some(size) = sizes.get_mut(wrap_dim(dim, source.dim())?) {
                *size = index.numel();
            }
            let index = index.reshape(&sizes)?.expand(source.sizes())?;
            Joined { tensor: self, dim, index, src: source, reduce, include_self, result }.gradients(grad)
        },
        index => non_differentiable,
    }
    #[in_place]
    scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor as ScatterAddBackward0 {
        self => grad.clone(),
        index => non_differentiable,
        src => grad.gather(dim, index),
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
    embedding_dense_backward(
        Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq
    ) -> Tensor as EmbeddingDenseBackwardBackward0 {
        grad_output => embedded(grad, indices, padding_idx),
        indices => non_differentiable,
    }
    masked_scatter_backward(Tensor grad_output, Tensor mask,
        SymInt[] sizes) -> Tensor as MaskedScatterBackwardBackward0 {
        grad_output => aten::masked_scatter(&aten::new_zeros(grad, metadata(grad_output).sizes())?, mask, grad),
        mask => non_differentiable,
    }
    _unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices,
        Scalar fill) -> Tensor as UnsafeMaskedIndexBackward0 {
        self => aten::_unsafe_masked_index_put_accumulate(&aten::new_zeros(grad, self.sizes())?, mask, indices, grad),
        mask => non_differentiable,
        indices => non_differentiable,
    }
    _unsafe_masked_index_put_accumulate(
        Tensor self, Tensor mask, Tensor?[] indices, Tensor values
    ) -> Tensor as UnsafeMaskedIndexPutAccumulateBackward0 {
        self => grad.clone(),
        mask => non_differentiable,
        indices => non_differentiable,
        values => aten::_unsafe_masked_index(grad, mask, indices, 0.into()),
    }
}

/// The operands of such a reduction, and its result.
struct Joined<'a> {
    tensor: &'a Tensor,
    dim: i64,
    index: Tensor,
    src: &'a Tensor,
    reduce: &'a str,
    include_self: bool,
    result: &'a Tensor,
}

impl Joined<'_> {
    /// The gradients of `tensor` and of `src`.
    fn gradients(&self, grad: &Tensor) -> Result<(Tensor, Tensor)> {
        let (of_this, of_src) = match self.reduce {
            "prod" => self.of_product(grad)?,
            "mean" => {
                let own = if self.include_self { aten::ones_like(grad)? } else { aten::zeros_like(grad)? };
                let counts = self.sums(&own, &aten::ones_like(self.src)?)?;
                let share = grad.div(&aten::clamp_min(&counts, 1.into())?)?;
                (share.clone(), self.taken(&share)?)
            }
            "amax" | "amin" => {
                let is_it = |x: &Tensor, result: &Tensor| aten::eq_Tensor(x, result)?.to_dtype(grad.dtype());
                let own = is_it(self.tensor, self.result)?;
                let others = is_it(self.src, &self.taken(self.result)?)?;
                let share = grad.div(&self.sums(&own, &others)?)?;
                (own.mul(&share)?, others.mul(&self.taken(&share)?)?)
            }
            _ => (grad.clone(), self.taken(grad)?),
        };
        if self.include_self {
            return Ok((of_this, of_src));
        }
        Ok((aten::scatter_value(&of_this, self.dim, &self.index, 0.into())?, of_src))
    }

    /// The gradients of a product, without a division by zero: if a factor is the only zero, its gradient has the
    /// product of the others.
    fn of_product(&self, grad: &Tensor) -> Result<(Tensor, Tensor)> {
        let without = |x: &Tensor, mask: &Tensor| aten::masked_fill_Scalar(x, mask, 1.into());
        let is_zero = aten::eq_Scalar(self.tensor, 0.into())?;
        let own = without(self.tensor, &is_zero)?;
        let of_this = grad.mul(&self.joined(&own, self.src)?)?.div(&own)?;

        let is_zero = aten::eq_Scalar(self.src, 0.into())?;
        let zeros = self.sums(&aten::zeros_like(self.tensor)?, &is_zero.to_dtype(self.tensor.dtype())?)?;
        let is_only = aten::logical_and(&is_zero, &aten::eq_Scalar(&self.taken(&zeros)?, 1.into())?)?;
        let others = self.taken(&grad.mul(&self.joined(self.tensor, &without(self.src, &is_only)?)?)?)?;
        let quotient = self.taken(&grad.mul(self.result)?)?.div(&without(self.src, &is_zero)?)?;
        Ok((of_this, aten::where_self(&is_only, &others, &quotient)?))
    }

    fn joined(&self, this: &Tensor, src: &Tensor) -> Result<Tensor> {
        aten::scatter_reduce_two::call(this, self.dim, &self.index, src, self.reduce, self.include_self)
    }

    fn sums(&self, this: &Tensor, src: &Tensor) -> Result<Tensor> {
        aten::scatter_add(this, self.dim, &self.index, src)
    }

    /// The elements at the positions of the index.
    fn taken(&self, x: &Tensor) -> Result<Tensor> {
        x.gather(self.dim, &self.index)
    }
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
