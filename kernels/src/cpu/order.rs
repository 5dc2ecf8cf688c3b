//! Running extremes, and counts of numbers.
#![expect(unsafe_code, reason = "looks at a tensor as a slice")]

use torch_library::match_dtype;
use torch_library::prelude::*;

use super::loops::parts::Parts;
use super::loops::{self, match_computing};
use super::number::Ordered;
use super::statistics::order::Lanes;
use crate::aten;
use crate::composite::collected;
use crate::pointwise::unsupported;

mod chosen;
mod distinct;
pub(super) mod places;
mod search;

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
        let mut counts = collected("aten::histc", bins, |_| 0.0)?;
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
    let numbers = Parts::<i64>::row_major(this, this.numel() as usize)?;
    // SAFETY: nobody writes to the numbers while they are read.
    let numbers = if numbers.count() == 0 { &[][..] } else { unsafe { numbers.get(0) } };
    let ends = |(least, largest): (i64, i64), number: &i64| (least.min(*number), largest.max(*number));
    let (least, largest) = numbers.iter().fold((0, -1), ends);
    ensure!(least == 0, Argument, "{OPERATOR}: {least} is negative, and has no bin");
    let count = largest.saturating_add(1).max(minlength);
    let Some(weights) = weights else {
        let mut counts = collected("aten::bincount", count, |_| 0i64)?;
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
    let mut sums = collected("aten::bincount", count, |_| 0.0)?;
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
        let (mut best, mut at) = (lane[0], 0);
        for ((here, x), place) in (0..).zip(lane).zip(places) {
            if x.is_unordered() || is_better(*x, best) {
                (best, at) = (*x, here); // nothing is better than NaN
            }
            *place = at;
        }
    })?;
    Ok((values, indices))
}
