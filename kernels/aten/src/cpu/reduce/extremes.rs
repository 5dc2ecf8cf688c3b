//! Kernels of extremes with their indices.

use torch_library::geometry::Dims;
use torch_library::prelude::*;

use super::nonempty;
use crate::aten;
use crate::cpu::folds::{First, FirstInOne};
use crate::cpu::index::pick;
use crate::loops::pointwise::unsupported;
use crate::loops::reduce::fold;
use crate::loops::reduction::Reduction;
use crate::loops::{self, opmath_type};
use crate::number::Ordered;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn max_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        extreme::<true>(aten::max_dim::NAME, this, dim, keepdim)
    }

    fn min_dim(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        extreme::<false>(aten::min_dim::NAME, this, dim, keepdim)
    }

    fn argmax(output: Output<'_>, this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
        arg_extreme::<true>(output, this, dim, keepdim)
    }

    fn argmin(output: Output<'_>, this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
        arg_extreme::<false>(output, this, dim, keepdim)
    }
}

fn extreme<const LARGEST: bool>(
    operator: &'static str,
    this: &Tensor,
    dim: i64,
    keepdim: bool,
) -> Result<(Tensor, Tensor)> {
    let reduction = nonempty(operator, this, &[dim], keepdim)?;
    let (values, indices) = (reduction.output(this.dtype())?, reduction.output(DType::Int64)?);
    write_indices::<LARGEST>(&indices, this, &reduction)?;
    match reduction.is_reduced().iter().position(|is_reduced| *is_reduced) {
        Some(dim) => {
            pick(operator, &kept(&values, dim, keepdim)?, this, dim, &kept(&indices, dim, keepdim)?)?;
        }
        None => pick(operator, &row_of(&values)?, &row_of(this)?, 0, &row_of(&indices)?)?,
    }
    Ok((values, indices))
}

/// The index of an element along a dimension, or in the flattened tensor.
fn arg_extreme<const LARGEST: bool>(
    output: Output<'_>,
    this: &Tensor,
    dim: Option<i64>,
    keepdim: bool,
) -> Result<Tensor> {
    if this.dtype() == DType::Bool {
        return Err(unsupported(output.operator(), DType::Bool));
    }
    let reduction = nonempty(output, this, dim.as_slice(), keepdim)?;
    output.exactly(DType::Int64)?;
    let out = reduction.output(DType::Int64)?;
    // Positions count in the order of memory, which must be made row-major if several dimensions are reduced.
    let this = if dim.is_none() { loops::contiguous(this)? } else { this.clone() };
    write_indices::<LARGEST>(&out, &this, &reduction)?;
    Ok(out)
}

/// Writes the positions of the first extremes, in the widest type of their kind that the fold is compiled for.
fn write_indices<const LARGEST: bool>(out: &Tensor, this: &Tensor, reduction: &Reduction<'_>) -> Result<()> {
    let (dtype, is_reduced) = (opmath_type(this.dtype()), reduction.is_reduced());
    let fits_32_bits = u32::try_from(reduction.count()).is_ok();
    let in_one = &FirstInOne::<LARGEST>;
    let position = |value: i64| [FirstInOne::<LARGEST>::position(value)];
    match dtype {
        DType::Float32 if fits_32_bits => fold::<f32, _, _, _>([out], this, is_reduced, in_one, position),
        DType::Bool | DType::UInt8 if fits_32_bits => {
            fold::<u8, _, _, _>([out], this, is_reduced, in_one, position)
        }
        DType::Int8 | DType::Int16 | DType::Int32 if fits_32_bits => {
            fold::<i32, _, _, _>([out], this, is_reduced, in_one, position)
        }
        DType::Float32 | DType::Float64 => pairs::<f64, LARGEST>(out, this, is_reduced),
        DType::Bool | DType::UInt8 | DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => {
            pairs::<i64, LARGEST>(out, this, is_reduced)
        }
        _ => Err(reduction.unsupported(this.dtype())),
    }
}

fn pairs<T: Ordered, const LARGEST: bool>(out: &Tensor, this: &Tensor, is_reduced: &[bool]) -> Result<()> {
    let position = |(_, position): (T, usize)| [position as i64];
    fold([out], this, is_reduced, &First::<LARGEST>, position)
}

/// A tensor without dimensions, as a row of one element.
fn row_of(tensor: &Tensor) -> Result<Tensor> {
    tensor.strided_view(&[1], &[1], tensor.storage_offset())
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
