//! Kernels of extremes with their indices.

use torch_library::geometry::Dims;
use torch_library::prelude::*;

use crate::aten;
use crate::cpu::folds::{First, Largest, Smallest};
use crate::cpu::index::pick;
use crate::loops::match_opmath;
use crate::loops::pointwise::unsupported;
use crate::loops::reduce::{Fold, fold};
use crate::loops::reduction::Reduction;
use crate::number::Ordered;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn max_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        match_opmath!(this.dtype(), T: Bool | Integer | Float => {
            extreme::<T, _>(aten::max_dim::NAME, this, dim, keepdim, &First(Largest))
        }, else => Err(unsupported(aten::max_dim::NAME, this.dtype())))
    }

    fn min_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        match_opmath!(this.dtype(), T: Bool | Integer | Float => {
            extreme::<T, _>(aten::min_dim::NAME, this, dim, keepdim, &First(Smallest))
        }, else => Err(unsupported(aten::min_dim::NAME, this.dtype())))
    }
}

fn extreme<T: Ordered, F: Fold<T, Value = T>>(
    operator: &'static str,
    this: &Tensor,
    dim: i64,
    keepdim: bool,
    first: &First<F>,
) -> Result<(Tensor, Tensor)> {
    let reduction = Reduction::new(operator, this, Some(&[dim]), keepdim)?;
    ensure!(
        reduction.count() > 0,
        Shape,
        "{operator}: there is nothing to choose from in dimension {dim} of sizes {:?}",
        this.sizes()
    );
    let (values, indices) = (reduction.output(this.dtype())?, reduction.output(DType::Int64)?);
    let is_reduced = reduction.is_reduced();
    fold([&indices], this, is_reduced, first, |(_, position): (T, usize)| [position as i64])?;
    match is_reduced.iter().position(|is_reduced| *is_reduced) {
        Some(dim) if values.dtype() == this.dtype() && indices.dtype() == DType::Int64 => {
            let [to, at] = [kept(&values, dim, keepdim)?, kept(&indices, dim, keepdim)?];
            pick(operator, &to, this, dim, &at)?;
        }
        _ => fold([&values], this, is_reduced, first, |(value, _): (T, usize)| [value])?, // a tensor without dimensions
    }
    Ok((values, indices))
}

/// The result without the reduced dimension, unless `keepdim`.
fn kept(out: &Tensor, dim: usize, keepdim: bool) -> Result<Tensor> {
    if keepdim {
        return Ok(out.clone());
    }
    let (mut sizes, mut strides) = (Dims::from_slice(out.sizes()), Dims::from_slice(out.strides()));
    sizes.insert(dim, 1);
    strides.insert(dim, 1);
    out.strided_view(&sizes, &strides, out.storage_offset())
}
