//! Functions of one number.

use torch_library::prelude::*;

use super::loops::{self, match_computing};
use super::number::Number;
use super::written;
use crate::aten;
use crate::pointwise::Pointwise;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn relu(this: &Tensor) -> Result<Tensor> {
        rectify("aten::relu", None, this)
    }

    fn relu_(this: &mut Tensor) -> Result<&mut Tensor> {
        let result = rectify("aten::relu_", Some(this), this);
        written(this, result)
    }
}

fn rectify(operator: &'static str, out: Option<&Tensor>, this: &Tensor) -> Result<Tensor> {
    let call = Pointwise::promoting(operator, [this])?;
    let out = call.output(out, call.dtype)?;
    match_computing!(call.dtype, T: Integer | Float => {
        loops::map(&out, [this], |[x]: [T; 1]| positive_part(x))?;
    }, else => return Err(call.unsupported()));
    Ok(out)
}

/// NaN stays NaN, and -0 stays -0.
#[inline(always)]
fn positive_part<T: Number + PartialOrd>(x: T) -> T {
    if x < T::ZERO { T::ZERO } else { x }
}
