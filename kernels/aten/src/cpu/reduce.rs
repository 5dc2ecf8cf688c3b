//! Kernels of sums, means, extremes and their indices.

use torch_library::Element;
use torch_library::prelude::*;

use super::folds::{Extremes, First, Largest, Smallest, Sum, SumOfBytes, SumOfNumbers};
use crate::aten;
use crate::composite::order::without_nan;
use crate::loops::pointwise::unsupported;
use crate::loops::reduce::{Fold, fold};
use crate::loops::reduction::{Reduction, dtype_or_that_of_out, type_of_sum};
use crate::loops::{self, match_opmath};
use crate::number::Ordered;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn sum_dim_IntList(
        output: Output<'_>,
        this: &Tensor,
        dim: Option<&[i64]>,
        keepdim: bool,
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        let reduction = Reduction::new(output, this, dim, keepdim)?;
        let dtype = type_of_sum(this, dtype_or_that_of_out(output, dtype)?);
        let out = reduction.output(dtype)?;
        if matches!((this.dtype(), dtype), (DType::Bool | DType::UInt8, DType::Int64)) {
            fold::<u8, _, _, _>([&out], this, reduction.is_reduced(), &SumOfBytes, |sum: i64| [sum])?;
            return Ok(out);
        }
        match_opmath!(dtype, T: Bool | Integer | Float | Complex => {
            fold([&out], this, reduction.is_reduced(), &Sum, |sum: T| [sum])?;
        }, else => return Err(reduction.unsupported(dtype)));
        Ok(out)
    }

    fn mean_dim(
        output: Output<'_>,
        this: &Tensor,
        dim: Option<&[i64]>,
        keepdim: bool,
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        let reduction = Reduction::new(output, this, dim, keepdim)?;
        let dtype = dtype_or_that_of_out(output, dtype)?.unwrap_or(this.dtype());
        ensure!(
            dtype.is_differentiable(),
            DType,
            "{}: a mean cannot be of {dtype}, give a floating-point or complex dtype",
            output.operator()
        );
        let out = reduction.output(dtype)?;
        let count = reduction.count();
        match_opmath!(dtype, T: Float | Complex => {
            let count: T = count.cast();
            fold([&out], this, reduction.is_reduced(), &Sum, |sum: T| [sum / count])?;
        }, else => return Err(reduction.unsupported(dtype)));
        Ok(out)
    }

    fn amax(output: Output<'_>, this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        let reduction = nonempty(output, this, dim, keepdim)?;
        output.exactly(this.dtype())?;
        let out = reduction.output(this.dtype())?;
        match_opmath!(this.dtype(), T: Bool | Integer | Float => {
            fold([&out], this, reduction.is_reduced(), &Largest, |largest: T| [largest])?;
        }, else => return Err(reduction.unsupported(this.dtype())));
        Ok(out)
    }

    fn amin(output: Output<'_>, this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        let reduction = nonempty(output, this, dim, keepdim)?;
        output.exactly(this.dtype())?;
        let out = reduction.output(this.dtype())?;
        match_opmath!(this.dtype(), T: Bool | Integer | Float => {
            fold([&out], this, reduction.is_reduced(), &Smallest, |smallest: T| [smallest])?;
        }, else => return Err(reduction.unsupported(this.dtype())));
        Ok(out)
    }

    fn argmax(output: Output<'_>, this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
        match_opmath!(this.dtype(), T: Integer | Float => {
            place::<T, _>(output, this, dim, keepdim, &First(Largest))
        }, else => Err(unsupported(output.operator(), this.dtype())))
    }

    fn argmin(output: Output<'_>, this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
        match_opmath!(this.dtype(), T: Integer | Float => {
            place::<T, _>(output, this, dim, keepdim, &First(Smallest))
        }, else => Err(unsupported(output.operator(), this.dtype())))
    }
}

/// The composite kernel reads the elements twice, for `amin` and for `amax`; this one reads them once.
#[torch_impl(aten, CPU)]
fn aminmax(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let reduction = nonempty(aten::aminmax::NAME, this, dim.as_slice(), keepdim)?;
    let (smallest, largest) = (reduction.output(this.dtype())?, reduction.output(this.dtype())?);
    match_opmath!(this.dtype(), T: Bool | Integer | Float => {
        fold([&smallest, &largest], this, reduction.is_reduced(), &Extremes, |extremes: [T; 2]| extremes)?;
    }, else => return Err(reduction.unsupported(this.dtype())));
    Ok((smallest, largest))
}

/// The composite kernel sums a copy in which NaN is replaced; this one reads the elements once.
#[torch_impl(aten, CPU)]
fn nansum(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    const OPERATOR: &str = aten::nansum::NAME;
    ensure!(!this.dtype().is_complex(), DType, "{OPERATOR}: {} is not supported", this.dtype());
    if !this.dtype().is_floating_point() {
        return aten::sum_dim_IntList::call(this, dim, keepdim, dtype);
    }
    let dtype = type_of_sum(this, dtype);
    let reduction = Reduction::new(OPERATOR, this, dim, keepdim)?;
    let out = reduction.output(dtype)?;
    // NaN is converted to an integer, and must be replaced before.
    let numbers = if dtype.is_floating_point() { this.clone() } else { without_nan(this)? };
    match_opmath!(dtype, T: Integer | Float | Complex => {
        fold([&out], &numbers, reduction.is_reduced(), &SumOfNumbers, |sum: T| [sum])?;
    }, else => return Err(reduction.unsupported(dtype)));
    Ok(out)
}

/// A reduction whose result is one of the elements, so there must be some.
fn nonempty<'a>(
    output: impl Into<Output<'a>>,
    this: &'a Tensor,
    dims: &[i64],
    keepdim: bool,
) -> Result<Reduction<'a>> {
    let output = output.into();
    let operator = output.operator();
    let reduction = Reduction::new(output, this, Some(dims), keepdim)?;
    ensure!(
        reduction.count() > 0,
        Shape,
        "{operator}: there is nothing to choose from in dimensions {dims:?} of sizes {:?}",
        this.sizes()
    );
    Ok(reduction)
}

/// The index of an element along a dimension, or in the flattened tensor.
fn place<T: Ordered, F: Fold<T, Value = T>>(
    output: Output<'_>,
    this: &Tensor,
    dim: Option<i64>,
    keepdim: bool,
    first: &First<F>,
) -> Result<Tensor> {
    let reduction = nonempty(output, this, dim.as_slice(), keepdim)?;
    output.exactly(DType::Int64)?;
    let out = reduction.output(DType::Int64)?;
    // Positions count in the order of memory, which must be made row-major if several dimensions are reduced.
    let this = if dim.is_none() { loops::contiguous(this)? } else { this.clone() };
    fold([&out], &this, reduction.is_reduced(), first, |(_, position): (T, usize)| [position as i64])?;
    Ok(out)
}
