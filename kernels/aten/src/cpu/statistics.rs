//! Kernels of products, extremes with their indices, variances and norms.

use std::sync::atomic::{AtomicBool, Ordering};

use num_traits::Float;
use torch_library::element::bf16;
use torch_library::geometry::Dims;
use torch_library::prelude::*;
use torch_library::{Element, match_dtype, promote_types};

use super::folds::{
    Every, First, Largest, Moment, Moments, NormSum, Product, Smallest, Some as AnyOf, SumOfSquares,
};
use super::index::pick;
use crate::aten;
use crate::inlined::zip;
use crate::loops::parts::Parts;
use crate::loops::pointwise::unsupported;
use crate::loops::reduce::{Fold, fold};
use crate::loops::reduction::{Reduction, dtype_or_that_of_out, type_of_norm, type_of_sum};
use crate::loops::{self, match_opmath, parallel};
use crate::number::Ordered;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

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

    fn var_correction(
        this: &Tensor,
        dim: Option<&[i64]>,
        correction: Option<Scalar>,
        keepdim: bool,
    ) -> Result<Tensor> {
        if this.dtype().is_complex() {
            return variance_of_parts(this, |part| {
                aten::var_correction::call(part, dim, correction, keepdim)
            });
        }
        let variance = Variance { operator: aten::var_correction::NAME, this, dim, correction, keepdim };
        Ok(variance.compute(|variance| variance)?.0)
    }

    fn std_correction(
        this: &Tensor,
        dim: Option<&[i64]>,
        correction: Option<Scalar>,
        keepdim: bool,
    ) -> Result<Tensor> {
        if this.dtype().is_complex() {
            return aten::sqrt(&aten::var_correction::call(this, dim, correction, keepdim)?);
        }
        let variance = Variance { operator: aten::std_correction::NAME, this, dim, correction, keepdim };
        Ok(variance.compute(f64::sqrt)?.0)
    }

    fn var_mean_correction(
        this: &Tensor,
        dim: Option<&[i64]>,
        correction: Option<Scalar>,
        keepdim: bool,
    ) -> Result<(Tensor, Tensor)> {
        if this.dtype().is_complex() {
            let variance = aten::var_correction::call(this, dim, correction, keepdim)?;
            return Ok((variance, aten::mean_dim::call(this, dim, keepdim, None)?));
        }
        let variance = Variance { operator: aten::var_mean_correction::NAME, this, dim, correction, keepdim };
        variance.compute(|variance| variance)
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

    fn equal(this: &Tensor, other: &Tensor) -> Result<bool> {
        const OPERATOR: &str = aten::equal::NAME;
        if this.sizes() != other.sizes() {
            return Ok(false);
        }
        if this.dtype() != other.dtype() {
            let common =
                promote_types(this.dtype(), other.dtype()).map_err(|error| error.context(OPERATOR))?;
            return aten::equal(&aten::to_dtype(this, common)?, &aten::to_dtype(other, common)?);
        }
        match_dtype!(this.dtype(), T => are_equal::<T>(this, other))
    }
}

/// Compares elements until some differ.
fn are_equal<T: Element>(this: &Tensor, other: &Tensor) -> Result<bool> {
    const BLOCK: usize = 4096;
    let len = this.numel() as usize;
    if len == 0 {
        return Ok(true);
    }
    let parts = [Parts::<T>::row_major(this, len)?, Parts::<T>::row_major(other, len)?];
    if parts.iter().any(|parts| parts.count() == 0) {
        return Ok(false); // another thread has just resized it
    }
    let [a, b] = [parts[0].get(0), parts[1].get(0)];
    let differ = AtomicBool::new(false);
    parallel::ranges(len, |range| {
        for (a, b) in a[range.clone()].chunks(BLOCK).zip(b[range].chunks(BLOCK)) {
            if differ.load(Ordering::Relaxed) {
                return;
            }
            // There is no branch within a block, so that the comparison is vectorised.
            let mut are_other = false;
            for (a, b) in zip(a, b) {
                are_other |= a != b;
            }
            if are_other {
                differ.store(true, Ordering::Relaxed);
            }
        }
    });
    Ok(!differ.into_inner())
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

/// Computes `any` or `all`. As in PyTorch, the result is `uint8` for `uint8`, and boolean otherwise.
fn any_or_all(
    output: Output<'_>,
    this: &Tensor,
    dim: Option<&[i64]>,
    keepdim: bool,
    fold_of_truth: &impl Fold<bool, Value = bool>,
) -> Result<Tensor> {
    let reduction = match dim {
        Some([]) => Reduction::of_nothing(output, this),
        dim => Reduction::new(output, this, dim, keepdim)?,
    };
    let dtype = if this.dtype() == DType::UInt8 { DType::UInt8 } else { DType::Bool };
    if output.given().is_some_and(|out| !matches!(out.dtype(), DType::Bool | DType::UInt8)) {
        output.exactly(dtype)?;
    }
    let out = reduction.output(dtype)?;
    fold([&out], this, reduction.is_reduced(), fold_of_truth, |is_true: bool| [is_true])?;
    Ok(out)
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

/// The variance of complex numbers: the sum of the variances of both parts.
fn variance_of_parts(this: &Tensor, variance: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    aten::add_Tensor(&variance(&aten::real(this)?)?, &variance(&aten::imag(this)?)?)
}

struct Variance<'a> {
    operator: &'static str,
    this: &'a Tensor,
    dim: Option<&'a [i64]>,
    correction: Option<Scalar>,
    keepdim: bool,
}

impl Variance<'_> {
    /// A function of the variance, and the mean.
    fn compute(&self, finish: impl Fn(f64) -> f64 + Sync) -> Result<(Tensor, Tensor)> {
        let Variance { operator, this, dim, correction, keepdim } = *self;
        let reduction = Reduction::new(operator, this, dim, keepdim)?;
        let correction =
            correction.map_or(Ok(1.0), Scalar::to::<f64>).map_err(|error| error.context(operator))?;
        let (out, mean) = (reduction.output(this.dtype())?, reduction.output(this.dtype())?);
        let divisor = (reduction.count() as f64 - correction).max(0.0);
        match_opmath!(this.dtype(), T: Float => {
            fold([&out, &mean], this, reduction.is_reduced(), &Moments, |moment: Moment<T>| {
                if reduction.count() == 0 {
                    return [T::nan(); 2]; // whatever the divisor
                }
                let variance = moment.squares.cast::<f64>() / divisor;
                [finish(variance).cast::<T>(), moment.mean]
            })?;
        }, else => return Err(reduction.unsupported(this.dtype())));
        let has_infinity = match this.dtype() {
            _ if !loops::has_elements(&out) => false,
            DType::Float32 => loops::elements::<f32>(&out)?.iter().any(|x| x.is_infinite()),
            DType::BFloat16 => loops::elements::<bf16>(&out)?.iter().any(|x| x.is_infinite()),
            _ => false, // the squares of `float16` fit `float32`
        };
        if has_infinity {
            // The squares may overflow where their root does not: compute again in `float64`.
            let wide = aten::to_dtype(this, DType::Float64)?;
            let parts = Variance { operator, this: &wide, dim, correction: self.correction, keepdim };
            let (out, mean) = parts.compute(finish)?;
            return Ok((aten::to_dtype(&out, this.dtype())?, aten::to_dtype(&mean, this.dtype())?));
        }
        Ok((out, mean))
    }
}
