//! Batching rules for concatenation and for indexing.

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::boxed::{expanded, front};
use super::moved;
use super::scatter::for_each_place;
use crate::aten;

#[torch_impl(aten, FuncTorchBatched)]
mod rules {
    use super::*;

    fn cat(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
        let level = Level::current()?;
        // An empty vector is compatible with any sizes, as in the days when tensors without elements had no shape.
        let is_nothing = |tensor: &&Tensor| tensor.sizes() == [0];
        let kept: Vec<&Tensor> = tensors.iter().filter(|tensor| !is_nothing(tensor)).collect();
        let kept = if kept.is_empty() { tensors.iter().collect() } else { kept };
        let rank = kept.iter().map(|tensor| tensor.dim()).max().unwrap_or(0);
        let dim = wrap_dim(dim, rank).map_err(|error| error.context(aten::cat::NAME))?;
        let values = kept.into_iter().map(|tensor| expanded(level, tensor)).collect::<Result<Vec<_>>>()?;
        level.wrap(aten::cat::call(&values, dim as i64 + 1)?, 0)
    }

    fn stack(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
        let level = Level::current()?;
        let rank = tensors.first().map_or(0, Tensor::dim);
        let dim = wrap_dim(dim, rank + 1).map_err(|error| error.context(aten::stack::NAME))?;
        let values = tensors.iter().map(|tensor| expanded(level, tensor)).collect::<Result<Vec<_>>>()?;
        level.wrap(aten::stack::call(&values, dim as i64 + 1)?, 0)
    }

    fn index_select(this: &Tensor, dim: i64, index: &Tensor) -> Result<Tensor> {
        let level = Level::current()?;
        ensure!(
            index.dim() <= 1,
            Shape,
            "{}: an index of sizes {:?}, expected a vector",
            aten::index_select::NAME,
            index.sizes()
        );
        let is_number = this.dim() == 0;
        let dim =
            wrap_dim(dim, this.dim().max(1)).map_err(|error| error.context(aten::index_select::NAME))?;
        let (mut value, mut indices) = (expanded(level, this)?, front(level, index)?);
        if is_number {
            value = aten::unsqueeze(&value, 1)?;
        }
        if index.dim() == 0 {
            indices = aten::unsqueeze(&indices, -1)?;
        }
        let dim = dim as i64 + 1;
        let selected = match level.has(index) {
            true => select_own(&value, dim, &indices)?,
            false => aten::index_select(&value, dim, &indices)?,
        };
        level.wrap(if is_number { aten::squeeze_dim(&selected, 1)? } else { selected }, 0)
    }

    fn embedding(
        weight: &Tensor,
        indices: &Tensor,
        padding_idx: i64,
        scale_grad_by_freq: bool,
        sparse: bool,
    ) -> Result<Tensor> {
        let level = Level::current()?;
        if !level.has(weight) {
            let rows = aten::embedding::call(
                weight,
                &front(level, indices)?,
                padding_idx,
                scale_grad_by_freq,
                sparse,
            )?;
            return level.wrap(rows, 0);
        }
        ensure!(
            weight.dim() == 2,
            Shape,
            "{}: a weight of sizes {:?}, expected a matrix",
            aten::embedding::NAME,
            weight.sizes()
        );
        let flat = aten::flatten_using_ints::call(&aten::unsqueeze(&expanded(level, indices)?, 1)?, 1, -1)?;
        let rows = select_own(&front(level, weight)?, 1, &flat)?;
        let sizes = [&[level.batch_size()], indices.sizes(), &weight.sizes()[1..]].concat();
        level.wrap(aten::reshape(&rows, &sizes)?, 0)
    }

    fn embedding_dense_backward(
        grad_output: &Tensor,
        indices: &Tensor,
        num_weights: i64,
        padding_idx: i64,
        scale_grad_by_freq: bool,
    ) -> Result<Tensor> {
        let level = Level::current()?;
        let batch = level.batch_size();
        ensure!(
            grad_output.dim() > 0,
            Shape,
            "{}: a gradient without dimensions, expected those of the indices and one more",
            aten::embedding_dense_backward::NAME
        );
        if !level.has(indices) {
            // All examples have the same rows, and columns of their own.
            let last = moved(&front(level, grad_output)?, 0, grad_output.dim() - 1)?;
            let grad = aten::flatten_using_ints::call(&last, -2, -1)?;
            let rows =
                aten::embedding_dense_backward(&grad, indices, num_weights, padding_idx, scale_grad_by_freq)?;
            return level.wrap(aten::unflatten_int(&rows, 1, &[batch, -1])?, 1);
        }
        // Each example has its own rows: the tables of all examples are stacked.
        let first = aten::arange::with(batch.into()).dtype(DType::Int64).device(indices.device());
        let first = aten::mul_Scalar(&first.call()?, num_weights.into())?;
        let first = (0..indices.dim()).try_fold(first, |first, _| aten::unsqueeze(&first, -1))?;
        let (indices, rows) = (front(level, indices)?, batch.saturating_mul(num_weights));
        let own = aten::add_Tensor(&indices, &first)?;
        // An index out of range would be the row of another example: it becomes one that no example has.
        let (least, most) =
            (aten::ge_Scalar(&indices, 0.into())?, aten::lt_Scalar(&indices, num_weights.into())?);
        let own = aten::where_ScalarOther(&aten::logical_and(&least, &most)?, &own, rows.into())?;
        let grad = expanded(level, grad_output)?;
        let rows = aten::embedding_dense_backward(&grad, &own, rows, -1, scale_grad_by_freq)?;
        let rows = aten::unflatten_int(&rows, 0, &[batch, num_weights])?;
        if (0..num_weights).contains(&padding_idx) {
            aten::zero_(&mut aten::select_int(&rows, 1, padding_idx)?)?;
        }
        level.wrap(rows, 0)
    }
}

/// Selects along a dimension of `value` by each example's own row of `indices`; both have the batch in front.
fn select_own(value: &Tensor, dim: i64, indices: &Tensor) -> Result<Tensor> {
    let mut sizes = value.sizes().to_vec();
    sizes[dim as usize] = indices.sizes()[1];
    let index = for_each_place(indices, dim, &sizes)?;
    aten::gather(value, dim, &index)
}
