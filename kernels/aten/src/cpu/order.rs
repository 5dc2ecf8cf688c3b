//! Kernels of cumulative log-sum-exp and of counts.
#![expect(
    unsafe_code,
    reason = "shares strips of tensors among threads, and takes memory that it fills at once"
)]

use torch_library::Element;
use torch_library::element::Complex64;
use torch_library::prelude::*;

use super::special::LogOfSum;
use crate::aten;
use crate::composite::collected;
use crate::inlined::zip;
use crate::loops::parts::Parts;
use crate::loops::pointwise::unsupported;
use crate::loops::{self, match_opmath};

mod bins;
mod chosen;
mod distinct;
mod histogram;
mod lanes;
mod log_sums;
pub mod places;
mod running;
mod search;

use lanes::Lanes;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn logcumsumexp(this: &Tensor, dim: i64) -> Result<Tensor> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::logcumsumexp::NAME;
        let lanes = Lanes::new(OPERATOR, this, dim)?;
        let out = Tensor::empty(this.sizes(), this.dtype(), this.device())?;
        // The sum is kept in f64: in f32, adding to a large sum would round each element.
        match_opmath!(this.dtype(), T: Float => {
            lanes.compute::<T, T>(&out, log_sums::of_line)?;
        }, else => match_opmath!(this.dtype(), T: Complex => {
            let nothing = Complex64::new(f64::NEG_INFINITY, 0.0);
            lanes.compute::<T, T>(&out, |lane, sums| running_log_of_sum(lane, sums, nothing, Element::cast))?;
        }, else => return Err(unsupported(OPERATOR, this.dtype()))));
        Ok(out)
    }
}

/// The logarithm of the sum of exponentials up to each element.
fn running_log_of_sum<T: Element, S: Element + LogOfSum>(
    lane: &[T],
    sums: &mut [T],
    nothing: S,
    number: impl Fn(T) -> S,
) {
    let mut sum = nothing;
    for (out, x) in zip(sums, lane) {
        sum = number(*x).log_of_sum(sum);
        *out = sum.cast();
    }
}

#[torch_impl(aten, CPU)]
fn bincount(this: &Tensor, weights: Option<&Tensor>, minlength: i64) -> Result<Tensor> {
    let _lease = loops::all_frozen([this].into_iter().chain(weights))?;
    const OPERATOR: &str = aten::bincount::NAME;
    ensure!(minlength >= 0, Argument, "{OPERATOR}: minlength is {minlength}, expected zero or more");
    ensure!(
        this.dim() == 1 && this.dtype().is_integer(),
        Argument,
        "{OPERATOR}: {} of sizes {:?}, expected a vector of whole numbers",
        this.dtype(),
        this.sizes()
    );
    let numbers = Parts::<i64>::row_major(this, this.numel() as usize)?;
    let numbers = if numbers.count() == 0 { &[][..] } else { numbers.get(0) };
    let ends = |(least, largest): (i64, i64), number: &i64| (least.min(*number), largest.max(*number));
    let (least, largest) = numbers.iter().fold((0, -1), ends);
    ensure!(least == 0, Argument, "{OPERATOR}: {least} is negative, expected zero or more");
    let count = largest.saturating_add(1).max(minlength);
    let Some(weights) = weights else {
        let mut counts = collected(aten::bincount::NAME, count, |_| 0i64)?;
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
    let mut sums = collected(aten::bincount::NAME, count, |_| 0.0)?;
    let weight = loops::elements::<f64>(weights)?;
    for (number, weight) in zip(numbers, &weight) {
        sums[*number as usize] += weight;
    }
    let sums = Tensor::from_vec(sums, &[count])?;
    if weights.dtype() == DType::Float32 { loops::copy(&sums, DType::Float32) } else { Ok(sums) }
}
