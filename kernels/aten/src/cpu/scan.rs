//! Kernels of cumulative operators.
#![expect(
    unsafe_code,
    reason = "shares strips of tensors among threads, and takes memory that it fills at once"
)]

use torch_library::Element;
use torch_library::element::Complex64;
use torch_library::prelude::*;

use super::special::LogOfSum;
use crate::aten;
use crate::inlined::zip;
use crate::loops::pointwise::unsupported;
use crate::loops::{self, match_opmath};

mod extremes;
pub(super) mod lanes;
mod log_sums;

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
