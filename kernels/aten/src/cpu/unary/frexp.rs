//! Mantissas and exponents.

use torch_library::Element;
use torch_library::geometry::preserved_strides;
use torch_library::prelude::*;

use crate::aten;
use crate::loops::pointwise::{Pointwise, unsupported};
use crate::loops::{self, match_opmath};

#[torch_impl(aten, CPU, Meta)]
fn frexp_Tensor(this: &Tensor) -> Result<(Tensor, Tensor)> {
    let _lease = loops::frozen([this])?;
    const OPERATOR: &str = aten::frexp_Tensor::NAME;
    if !this.dtype().is_floating_point() {
        return Err(unsupported(OPERATOR, this.dtype()));
    }
    let call = Pointwise::promoting(OPERATOR, [this])?;
    match_opmath!(call.dtype, T: Float => {
        if this.numel() == 0 {
            // As `empty_like` makes them; an element-wise operator would choose other strides.
            let strides = preserved_strides(this.sizes(), this.strides());
            let like = |dtype| Tensor::empty_strided(this.sizes(), &strides, dtype, this.device());
            return Ok((like(call.dtype)?, like(DType::Int32)?));
        }
        let mantissa = call.compute(None, call.dtype, |[x]: [T; 1]| parts(x.cast()).0.cast::<T>())?;
        Ok((mantissa, call.compute(None, DType::Int32, |[x]: [T; 1]| parts(x.cast()).1)?))
    }, else => Err(call.unsupported()))
}

/// The mantissa and the exponent of a number.
fn parts(x: f64) -> (f64, i32) {
    const BIAS: i32 = 1022;
    const EXPONENT: u64 = 0x7ff << 52;
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    // A subnormal number is scaled to a normal one first.
    let (x, shift) = if x.is_normal() { (x, 0) } else { (x * 2f64.powi(54), 54) };
    let exponent = ((x.to_bits() & EXPONENT) >> 52) as i32 - BIAS;
    (f64::from_bits(x.to_bits() & !EXPONENT | (BIAS as u64) << 52), exponent - shift)
}
