//! Kernels of special functions, element-wise.

use torch_library::prelude::*;

use super::unary::functions;
use crate::aten;
use crate::functions::{ErrorFunction, Gamma};
use crate::loops::Pointwise;
use crate::loops::match_opmath;

mod double;
pub mod real;
mod sums;

use real::Real;
pub(super) use sums::{BinaryLogOfSum, LogOfSum};

functions! {
    erfinv: promoting_to_float Float => |x, T| x.inverse_error_function();
    lgamma: promoting_to_float Float => |x, T| x.log_gamma();
    digamma: promoting_to_float Float => |x, T| x.digamma();
}

#[torch_impl(aten, CPU, Meta)]
fn polygamma(output: Output<'_>, n: i64, this: &Tensor) -> Result<Tensor> {
    let operator = output.operator();
    ensure!(n >= 0, Argument, "{operator}: the order {n} is negative");
    let call = Pointwise::promoting_to_float(output, [this])?;
    match_opmath!(call.dtype, T: Float => {
        call.compute(None, call.dtype, move |[x]: [T; 1]| x.polygamma(n))
    }, else => Err(call.unsupported()))
}
