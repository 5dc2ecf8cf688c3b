//! Kernels of special functions, element-wise.

use num_traits::Float;
use torch_library::prelude::*;

use super::unary::functions;
use crate::aten;
use crate::functions::{ErrorFunction, Functions, Gamma, ModifiedBessel};
use crate::loops::Pointwise;
use crate::loops::{Usually, function, match_opmath};

mod double;
pub mod real;
mod sums;

use real::Real;
pub(super) use sums::{BinaryLogOfSum, LogOfSum};

functions! {
    erfinv: promoting_to_float Float => |x, T| x.inverse_error_function();
    lgamma: promoting_to_float Float => |x, T| x.log_gamma();
    digamma: promoting_to_float Float => |x, T| x.digamma();
    i0: promoting_to_float Float => |x, T| x.i0();
    special_i0e: promoting_to_float Float => |x, T| x.scaled_i0();
    special_i1: promoting_to_float Float => |x, T| x.i1();
    special_i1e: promoting_to_float Float => |x, T| x.scaled_i1();
    special_entr: promoting_to_float Float => |x, T| entropy(x);
}

/// The entropy of one probability; minus infinity for negative numbers.
#[inline(always)]
fn entropy<T: Float + Functions>(probability: T) -> T {
    let of_positive = -probability * probability.natural_logarithm();
    let of_none = if probability < T::zero() { T::neg_infinity() } else { T::zero() };
    if probability > T::zero() || probability.is_nan() { of_positive } else { of_none }
}

#[torch_impl(aten, CPU, Meta)]
fn polygamma(output: Output<'_>, n: i64, this: &Tensor) -> Result<Tensor> {
    let operator = output.operator();
    ensure!(n >= 0, Argument, "{operator}: the order {n} is negative");
    let call = Pointwise::promoting_to_float(output, [this])?;
    match_opmath!(call.dtype, T: Float => match n {
        1 => call.compute_elements(None, call.dtype, Usually {
            is_usual: |[x]: [T; 1]| !x.is_pole(),
            fast: function!(|[x]: [T; 1]| -> T { x.trigamma() }),
            any: |[x]: [T; 1]| x.polygamma(1),
        }),
        _ => call.compute(None, call.dtype, move |[x]: [T; 1]| x.polygamma(n)),
    }, else => Err(call.unsupported()))
}
