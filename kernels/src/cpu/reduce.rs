//! Sums and what follows from them.

use torch_library::Element;
use torch_library::prelude::*;

use super::folds::{First, Largest, Smallest, Sum, SumOfBytes, SumOfNumbers};
use super::loops::reduce::{Fold, fold};
use super::loops::{self, match_computing};
use super::number::Ordered;
use crate::aten;
use crate::composite::order::without_nan;
use crate::pointwise::unsupported;
use crate::reduction::{Reduction, type_of_sum};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn sum_dim_IntList(
        this: &Tensor,
        dim: Option<&[i64]>,
        keepdim: bool,
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        let reduction = Reduction::new("aten::sum.dim_IntList", this, dim, keepdim)?;
        let dtype = type_of_sum(this, dtype);
        let out = reduction.output(dtype)?;
        if matches!((this.dtype(), dtype), (DType::Bool | DType::UInt8, DType::Int64)) {
            fold::<u8, _, _, _>([&out], this, reduction.is_reduced(), &SumOfBytes, |sum: i64| [sum])?;
            return Ok(out);
        }
        match_computing!(dtype, T: Bool | Integer | Float | Complex => {
            fold([&out], this, reduction.is_reduced(), &Sum, |sum: T| [sum])?;
        }, else => return Err(reduction.unsupported(dtype)));
        Ok(out)
    }

    fn mean_dim(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
        let reduction = Reduction::new("aten::mean.dim", this, dim, keepdim)?;
        let dtype = dtype.unwrap_or(this.dtype());
        ensure!(
            dtype.is_differentiable(),
            DType,
            "aten::mean.dim: the mean is no {dtype}, give a floating-point or complex dtype"
        );
        let out = reduction.output(dtype)?;
        let count = reduction.count();
        match_computing!(dtype, T: Float | Complex => {
            let count: T = count.cast();
            fold([&out], this, reduction.is_reduced(), &Sum, |sum: T| [sum / count])?;
        }, else => return Err(reduction.unsupported(dtype)));
        Ok(out)
    }

    fn amax(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        let reduction = nonempty("aten::amax", this, dim, keepdim)?;
        let out = reduction.output(this.dtype())?;
        match_computing!(this.dtype(), T: Bool | Integer | Float => {
            fold([&out], this, reduction.is_reduced(), &Largest, |largest: T| [largest])?;
        }, else => return Err(reduction.unsupported(this.dtype())));
        Ok(out)
    }

    fn amin(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        let reduction = nonempty("aten::amin", this, dim, keepdim)?;
        let out = reduction.output(this.dtype())?;
        match_computing!(this.dtype(), T: Bool | Integer | Float => {
            fold([&out], this, reduction.is_reduced(), &Smallest, |smallest: T| [smallest])?;
        }, else => return Err(reduction.unsupported(this.dtype())));
        Ok(out)
    }

    fn argmax(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
        match_computing!(this.dtype(), T: Integer | Float => {
            place::<T, _>("aten::argmax", this, dim, keepdim, &First(Largest))
        }, else => Err(unsupported("aten::argmax", this.dtype())))
    }

    fn argmin(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
        match_computing!(this.dtype(), T: Integer | Float => {
            place::<T, _>("aten::argmin", this, dim, keepdim, &First(Smallest))
        }, else => Err(unsupported("aten::argmin", this.dtype())))
    }
}

/// Elsewhere it is a sum of what replaces NaN; here elements are read once.
#[torch_impl(aten, CPU)]
fn nansum(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    const OPERATOR: &str = "aten::nansum";
    ensure!(!this.dtype().is_complex(), DType, "{OPERATOR}: {} is not supported", this.dtype());
    let dtype = type_of_sum(this, dtype);
    let reduction = Reduction::new(OPERATOR, this, dim, keepdim)?;
    let out = reduction.output(dtype)?;
    // As a whole number NaN is one.
    let numbers = if dtype.is_floating_point() { this.clone() } else { without_nan(this)? };
    match_computing!(dtype, T: Integer | Float | Complex => {
        fold([&out], &numbers, reduction.is_reduced(), &SumOfNumbers, |sum: T| [sum])?;
    }, else => return Err(reduction.unsupported(dtype)));
    Ok(out)
}

/// A reduction whose result must be one of the elements.
fn nonempty<'a>(
    operator: &'static str,
    this: &'a Tensor,
    dims: &[i64],
    keepdim: bool,
) -> Result<Reduction<'a>> {
    let reduction = Reduction::new(operator, this, Some(dims), keepdim)?;
    ensure!(
        reduction.count() > 0,
        Shape,
        "{operator}: there is nothing to choose from in dimensions {dims:?} of sizes {:?}",
        this.sizes()
    );
    Ok(reduction)
}

/// The index of an element in a dimension, or in the flat tensor.
fn place<T: Ordered, F: Fold<T, Value = T>>(
    operator: &'static str,
    this: &Tensor,
    dim: Option<i64>,
    keepdim: bool,
    first: &First<F>,
) -> Result<Tensor> {
    let reduction = nonempty(operator, this, dim.as_slice(), keepdim)?;
    let out = reduction.output(DType::Int64)?;
    // Positions count in the order of memory, which for several dimensions has to be made the logical one.
    let this = if dim.is_none() { loops::contiguous(this)? } else { this.clone() };
    fold([&out], &this, reduction.is_reduced(), first, |(_, position): (T, usize)| [position as i64])?;
    Ok(out)
}
