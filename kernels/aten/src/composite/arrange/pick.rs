//! Selection of elements by index or condition, and copies in which elements are replaced.

use torch_library::fake::is_fake;
use torch_library::geometry::{infer_size, wrap_dim};
use torch_library::match_dtype;
use torch_library::prelude::*;

use super::vector;
use crate::arguments::{check_int64, check_masked_scatter};
use crate::aten;
use crate::composite::collected;
use crate::loops;

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn take(this: &Tensor, index: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::take::NAME;
        check_int64(OPERATOR, index)?;
        let flat = aten::reshape(this, &[-1])?;
        aten::contiguous(&aten::index_Tensor(&flat, &[Some(aten::contiguous(index)?)])?)
    }

    fn masked_scatter(this: &Tensor, mask: &Tensor, source: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::masked_scatter::NAME;
        check_masked_scatter(OPERATOR, this, mask, source)?;
        let sizes = infer_size(this.sizes(), mask.sizes()).map_err(|error| error.context(OPERATOR))?;
        let flat = |tensor: &Tensor| aten::reshape(&aten::expand(tensor, &sizes)?, &[-1]);
        let (whole, mask) = (flat(this)?, flat(mask)?);
        if mask.is_wrapper() || !loops::has_elements(&mask) {
            return aten::reshape(&scattered(&whole, &mask, source)?, &sizes);
        }
        let count = aten::sum(&mask)?.item()?.to::<i64>()?;
        ensure!(
            count <= source.numel(),
            Shape,
            "{OPERATOR}: {count} elements are written, the source has {}",
            source.numel()
        );
        let given = aten::narrow(&aten::reshape(source, &[-1])?, 0, 0, count)?;
        aten::reshape(&aten::index_put(&whole, &[Some(mask)], &given)?, &sizes)
    }

    fn masked_select(this: &Tensor, mask: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::masked_select::NAME;
        ensure!(
            mask.dtype() == DType::Bool,
            DType,
            "{OPERATOR}: the mask is of {}, expected bool",
            mask.dtype()
        );
        let sizes = infer_size(this.sizes(), mask.sizes()).map_err(|error| error.context(OPERATOR))?;
        let flat = aten::reshape(&aten::expand(this, &sizes)?, &[-1])?;
        let mask = aten::reshape(&aten::expand(mask, &sizes)?, &[-1])?;
        aten::index_Tensor(&flat, &[Some(mask)])
    }

    fn index_fill_int_Scalar(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor> {
        const OPERATOR: &str = aten::index_fill_int_Scalar::NAME;
        ensure!(
            this.dtype().is_complex() || !matches!(value, Scalar::Complex(_)),
            DType,
            "{OPERATOR}: the complex number {value} cannot fill a tensor of {}",
            this.dtype()
        );
        let fits = match_dtype!(this.dtype(), T => value.to::<T>().map(drop));
        fits.map_err(|error| error.context(OPERATOR))?;
        let value = aten::full::with(&[], value).dtype(this.dtype()).device(this.device()).call()?;
        filled(OPERATOR, this, dim, index, &value)
    }
}

/// A copy in which the slices at `index` are `value`, a tensor without dimensions.
fn filled(operator: &str, this: &Tensor, dim: i64, index: &Tensor, value: &Tensor) -> Result<Tensor> {
    ensure!(
        index.dim() <= 1 && index.dtype() == DType::Int64,
        Argument,
        "{operator}: an index of {} and sizes {:?}, expected a vector of int64",
        index.dtype(),
        index.sizes()
    );
    let whole = if this.dim() == 0 { aten::reshape(this, &[1])? } else { this.clone() };
    let dim = wrap_dim(dim, whole.dim()).map_err(|error| error.context(operator))?;
    let mut indices = vec![None; dim];
    indices.push(Some(index.clone()));
    let value = aten::to_dtype(value, this.dtype())?;
    aten::reshape(&aten::index_put(&whole, &indices, &value)?, this.sizes())
}

/// `masked_scatter` without reading how many elements are written: on meta, and under vmap, where examples may have
/// masks of their own. An element takes the source's element with the number of those that are taken before it.
fn scattered(whole: &Tensor, mask: &Tensor, source: &Tensor) -> Result<Tensor> {
    if source.numel() == 0 {
        return aten::clone(whole);
    }
    let number = aten::sub_Scalar(&aten::cumsum(mask, 0)?, 1.into())?;
    let number = aten::clamp_min(&number, 0.into())?;
    let given = aten::index_select(&aten::reshape(source, &[-1])?, 0, &number)?;
    aten::where_self(mask, &given, whole)
}

