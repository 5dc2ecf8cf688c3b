//! Operators that rearrange elements, where a kernel of its own is faster than the composite one.

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::arrange::dims_of_diagonal;
use crate::loops;

#[torch_impl(aten, CPU, Meta)]
fn flip(this: &Tensor, dims: &[i64]) -> Result<Tensor> {
    let wrap = |dim: &i64| wrap_dim(*dim, this.dim()).map_err(|error| error.context(aten::flip::NAME));
    let dims: Vec<usize> = dims.iter().map(wrap).collect::<Result<_>>()?;
    let twice = (1..dims.len()).any(|at| dims[..at].contains(&dims[at]));
    ensure!(!twice, Argument, "{}: a dimension is named twice in {dims:?}", aten::flip::NAME);
    loops::copy_back_to_front(this, |dim| dims.contains(&dim))
}

/// Computes the same as the composite kernel, which tests each position for being on the diagonal.
#[torch_impl(aten, CPU)]
fn diag_embed(this: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    let [dim1, dim2] = dims_of_diagonal(this, dim1, dim2)?;
    let size = this.size(-1)?.saturating_add(offset.saturating_abs());
    let mut sizes = this.sizes()[..this.dim() - 1].to_vec();
    for dim in [dim1.min(dim2), dim1.max(dim2)] {
        sizes.insert(dim, size);
    }
    let out = Tensor::zeros(&sizes, this.dtype(), this.device())
        .map_err(|error| error.context(aten::diag_embed::NAME))?;
    if loops::has_elements(this) {
        let (mut strides, below, above) = (out.strides().to_vec(), offset.min(0).abs(), offset.max(0));
        let (step, start) = (strides[dim1] + strides[dim2], below * strides[dim1] + above * strides[dim2]);
        strides.remove(dim1.max(dim2));
        strides.remove(dim1.min(dim2));
        strides.push(step);
        loops::assign(&out.strided_view(this.sizes(), &strides, start)?, this)?;
    }
    Ok(out)
}
