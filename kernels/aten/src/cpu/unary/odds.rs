//! The kernel of `logit`, the logarithm of odds.

use num_traits::Float;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::unary::{ends, no_probability};
use crate::functions::{Functions, LogOdds, Registers};
use crate::loops::Pointwise;
use crate::loops::{function, match_opmath};

/// Computes the same as the composite kernel, in one pass.
#[torch_impl(aten, CPU)]
fn logit(this: &Tensor, eps: Option<f64>) -> Result<Tensor> {
    const OPERATOR: &str = aten::logit::NAME;
    let call = Pointwise::promoting_to_float(OPERATOR, [this])?;
    match_opmath!(call.dtype, T: Float => {
        let odds = function!(|[x]: [T; 1]| -> T { log_odds(x) });
        let Some(eps) = eps.filter(|eps| *eps >= 0.0) else {
            return call.compute_elements(None, call.dtype, Registers::<_, LogOdds>::new(odds));
        };
        let [low, high] = ends::<T>(OPERATOR, eps, call.dtype)?;
        call.compute(None, call.dtype, |[x]: [T; 1]| {
            // The lower bound wins where `eps` is above one half.
            let below = if x > high { high } else { x };
            log_odds(if x < low { low } else { below })
        })
    }, else => Err(no_probability(OPERATOR, this)))
}

/// The logarithm of the odds of a probability.
#[inline(always)]
fn log_odds<T: Float + Functions>(probability: T) -> T {
    (probability / (T::one() - probability)).natural_logarithm()
}
