//! More element-wise functions of one, two and three operands.

use num_traits::Float;
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::unary::functions;
use crate::aten;
use crate::functions::{ErrorFunction, Functions, Hyperbolic, Inverse, NearOne, softplus_of};
use crate::loops::Pointwise;
use crate::loops::{function, match_opmath};
use crate::number::Number;

pub(crate) mod binary;
mod rounded;

use rounded::{Bits, Rounded};

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
    silu: promoting_exactly Float | Complex => |x, T| x * x.logistic();
    mish: promoting_exactly Float => |x, T| x * softplus_of(x).hyperbolic_tangent();
    hardswish: promoting_exactly Float => |x, T| x * ramp(x);
    hardsigmoid: promoting_exactly Float => |x, T| ramp(x);
    bitwise_not: promoting_exactly Bool | Integer | Unsigned => |x, T| x.flipped();
}

/// The hard sigmoid: a line from 0 at -3 to 1 at 3, constant outside.
#[inline(always)]
fn ramp<T: Float + Element>(x: T) -> T {
    let (three, six): (T, T) = (3.cast(), 6.cast());
    let y = x + three;
    // Not `max` and `min`, which drop NaN.
    (if y < T::zero() {
        T::zero()
    } else if y > six {
        six
    } else {
        y
    }) / six
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

    fn leaky_relu(output: Output<'_>, this: &Tensor, negative_slope: Scalar) -> Result<Tensor> {
        let call = Pointwise::promoting_exactly(output, [this])?;
        match_opmath!(call.dtype, T: Float => {
            let slope: T = negative_slope.cast();
            call.compute(None, call.dtype, move |[x]: [T; 1]| if x > 0.0 { x } else { x * slope })
        }, else => Err(call.unsupported()))
    }

    fn elu(
        output: Output<'_>,
        this: &Tensor,
        alpha: Scalar,
        scale: Scalar,
        input_scale: Scalar,
    ) -> Result<Tensor> {
        let call = Pointwise::promoting_exactly(output, [this])?;
        match_opmath!(call.dtype, T: Float => {
            let (scale, input_scale): (T, T) = (scale.cast(), input_scale.cast());
            let factor = alpha.cast::<T>() * scale;
            call.compute(None, call.dtype, move |[x]: [T; 1]| {
                let below = (x * input_scale).exponential_less_one() * factor;
                if x < 0.0 { below } else { x * scale }
            })
        }, else => Err(call.unsupported()))
    }

    fn log_sigmoid(this: &Tensor) -> Result<Tensor> {
        let this = &aten::contiguous(this)?; // the result is contiguous, whatever the strides of the input
        let call = Pointwise::promoting(aten::log_sigmoid::NAME, [this])?;
        match_opmath!(call.dtype, T: Float => {
            call.compute(None, call.dtype, |[x]: [T; 1]| -softplus_of(-x))
        }, else => Err(call.unsupported()))
    }

    fn hardshrink(output: Output<'_>, this: &Tensor, lambd: Scalar) -> Result<Tensor> {
        let call = Pointwise::promoting_exactly(output, [this])?;
        match_opmath!(call.dtype, T: Float => {
            let width: T = lambd.to()?;
            call.compute(None, call.dtype, move |[x]: [T; 1]| if x >= -width && x <= width { T::ZERO } else { x })
        }, else => Err(call.unsupported()))
    }

    fn softshrink(output: Output<'_>, this: &Tensor, lambd: Scalar) -> Result<Tensor> {
        let call = Pointwise::promoting_exactly(output, [this])?;
        match_opmath!(call.dtype, T: Float => {
            let width: T = lambd.to()?;
            ensure!(
                width >= T::ZERO && width.is_finite(),
                Argument,
                "{}: lambd is {lambd}, expected a finite number, zero or more",
                output.operator()
            );
            // NaN satisfies neither comparison, and stays NaN.
            call.compute(None, call.dtype, move |[x]: [T; 1]| match x {
                x if x > width => x - width,
                x if x < -width => x + width,
                x => x * T::ZERO,
            })
        }, else => Err(call.unsupported()))
    }

    fn threshold(output: Output<'_>, this: &Tensor, threshold: Scalar, value: Scalar) -> Result<Tensor> {
        let operator = output.operator();
        let call = Pointwise::promoting(output, [this])?;
        let fits = match_dtype!(call.dtype, T => threshold.to::<T>().and(value.to::<T>()).map(drop));
        fits.map_err(|error| error.context(operator))?;
        match_opmath!(call.dtype, T: Integer | Float => {
            // Both are converted to the dtype of the elements, which truncates them for integers.
            let (threshold, value): (T, T) = (threshold.cast(), value.cast());
            call.compute(None, call.dtype, move |[x]: [T; 1]| if x <= threshold { value } else { x })
        }, else => Err(call.unsupported()))
    }

    fn softplus(output: Output<'_>, this: &Tensor, beta: Scalar, threshold: Scalar) -> Result<Tensor> {
        let call = Pointwise::promoting_exactly(output, [this])?;
        match_opmath!(call.dtype, T: Float => {
            let (beta, threshold): (T, T) = (beta.cast(), threshold.cast());
            call.compute(None, call.dtype, move |[x]: [T; 1]| {
                if x * beta > threshold { x } else { (x * beta).exponential().logarithm_of_one_more() / beta }
            })
        }, else => Err(call.unsupported()))
    }
}
