//! Bags of embeddings, and their gradients.

use torch_library::prelude::*;

use crate::arguments::BagMode;
use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn embedding_bag(
        weight: &Tensor,
        indices: &Tensor,
        offsets: &Tensor,
        scale_grad_by_freq: bool,
        mode: i64,
        sparse: bool,
        share: Option<&Tensor>,
        include_last_offset: bool,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        let last = include_last_offset;
        embedding_bag_padding_idx(
            weight,
            indices,
            offsets,
            scale_grad_by_freq,
            mode,
            sparse,
            share,
            last,
            None,
        )
    }

    fn embedding_bag_padding_idx(
        weight: &Tensor,
        indices: &Tensor,
        offsets: &Tensor,
        scale_grad_by_freq: bool,
        mode: i64,
        sparse: bool,
        share: Option<&Tensor>,
        include_last_offset: bool,
        padding_idx: Option<i64>,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
        let rows = weight.sizes().first().copied().unwrap_or(0);
        let padding = padding_idx.map(|row| if row < 0 { row.saturating_add(rows) } else { row });
        ensure!(
            padding.is_none_or(|row| (0..rows).contains(&row)),
            Argument,
            "{}: padding_idx {padding_idx:?} is out of range for {rows} rows",
            aten::embedding_bag_padding_idx::NAME
        );
        let (last, padding) = (include_last_offset, padding.unwrap_or(-1));
        let pool = match weight.requires_grad() {
            true => aten::_embedding_bag::call,
            false => aten::_embedding_bag_forward_only::call,
        };
        pool(weight, indices, offsets, scale_grad_by_freq, mode, sparse, share, last, padding)
    }

    fn _embedding_bag_backward(
        grad: &Tensor,
        indices: &Tensor,
        offsets: &Tensor,
        offset2bag: &Tensor,
        bag_size: &Tensor,
        maximum_indices: &Tensor,
        num_weights: i64,
        scale_grad_by_freq: bool,
        mode: i64,
        _sparse: bool,
        per_sample_weights: Option<&Tensor>,
        padding_idx: i64,
    ) -> Result<Tensor> {
        let bags = bag_of_each(indices, offsets, offset2bag)?;
        aten::_embedding_bag_dense_backward::call(
            grad,
            indices,
            &bags,
            bag_size,
            maximum_indices,
            num_weights,
            scale_grad_by_freq,
            mode,
            per_sample_weights,
            padding_idx,
        )
    }

    fn _embedding_bag_dense_backward(
        grad: &Tensor,
        indices: &Tensor,
        offset2bag: &Tensor,
        bag_size: &Tensor,
        maximum_indices: &Tensor,
        num_weights: i64,
        scale_grad_by_freq: bool,
        mode: i64,
        per_sample_weights: Option<&Tensor>,
        padding_idx: i64,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_embedding_bag_dense_backward::NAME;
        let mode = BagMode::of(OPERATOR, mode)?;
        let is_there = |sizes: &Tensor| aten::unsqueeze(&aten::ne_Scalar(sizes, 0.into())?, 1);
        if mode == BagMode::Max {
            // A bag without rows has no maximum, and gives no gradient.
            let zeros = aten::new_zeros(grad, &[num_weights, grad.size(1)?])?;
            let index = aten::to_dtype(maximum_indices, DType::Int64)?;
            return aten::scatter_add(&zeros, 0, &index, &aten::mul_Tensor(grad, &is_there(bag_size)?)?);
        }
        let mut grad = grad.clone();
        if mode == BagMode::Mean {
            let sizes = aten::to_dtype(&aten::clamp_min(bag_size, 1.into())?, grad.dtype())?;
            grad = aten::div_Tensor(&grad, &aten::unsqueeze(&sizes, 1)?)?;
        }
        let mut rows = aten::index_select(&grad, 0, offset2bag)?;
        if let Some(share) = per_sample_weights {
            rows = aten::mul_Tensor(&rows, &aten::unsqueeze(share, 1)?)?;
        }
        aten::embedding_dense_backward(&rows, indices, num_weights, padding_idx, scale_grad_by_freq)
    }

    fn _embedding_bag_per_sample_weights_backward(
        grad: &Tensor,
        weight: &Tensor,
        indices: &Tensor,
        offsets: &Tensor,
        offset2bag: &Tensor,
        mode: i64,
        padding_idx: i64,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::_embedding_bag_per_sample_weights_backward::NAME;
        let is_sum = BagMode::of(OPERATOR, mode)? == BagMode::Sum;
        ensure!(is_sum, Argument, "{OPERATOR}: mode {mode}, per-sample weights need mode 0 (sum)");
        let bags = bag_of_each(indices, offsets, offset2bag)?;
        let rows = aten::index_select(weight, 0, indices)?;
        let products = aten::mul_Tensor(&aten::index_select(grad, 0, &bags)?, &rows)?;
        let sums = aten::sum_dim_IntList(&products, Some(&[1]))?;
        match padding_idx {
            ..0 => Ok(sums),
            row => aten::masked_fill_Scalar(&sums, &aten::eq_Scalar(indices, row.into())?, 0.into()),
        }
    }
}

/// The bag that each index is in, where that is not given: the number of bags that start at or before it, minus one.
fn bag_of_each(indices: &Tensor, offsets: &Tensor, offset2bag: &Tensor) -> Result<Tensor> {
    let count = indices.numel();
    if offset2bag.numel() == count {
        return Ok(offset2bag.clone());
    }
    let marks = aten::new_zeros(offsets, &[count.saturating_add(1)])?;
    let marks = aten::index_add(&marks, 0, offsets, &aten::ones_like(offsets)?)?;
    let marks = aten::narrow(&aten::cumsum::call(&marks, 0, Some(offsets.dtype()))?, 0, 0, count)?;
    aten::sub_Scalar(&marks, 1.into())
}
