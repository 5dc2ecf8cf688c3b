//! Indexing where a mask is true, indexing without masks, and the gradient of `masked_scatter`.

use torch_library::geometry::numel;
use torch_library::prelude::*;

use crate::aten;

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn masked_scatter_backward(grad_output: &Tensor, mask: &Tensor, sizes: &[i64]) -> Result<Tensor> {
        const OPERATOR: &str = aten::masked_scatter_backward::NAME;
        if grad_output.device() == Device::META {
            return aten::new_zeros(grad_output, sizes); // without data, the number of selected elements is unknown
        }
        let taken = aten::masked_select(grad_output, mask)?;
        let wanted = numel(sizes).map_err(|error| error.context(OPERATOR))?;
        ensure!(
            taken.numel() <= wanted,
            Shape,
            "{OPERATOR}: the mask picks {} elements, more than sizes {sizes:?} have",
            taken.numel()
        );
        let rest = aten::new_zeros(grad_output, &[wanted - taken.numel()])?;
        aten::reshape(&aten::cat(&[taken, rest])?, sizes)
    }

    fn _unsafe_index_Tensor(this: &Tensor, indices: &[Option<Tensor>]) -> Result<Tensor> {
        for index in indices.iter().flatten().filter(|index| index.is_defined()) {
            check_numbers(aten::_unsafe_index_Tensor::NAME, index)?;
        }
        aten::index_Tensor(this, indices)
    }

    fn _unsafe_index_put(
        this: &Tensor,
        indices: &[Option<Tensor>],
        values: &Tensor,
        accumulate: bool,
    ) -> Result<Tensor> {
        aten::index_put::call(this, indices, values, accumulate)
    }

    fn _index_put_impl(
        this: &Tensor,
        indices: &[Option<Tensor>],
        values: &Tensor,
        accumulate: bool,
        _unsafe: bool,
    ) -> Result<Tensor> {
        aten::index_put::call(this, indices, values, accumulate)
    }

    fn _unsafe_masked_index(
        this: &Tensor,
        mask: &Tensor,
        indices: &[Option<Tensor>],
        fill: Scalar,
    ) -> Result<Tensor> {
        let indices = inside(aten::_unsafe_masked_index::NAME, this, indices)?;
        let fill = whole(fill, this.dtype());
        if this.numel() == 0 {
            // There is nothing to select, but the result has sizes.
            let sizes: Vec<i64> = this.sizes().iter().map(|size| (*size).max(1)).collect();
            return aten::full_like(&aten::index_Tensor(&aten::new_zeros(this, &sizes)?, &indices)?, fill);
        }
        let picked = aten::index_Tensor(this, &indices)?;
        aten::masked_fill_Scalar(&picked, &aten::logical_not(mask)?, fill)
    }

    fn _unsafe_masked_index_put_accumulate(
        this: &Tensor,
        mask: &Tensor,
        indices: &[Option<Tensor>],
        values: &Tensor,
    ) -> Result<Tensor> {
        if this.numel() == 0 {
            return aten::clone(this);
        }
        let indices = inside(aten::_unsafe_masked_index_put_accumulate::NAME, this, indices)?;
        let values = aten::masked_fill_Scalar(values, &aten::logical_not(mask)?, 0.into())?;
        aten::index_put::with(this, &indices, &values).accumulate(true).call()
    }
}

/// Indices clamped to the valid range.
fn inside(operator: &str, this: &Tensor, indices: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
    ensure!(
        indices.len() <= this.dim(),
        Shape,
        "{operator}: {} indices for sizes {:?}",
        indices.len(),
        this.sizes()
    );
    let clamped = indices.iter().zip(this.sizes()).map(|(index, size)| {
        let Some(index) = index.as_ref().filter(|index| index.is_defined()) else { return Ok(None) };
        check_numbers(operator, index)?;
        let size = (*size).max(1);
        aten::clamp::call(index, Some((-size).into()), Some((size - 1).into())).map(Some)
    });
    clamped.collect()
}

/// Rejects masks, and dtypes that cannot index.
fn check_numbers(operator: &str, index: &Tensor) -> Result<()> {
    let dtype = index.dtype();
    ensure!(
        matches!(dtype, DType::Int32 | DType::Int64),
        DType,
        "{operator}: an index of {dtype}, expected int32 or int64"
    );
    Ok(())
}

/// A scalar as the dtype holds it: truncated, for integers.
fn whole(fill: Scalar, dtype: DType) -> Scalar {
    if dtype.is_differentiable() || dtype == DType::Bool { fill } else { fill.cast::<i64>().into() }
}