/// The value is a tensor, which has a derivative too.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn index_fill_int_Tensor(this: &Tensor, dim: i64, index: &Tensor, value: &Tensor) -> Result<Tensor> {
    ensure!(
        value.dim() == 0,
        Shape,
        "{}: the value has sizes {:?}, expected a tensor without dimensions",
        aten::index_fill_int_Tensor::NAME,
        value.sizes()
    );
    if !value.is_wrapper() && loops::has_elements(value) {
        return aten::index_fill_int_Scalar(this, dim, index, value.item()?);
    }
    // On meta nothing is written, and under vmap each example may have a value of its own.
    filled(aten::index_fill_int_Tensor::NAME, this, dim, index, value)
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn nonzero_numpy(this: &Tensor) -> Result<Vec<Tensor>> {
        let this = if this.dim() == 0 { aten::unsqueeze(this, 0)? } else { this.clone() };
        aten::unbind_int::call(&aten::nonzero(&this)?, 1)
    }

    fn r#where(condition: &Tensor) -> Result<Vec<Tensor>> {
        aten::nonzero_numpy(condition)
    }

    fn take_along_dim(this: &Tensor, indices: &Tensor, dim: Option<i64>) -> Result<Tensor> {
        const OPERATOR: &str = aten::take_along_dim::NAME;
        let Some(dim) = dim else {
            return aten::gather(&aten::view(this, &[-1])?, 0, &aten::view(indices, &[-1])?);
        };
        ensure!(
            this.dim() == indices.dim(),
            Shape,
            "{OPERATOR}: an index of sizes {:?} for sizes {:?}, expected as many dimensions",
            indices.sizes(),
            this.sizes()
        );
        let wrapped = wrap_dim(dim, this.dim()).map_err(|error| error.context(OPERATOR))?;
        ensure!(this.dim() > 0, Index, "{OPERATOR}: a tensor without dimensions has no dimension {dim}");
        let expanded = |tensor: &Tensor, other: &Tensor| {
            let mut sizes = other.sizes().to_vec();
            if let (Some(size), Some(own)) = (sizes.get_mut(wrapped), tensor.sizes().get(wrapped)) {
                *size = *own;
            }
            let sizes = infer_size(tensor.sizes(), &sizes).map_err(|error| error.context(OPERATOR))?;
            aten::expand(tensor, &sizes)
        };
        check_int64(OPERATOR, indices)?;
        // Indices wrap around the dimension, in both directions.
        let size = this.sizes().get(wrapped).copied().unwrap_or(1);
        let places = aten::remainder_Scalar(&expanded(indices, this)?, size.into())?;
        aten::gather(&expanded(this, indices)?, dim, &places)
    }

    fn argwhere(this: &Tensor) -> Result<Tensor> {
        aten::nonzero(this)
    }

    fn one_hot(this: &Tensor, num_classes: i64) -> Result<Tensor> {
        const OPERATOR: &str = aten::one_hot::NAME;
        ensure!(
            this.dtype() == DType::Int64,
            DType,
            "{OPERATOR}: the classes are of {}, expected int64",
            this.dtype()
        );
        ensure!(
            num_classes > 0 || (num_classes == -1 && this.numel() > 0),
            Argument,
            "{OPERATOR}: num_classes is {num_classes} for {} elements, give a positive number",
            this.numel()
        );
        // Under a layer that hides the elements, PyTorch does not check them against a given number of classes either.
        let is_hidden = this.is_wrapper() || is_fake(this);
        let is_checked = this.numel() > 0 && this.device() == Device::CPU;
        let count = if is_checked && !(is_hidden && num_classes > 0) {
            let least: i64 = aten::item(&aten::min(this)?)?.to()?;
            let largest: i64 = aten::item(&aten::max(this)?)?.to()?;
            let count = if num_classes == -1 { largest.saturating_add(1) } else { num_classes };
            ensure!(
                least >= 0 && largest < count,
                Argument,
                "{OPERATOR}: classes from {least} to {largest} are out of range for {count} classes, counted from 0"
            );
            count
        } else {
            num_classes
        };
        if is_checked && !is_hidden {
            let sizes = [this.sizes(), &[count]].concat();
            let mut rows = Tensor::zeros(&sizes, DType::Int64, this.device())?;
            aten::scatter__value(&mut rows, -1, &aten::unsqueeze(this, -1)?, 1.into())?;
            return Ok(rows);
        }
        let classes = vector(collected(aten::one_hot::NAME, count, |class| class)?, this.device())?;
        aten::to_dtype(&aten::eq_Tensor(&aten::unsqueeze(this, -1)?, &classes)?, DType::Int64)
    }
}

#[torch_impl(aten, CPU)]
fn repeat_interleave_Tensor(repeats: &Tensor, output_size: Option<i64>) -> Result<Tensor> {
    const OPERATOR: &str = aten::repeat_interleave_Tensor::NAME;
    ensure!(
        repeats.dim() == 1 && repeats.dtype().is_integer(),
        Argument,
        "{OPERATOR}: repeats of {} and sizes {:?}, expected a vector of integers",
        repeats.dtype(),
        repeats.sizes()
    );
    let counts = loops::elements::<i64>(repeats)?;
    ensure!(
        counts.iter().all(|count| *count >= 0),
        Argument,
        "{OPERATOR}: repeats {counts:?}, expected zero or more"
    );
    let total = counts.iter().fold(0i64, |total, count| total.saturating_add(*count));
    let mut repeated = (0..).zip(&counts).flat_map(|(at, count)| std::iter::repeat_n(at, *count as usize));
    let index = collected(OPERATOR, total, |_| repeated.next().unwrap_or_default())?;
    ensure!(
        counts.is_empty() || output_size.is_none_or(|size| size == index.len() as i64),
        Argument,
        "{OPERATOR}: output_size is {output_size:?}, the result has {} elements",
        index.len()
    );
    aten::to_dtype(&vector(index, repeats.device())?, repeats.dtype())
}
