//! Running extremes, the most frequent elements, and counts of numbers.

use torch_library::geometry::wrap_dim;
use torch_library::match_dtype;
use torch_library::prelude::*;

use super::loops::{self, match_computing};
use super::number::Ordered;
use super::statistics::order::Lanes;
use crate::aten;
use crate::composite::collected;
use crate::pointwise::unsupported;
use places::{Sorted, Sorter};

mod distinct;
pub(super) mod places;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn logcumsumexp(this: &Tensor, dim: i64) -> Result<Tensor> {
        const OPERATOR: &str = "aten::logcumsumexp";
        let lanes = Lanes::new(OPERATOR, this, dim)?;
        let out = Tensor::empty(this.sizes(), this.dtype(), this.device())?;
        match_computing!(this.dtype(), T: Float => {
            lanes.compute::<T, T>(&out, |lane, sums| {
                let mut sum = T::NEG_INFINITY;
                for (out, x) in sums.iter_mut().zip(lane) {
                    let (larger, smaller) = if *x > sum { (*x, sum) } else { (sum, *x) };
                    sum = if x.is_nan() || sum.is_nan() {
                        T::NAN
                    } else if larger.is_infinite() {
                        larger
                    } else {
                        larger + (smaller - larger).exp().ln_1p()
                    };
                    *out = sum;
                }
            })?;
        }, else => return Err(unsupported(OPERATOR, this.dtype())));
        Ok(out)
    }

    fn cummax(this: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
        match_computing!(this.dtype(), T: Bool | Integer | Float => {
            running::<T>("aten::cummax", this, dim, |x, best| x >= best)
        }, else => Err(unsupported("aten::cummax", this.dtype())))
    }

    fn cummin(this: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
        match_computing!(this.dtype(), T: Bool | Integer | Float => {
            running::<T>("aten::cummin", this, dim, |x, best| x <= best)
        }, else => Err(unsupported("aten::cummin", this.dtype())))
    }

    fn mode(this: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = "aten::mode";
        let lanes = Lanes::new(OPERATOR, this, dim)?;
        let wrapped = wrap_dim(dim, this.dim()).map_err(|error| error.context(OPERATOR))?;
        let mut sizes = this.sizes().to_vec();
        if let Some(size) = sizes.get_mut(wrapped) {
            ensure!(
                *size > 0,
                Shape,
                "{OPERATOR}: there is nothing to choose from in dimension {dim} of sizes {:?}",
                this.sizes()
            );
            *size = 1;
        }
        let empty = |dtype| Tensor::empty(&sizes, dtype, this.device());
        let (values, places) = (empty(this.dtype())?, empty(DType::Int64)?);
        match_computing!(this.dtype(), T: Bool | Integer | Float => {
            Sorter::<T>::check(OPERATOR, lanes.len(this))?;
            lanes.choose::<T, _>(&values, &places, Sorter::new, |sorter, lane, place| {
                place[0] = most_frequent(sorter, lane);
            })?;
        }, else => return Err(unsupported(OPERATOR, this.dtype())));
        if keepdim || this.dim() == 0 {
            return Ok((values, places));
        }
        sizes.remove(wrapped);
        let reduced = |tensor: &Tensor| aten::reshape(tensor, &sizes);
        Ok((reduced(&values)?, reduced(&places)?))
    }

    fn histc(this: &Tensor, bins: i64, min: Scalar, max: Scalar) -> Result<Tensor> {
        const OPERATOR: &str = "aten::histc";
        ensure!(bins > 0, Argument, "{OPERATOR}: {bins} bins, at least one is needed");
        ensure!(
            this.dtype().is_floating_point(),
            DType,
            "{OPERATOR} is not implemented for {}",
            this.dtype()
        );
        let (mut low, mut high): (f64, f64) = (min.to()?, max.to()?);
        let out = Tensor::empty(&[bins], this.dtype(), this.device())?;
        if !loops::has_elements(&out) {
            return Ok(out);
        }
        let values = loops::elements::<f64>(this)?;
        if low == high && !values.is_empty() {
            low = values.iter().copied().fold(f64::INFINITY, f64::min);
            high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        }
        if low == high {
            (low, high) = (low - 1.0, high + 1.0);
        }
        ensure!(
            low.is_finite() && high.is_finite() && low < high,
            Argument,
            "{OPERATOR}: between {low} and {high} there are no bins"
        );
        let mut counts = collected("histc", bins, |_| 0.0)?;
        for value in values.into_iter().filter(|value| (low..=high).contains(value)) {
            let bin = ((value - low) / (high - low) * bins as f64) as usize;
            counts[bin.min(bins as usize - 1)] += 1.0;
        }
        let counts = Tensor::from_vec(counts, &[bins])?;
        match_dtype!(this.dtype(), T => loops::map(&out, [&counts], |[x]: [T; 1]| x)?);
        Ok(out)
    }
}

