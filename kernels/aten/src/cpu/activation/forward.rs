//! Kernels of activations of one number.

use num_traits::Float;
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use crate::aten;
use crate::cpu::unary::clamp::between;
use crate::cpu::unary::functions;
use crate::functions::{Functions, NearOne, softplus_of};
use crate::loops::pointwise::{Pointwise, unsupported};
use crate::loops::{match_opmath, parameter};
use crate::number::Number;

functions! {
    silu: promoting_exactly Float | Complex => |x, T| x * x.logistic();
    mish: promoting_exactly Float => |x, T| x * softplus_of(x).hyperbolic_tangent();
    hardswish: promoting_exactly Float => |x, T| x * ramp(x) / 6.0;
    hardsigmoid: promoting_exactly Float => |x, T| ramp(x) / 6.0;
}

/// Six times the hard sigmoid: a line from 0 at -3 to 6 at 3, constant outside.
#[inline(always)]
fn ramp<T: Float + Element>(x: T) -> T {
    let (three, six): (T, T) = (3.cast(), 6.cast());
    let y = x + three;
    // Not `max` and `min`, which drop NaN.
    if y < T::zero() {
        T::zero()
    } else if y > six {
        six
    } else {
        y
    }
}

#[torch_impl(aten, CPU, Meta)]
mod more {
    use super::*;

    fn leaky_relu(output: Output<'_>, this: &Tensor, negative_slope: Scalar) -> Result<Tensor> {
        let call = Pointwise::promoting_exactly(output, [this])?;
        match_opmath!(call.dtype, T: Float => {
            let slope: T = parameter(output.operator(), negative_slope, T::DTYPE)?;
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
            let number = |number| parameter::<T>(output.operator(), number, T::DTYPE);
            let (scale, input_scale) = (number(scale)?, number(input_scale)?);
            let factor = number(alpha)? * scale;
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
            let width: T = parameter(output.operator(), lambd, call.dtype)?;
            call.compute(None, call.dtype, move |[x]: [T; 1]| if x >= -width && x <= width { T::ZERO } else { x })
        }, else => Err(call.unsupported()))
    }

    fn softshrink(output: Output<'_>, this: &Tensor, lambd: Scalar) -> Result<Tensor> {
        let call = Pointwise::promoting_exactly(output, [this])?;
        match_opmath!(call.dtype, T: Float => {
            let width: T = parameter(output.operator(), lambd, call.dtype)?;
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
        let call = Pointwise::promoting(output, [this])?;
        match_opmath!(call.dtype, T: Integer | Float => {
            // Both are converted to the dtype of the elements, which truncates them for integers.
            let number = |number| parameter::<T>(output.operator(), number, T::DTYPE);
            let (threshold, value) = (number(threshold)?, number(value)?);
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

    fn hardtanh(output: Output<'_>, this: &Tensor, min_val: Scalar, max_val: Scalar) -> Result<Tensor> {
        let operator = output.operator();
        let dtype = this.dtype();
        let [min_val, max_val] = match_dtype!(dtype, T: Integer | Unsigned => {
            ensure!(
                [min_val, max_val].iter().all(|bound| bound.cast::<f64>().is_finite()),
                Argument,
                "{operator}: {min_val} or {max_val} is not a number of {dtype}, expected finite bounds"
            );
            let whole = |bound: Scalar| match bound {
                Scalar::Int(bound) => i128::from(bound),
                other => other.cast::<f64>() as i128,
            };
            let (min, max, least, most) = (whole(min_val), whole(max_val), T::MIN as i128, T::MAX as i128);
            ensure!(
                min <= most && max >= least,
                Argument,
                "{operator}: no number of {dtype} is as high as {min_val}, or as low as {max_val}"
            );
            [min, max].map(|bound| Scalar::Int(bound.clamp(least, most) as i64))
        }, else => [min_val, max_val]);
        match_opmath!(dtype, T: Integer | Unsigned | Float => {
            let call = Pointwise::with_dtype(output, [this], dtype)?.strided_like_first().exactly();
            let number = |number| parameter::<T>(operator, number, dtype);
            between::<T>(&call, Some(number(min_val)?), Some(number(max_val)?))
        }, else => Err(unsupported(operator, dtype)))
    }
}
