//! Kernels of the larger and the smaller of two elements.

use torch_library::prelude::*;

use crate::aten;
use crate::loops::Pointwise;
use crate::loops::match_opmath;
use crate::number::{Number, larger, smaller};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn maximum(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting(output, [this, other])?;
        match_opmath!(call.dtype, T: Bool | Integer | Unsigned | Float => {
            call.compute(None, call.dtype, |[a, b]: [T; 2]| larger(a, b))
        }, else => Err(call.unsupported()))
    }

    fn minimum(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting(output, [this, other])?;
        match_opmath!(call.dtype, T: Bool | Integer | Unsigned | Float => {
            call.compute(None, call.dtype, |[a, b]: [T; 2]| smaller(a, b))
        }, else => Err(call.unsupported()))
    }

    fn fmax(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting(output, [this, other])?;
        match_opmath!(call.dtype, T: Bool | Integer | Unsigned | Float => {
            call.compute(None, call.dtype, |[a, b]: [T; 2]| if a >= b || b.is_unordered() { a } else { b })
        }, else => Err(call.unsupported()))
    }

    fn fmin(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting(output, [this, other])?;
        match_opmath!(call.dtype, T: Bool | Integer | Unsigned | Float => {
            call.compute(None, call.dtype, |[a, b]: [T; 2]| if a <= b || b.is_unordered() { a } else { b })
        }, else => Err(call.unsupported()))
    }
}