#[torch_impl(aten, CPU)]
fn bincount(this: &Tensor, weights: Option<&Tensor>, minlength: i64) -> Result<Tensor> {
    const OPERATOR: &str = "aten::bincount";
    ensure!(minlength >= 0, Argument, "{OPERATOR}: minlength is {minlength}, zero or more is possible");
    ensure!(
        this.dim() == 1 && this.dtype().is_integer(),
        Argument,
        "{OPERATOR}: {} of sizes {:?}, expected a vector of whole numbers",
        this.dtype(),
        this.sizes()
    );
    let numbers = loops::elements::<i64>(this)?;
    ensure!(
        numbers.iter().all(|number| *number >= 0),
        Argument,
        "{OPERATOR}: {} is negative, and has no bin",
        numbers.iter().min().unwrap_or(&0)
    );
    let count = numbers.iter().max().map_or(0, |largest| largest.saturating_add(1)).max(minlength);
    let Some(weights) = weights else {
        let mut counts = collected("bincount", count, |_| 0i64)?;
        numbers.iter().for_each(|number| counts[*number as usize] += 1);
        return Tensor::from_vec(counts, &[count]);
    };
    ensure!(
        weights.sizes() == this.sizes(),
        Shape,
        "{OPERATOR}: weights of sizes {:?} for {} numbers",
        weights.sizes(),
        this.numel()
    );
    let mut sums = collected("bincount", count, |_| 0.0)?;
    let weight = loops::elements::<f64>(weights)?;
    numbers.iter().zip(&weight).for_each(|(number, weight)| sums[*number as usize] += weight);
    let sums = Tensor::from_vec(sums, &[count])?;
    if weights.dtype() == DType::Float32 { loops::copy(&sums, DType::Float32) } else { Ok(sums) }
}

/// The last of the best elements so far, and where it is; NaN is better than all.
fn running<T: Ordered>(
    operator: &str,
    this: &Tensor,
    dim: i64,
    is_better: impl Fn(T, T) -> bool + Sync,
) -> Result<(Tensor, Tensor)> {
    let lanes = Lanes::new(operator, this, dim)?;
    let empty = |dtype| Tensor::empty(this.sizes(), dtype, this.device());
    let (values, indices) = (empty(this.dtype())?, empty(DType::Int64)?);
    let state = || ();
    lanes.choose::<T, _>(&values, &indices, state, |(), lane, places| {
        let mut best = 0;
        for (at, place) in places.iter_mut().enumerate() {
            if lane[at].is_unordered() || (!lane[best].is_unordered() && is_better(lane[at], lane[best])) {
                best = at;
            }
            *place = best as i64;
        }
    })?;
    Ok((values, indices))
}

/// Where the last of the most frequent elements is, the smallest of several.
fn most_frequent<T: Sorted>(sorter: &mut Sorter<T>, lane: &[T]) -> i64 {
    let order: Vec<usize> = sorter.first(lane, lane.len(), false).collect();
    let (mut best, mut longest) = (order[0], 0);
    for run in order.chunk_by(|a, b| lane[*a].rank() == lane[*b].rank()) {
        if run.len() > longest {
            (best, longest) = (run[run.len() - 1], run.len());
        }
    }
    best as i64
}
