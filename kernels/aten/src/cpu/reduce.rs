//! Kernels of sums, means, products, extremes, norms, `any` and `all`.

use torch_library::Element;
use torch_library::prelude::*;

use super::folds::{
    Every, Extremes, Largest, NormSum, Product, Smallest, Some as AnyOf, Sum, SumOfBytes, SumOfNumbers,
    SumOfSquares,
};
use crate::aten;
use crate::composite::reduce::without_nan;
use crate::loops::match_opmath;
use crate::loops::reduce::{Fold, fold};
use crate::loops::reduction::{Reduction, dtype_or_that_of_out, type_of_norm, type_of_sum};

mod equal;
mod extremes;
mod hash;
mod variance;

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
        let is_reduced = reduction.is_reduced();
        match (this.dtype(), dtype) {
            (DType::Bool, DType::Int64) => {
                fold([&out], &as_bytes(this)?, is_reduced, &SumOfBytes::<true>, |sum| [sum])?;
                return Ok(out);
            }
            (DType::UInt8, DType::Int64) => {
                fold([&out], this, is_reduced, &SumOfBytes::<false>, |sum| [sum])?;
                return Ok(out);
            }
            _ => {}
        }
        match_opmath!(dtype, T: Bool | Integer | Float | Complex => {
            fold([&out], this, is_reduced, &Sum, |sum: T| [sum])?;
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

    fn prod(output: Output<'_>, this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
        output.exactly(type_of_sum(this, dtype))?;
        product(output, this, None, false, dtype)
    }

    fn prod_dim_int(
        output: Output<'_>,
        this: &Tensor,
        dim: i64,
        keepdim: bool,
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        product(output, this, Some(&[dim]), keepdim, dtype)
    }

    fn any_dims(output: Output<'_>, this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
        any_or_all(output, this, dim, keepdim, &AnyOf)
    }

    fn all_dims(output: Output<'_>, this: &Tensor, dim: Option<&[i64]>, keepdim: bool) -> Result<Tensor> {
        any_or_all(output, this, dim, keepdim, &Every)
    }

    fn linalg_vector_norm(
        this: &Tensor,
        ord: Scalar,
        dim: Option<&[i64]>,
        keepdim: bool,
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::linalg_vector_norm::NAME;
        let reduction = Reduction::new(OPERATOR, this, dim, keepdim)?;
        let dtype = type_of_norm(OPERATOR, this, dtype)?;
        let order = ord.to::<f64>().map_err(|error| error.context(OPERATOR))?;
        ensure!(
            reduction.count() > 0 || (order >= 0.0 && order.is_finite()),
            Shape,
            "{OPERATOR}: a tensor without elements has no norm of order {order}"
        );
        let magnitudes = match this.dtype().is_complex() {
            true if dtype.is_complex() => aten::abs(&aten::to_dtype(this, dtype)?)?,
            true => aten::abs(this)?,
            false => this.clone(),
        };
        let out = reduction.output(dtype.to_real())?;
        // The norm of one number is its magnitude, of which no power may overflow or vanish.
        let order = if reduction.count() == 1 && order != 0.0 { 1.0 } else { order };
        match_opmath!(out.dtype(), T: Float => {
            let order: T = order.cast();
            let root = |sum: T| match order {
                order if order == 0.0 || order.is_infinite() => sum,
                order => sum.powf(order.recip()),
            };
            let is_reduced = reduction.is_reduced();
            match order {
                2.0 => fold([&out], &magnitudes, is_reduced, &SumOfSquares, |sum: T| [sum.sqrt()])?,
                order => fold([&out], &magnitudes, is_reduced, &NormSum { order }, |sum| [root(sum)])?,
            }
        }, else => return Err(reduction.unsupported(dtype)));
        Ok(out)
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

fn product(
    output: Output<'_>,
    this: &Tensor,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let reduction = Reduction::new(output, this, dim, keepdim)?;
    let dtype = type_of_sum(this, dtype_or_that_of_out(output, dtype)?);
    let out = reduction.output(dtype)?;
    match_opmath!(dtype, T: Bool | Integer | Float | Complex => {
        fold([&out], this, reduction.is_reduced(), &Product, |product: T| [product])?;
    }, else => return Err(reduction.unsupported(dtype)));
    Ok(out)
}

/// From this many elements on, booleans are taken as the bytes that they are in memory, which need no conversion.
const MANY: i64 = 1024;

/// Booleans as the bytes that they are in memory, if there are many.
fn as_bytes(this: &Tensor) -> Result<Tensor> {
    if this.dtype() != DType::Bool || this.numel() < MANY {
        return Ok(this.clone());
    }
    let geometry = this.geometry();
    let (sizes, strides, offset) = (geometry.sizes(), geometry.strides(), geometry.offset());
    Tensor::from_storage(this.storage().clone(), sizes, strides, offset, DType::UInt8, this.key_set())
}

/// Computes `any` or `all`. As in PyTorch, the result is `uint8` for `uint8`, and boolean otherwise.
fn any_or_all(
    output: Output<'_>,
    this: &Tensor,
    dim: Option<&[i64]>,
    keepdim: bool,
    combined: &(impl Fold<bool, Value = bool> + Fold<u8, Value = u8>),
) -> Result<Tensor> {
    let reduction = match dim {
        Some([]) => Reduction::of_nothing(output, this),
        dim => Reduction::new(output, this, dim, keepdim)?,
    };
    let own = if this.dtype() == DType::UInt8 { DType::UInt8 } else { DType::Bool };
    // Either type takes the result of the other.
    let of_out =
        output.given().map(Tensor::dtype).filter(|dtype| matches!(dtype, DType::Bool | DType::UInt8));
    let dtype = of_out.unwrap_or(own);
    output.exactly(dtype)?;
    let out = reduction.output(dtype)?;
    if this.numel() >= MANY && matches!(this.dtype(), DType::Bool | DType::UInt8) {
        fold::<u8, _, _, _>([&out], &as_bytes(this)?, reduction.is_reduced(), combined, |byte| [byte != 0])?;
    } else {
        fold::<bool, _, _, _>([&out], this, reduction.is_reduced(), combined, |is_true| [is_true])?;
    }
    Ok(out)
}
