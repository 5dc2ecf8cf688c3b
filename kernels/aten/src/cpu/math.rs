//! More element-wise functions of one, two and three operands.

use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::unary::functions;
use crate::aten;
use crate::functions::{ErrorFunction, Functions, Hyperbolic, Inverse, NearOne};
use crate::loops::Pointwise;
use crate::loops::{function, match_opmath};
use crate::number::Number;

pub(crate) mod binary;
mod complex;
mod rounded;

use rounded::Rounded;

functions! {
    expm1: promoting_to_float Float | Complex => |x, T| x.exponential_less_one();
    log1p: promoting_to_float Float | Complex => |x, T| x.logarithm_of_one_more();
    log2: promoting_to_float Float | Complex => |x, T| x.binary_logarithm(), in registers BinaryLogarithm;
    log10: promoting_to_float Float | Complex => |x, T| x.decimal_logarithm(), in registers DecimalLogarithm;
    asin: promoting_to_float Float | Complex => |x, T| x.arcsine();
    acos: promoting_to_float Float | Complex => |x, T| x.arccosine();
    atan: promoting_to_float Float | Complex => |x, T| x.arctangent();
    sinh: promoting_to_float Float | Complex => |x, T| x.hyperbolic_sine();
    cosh: promoting_to_float Float | Complex => |x, T| x.hyperbolic_cosine();
    asinh: promoting_to_float Float | Complex => |x, T| x.inverse_hyperbolic_sine();
    acosh: promoting_to_float Float | Complex => |x, T| x.inverse_hyperbolic_cosine();
    atanh: promoting_to_float Float | Complex => |x, T| x.inverse_hyperbolic_tangent();
    erf: promoting_to_float Float => |x, T| x.error_function();
    erfc: promoting_to_float Float => |x, T| x.complementary_error_function(), in registers ComplementaryError;
    floor: promoting_exactly Integer | Float => |x, T| x.down();
    ceil: promoting_exactly Integer | Float => |x, T| x.up();
    round: promoting_exactly Integer | Float => |x, T| x.nearest();
    trunc: promoting_exactly Integer | Float => |x, T| x.cut();
    frac: promoting_exactly Float => |x, T| x - x.cut();
}

/// True only for NaN.
#[inline(always)]
#[expect(clippy::eq_op, reason = "that is how NaN is told")]
fn is_unequal_to_itself<T: Copy + PartialEq>(x: T) -> bool {
    x != x
}

#[torch_impl(aten, CPU, Meta)]
mod more {
    use super::*;

    /// The square of booleans is an integer.
    fn square(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        let mut call = Pointwise::promoting(output, [this])?;
        if call.dtype == DType::Bool {
            call.dtype = DType::Int64;
        }
        match_opmath!(call.dtype, T: Integer | Float | Complex => {
            call.compute_elements(None, call.dtype, function!(|[x]: [T; 1]| -> T { x.times(x) }))
        }, else => Err(call.unsupported()))
    }

    fn isnan(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting_exactly(output, [this])?;
        match_dtype!(call.dtype, T => call.compute(None, DType::Bool, |[x]: [T; 1]| is_unequal_to_itself(x)))
    }

    fn round_decimals(output: Output<'_>, this: &Tensor, decimals: i64) -> Result<Tensor> {
        let call = Pointwise::promoting_exactly(output, [this])?;
        match_opmath!(call.dtype, T: Float => {
            let places = i32::try_from(decimals.unsigned_abs()).unwrap_or(i32::MAX);
            let power: T = 10f64.powi(places).cast();
            match decimals {
                0 => call.compute(None, call.dtype, |[x]: [T; 1]| x.nearest()),
                1.. => call.compute(None, call.dtype, move |[x]: [T; 1]| (x * power).nearest() / power),
                _ => call.compute(None, call.dtype, move |[x]: [T; 1]| (x / power).nearest() * power),
            }
        }, else => Err(call.unsupported()))
    }
}
