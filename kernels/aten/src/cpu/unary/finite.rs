//! Kernels that find infinities, and that replace them and NaN by finite numbers.

use num_complex::Complex;
use num_traits::Float;
use torch_library::Element;
use torch_library::prelude::*;

use crate::aten;
use crate::loops::Pointwise;
use crate::loops::match_opmath;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn isposinf(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        is_infinity(output, this, f64::INFINITY)
    }

    fn isneginf(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        is_infinity(output, this, f64::NEG_INFINITY)
    }

    fn nan_to_num(
        output: Output<'_>,
        this: &Tensor,
        nan: Option<f64>,
        posinf: Option<f64>,
        neginf: Option<f64>,
    ) -> Result<Tensor> {
        let call = Pointwise::promoting_exactly(output, [this])?.strided_like_first();
        let largest = match call.dtype {
            DType::Float16 => 65_504.0,
            DType::BFloat16 => f64::from(f32::from_bits(0x7f7f_0000)),
            DType::Float32 => f64::from(f32::MAX),
            _ => f64::MAX,
        };
        match_opmath!(call.dtype, T: Float => {
            let nan: T = nan.unwrap_or(0.0).cast();
            let (above, below): (T, T) =
                (posinf.unwrap_or(largest).cast(), neginf.unwrap_or(-largest).cast());
            // One selection after the other: nested ones would be compiled to branches.
            call.compute(None, call.dtype, move |[x]: [T; 1]| {
                let number = if x == T::infinity() { above } else { x };
                let number = if x == T::neg_infinity() { below } else { number };
                if x.is_nan() { nan } else { number }
            })
        }, else => match_opmath!(call.dtype, T: Bool | Integer | Unsigned => {
            call.compute(None, call.dtype, |[x]: [T; 1]| x)
        }, else => match_opmath!(call.dtype, T: Complex => {
            let largest = if call.dtype == DType::Complex64 { f64::from(f32::MAX) } else { f64::MAX };
            let instead = [nan.unwrap_or(0.0), posinf.unwrap_or(largest), neginf.unwrap_or(-largest)];
            call.compute(None, call.dtype, move |[x]: [T; 1]| x.with_finite_parts(instead))
        }, else => Err(call.unsupported()))))
    }
}

fn is_infinity(output: Output<'_>, this: &Tensor, infinity: f64) -> Result<Tensor> {
    output.exactly(DType::Bool)?;
    let call = Pointwise::promoting(output, [this])?;
    match_opmath!(call.dtype, T: Float => {
        let infinity: T = infinity.cast();
        call.compute(None, DType::Bool, move |[x]: [T; 1]| x == infinity)
    }, else => match_opmath!(call.dtype, T: Bool | Integer | Unsigned => {
        call.compute(None, DType::Bool, |[_]: [T; 1]| false)
    }, else => Err(call.unsupported())))
}

/// A complex number.
trait FiniteParts {
    /// Replaces parts that are NaN, infinity or negative infinity by the numbers in `instead`, in this order.
    fn with_finite_parts(self, instead: [f64; 3]) -> Self;
}

macro_rules! finite_parts {
    ($($ty:ident),+) => { $(
        impl FiniteParts for Complex<$ty> {
            fn with_finite_parts(self, [nan, above, below]: [f64; 3]) -> Self {
                let finite = |part: $ty| match part {
                    part if part.is_nan() => nan as $ty,
                    $ty::INFINITY => above as $ty,
                    $ty::NEG_INFINITY => below as $ty,
                    part => part,
                };
                Complex::new(finite(self.re), finite(self.im))
            }
        }
    )+ };
}

finite_parts!(f32, f64);
