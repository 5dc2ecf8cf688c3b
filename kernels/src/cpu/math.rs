//! More functions of one, two and three numbers.

use num_traits::Float;
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::functions::{ErrorFunction, Functions, Hyperbolic, Inverse, NearOne};
use super::loops::{function, match_computing};
use super::number::Number;
use super::unary::functions;
use crate::aten;
use crate::pointwise::Pointwise;

pub(crate) mod binary;
mod rounded;

use rounded::{Bits, Rounded};

/// The square of a truth value is a number.
fn squared(operator: &'static str, out: Option<&Tensor>, this: &Tensor) -> Result<Tensor> {
    let mut call = Pointwise::promoting(operator, [this])?;
    if call.dtype == DType::Bool {
        call.dtype = DType::Int64;
    }
    match_computing!(call.dtype, T: Integer | Float | Complex => {
        call.compute_elements(out, call.dtype, function!(|[x]: [T; 1]| -> T { x.times(x) }))
    }, else => Err(call.unsupported()))
}

functions! {
    expm1 expm1_: promoting_to_float Float | Complex => |x, T| x.exponential_less_one();
    log1p log1p_: promoting_to_float Float | Complex => |x, T| x.logarithm_of_one_more();
    log2 log2_: promoting_to_float Float | Complex => |x, T| x.binary_logarithm();
    log10 log10_: promoting_to_float Float | Complex => |x, T| x.decimal_logarithm();
    asin asin_: promoting_to_float Float | Complex => |x, T| x.arcsine();
    acos acos_: promoting_to_float Float | Complex => |x, T| x.arccosine();
    atan atan_: promoting_to_float Float | Complex => |x, T| x.arctangent();
    sinh sinh_: promoting_to_float Float | Complex => |x, T| x.hyperbolic_sine();
    cosh cosh_: promoting_to_float Float | Complex => |x, T| x.hyperbolic_cosine();
    asinh asinh_: promoting_to_float Float | Complex => |x, T| x.inverse_hyperbolic_sine();
    acosh acosh_: promoting_to_float Float | Complex => |x, T| x.inverse_hyperbolic_cosine();
    atanh atanh_: promoting_to_float Float | Complex => |x, T| x.inverse_hyperbolic_tangent();
    erf erf_: promoting_to_float Float => |x, T| x.error_function();
    erfc erfc_: promoting_to_float Float => |x, T| x.complementary_error_function();
    floor floor_: promoting Integer | Float => |x, T| x.down();
    ceil ceil_: promoting Integer | Float => |x, T| x.up();
    round round_: promoting Integer | Float => |x, T| x.nearest();
    trunc trunc_: promoting Integer | Float => |x, T| x.cut();
    frac frac_: promoting Float => |x, T| x - x.cut();
    silu silu_: promoting Float | Complex => |x, T| x * x.logistic();
    mish mish_: promoting Float => |x, T| x * softplus_of(x).hyperbolic_tangent();
    hardswish hardswish_: promoting Float => |x, T| x * ramp(x);
    hardsigmoid hardsigmoid_: promoting Float => |x, T| ramp(x);
    bitwise_not bitwise_not_: promoting Bool | Integer | Unsigned => |x, T| x.flipped();
}

/// From 0 at -3 to 1 at 3.
#[inline(always)]
fn ramp<T: Float + Element>(x: T) -> T {
    let (three, six): (T, T) = (3.cast(), 6.cast());
    let y = x + three;
    // Not `max` and `min`, which lose NaN.
    (if y < T::zero() {
        T::zero()
    } else if y > six {
        six
    } else {
        y
    }) / six
}

/// Only NaN is.
#[inline(always)]
#[expect(clippy::eq_op, reason = "that is how NaN is told")]
fn is_unequal_to_itself<T: Copy + PartialEq>(x: T) -> bool {
    x != x
}

/// `ln(1 + exp(x))`, without overflow.
#[inline(always)]
fn softplus_of<T: Float + Functions + NearOne>(x: T) -> T {
    x.max(T::zero()) + (-x.abs()).exponential().logarithm_of_one_more()
}

#[torch_impl(aten, CPU, Meta)]
mod more {
    use super::*;

    fn square(this: &Tensor) -> Result<Tensor> {
        squared("aten::square", None, this)
    }

    fn square_(this: &mut Tensor) -> Result<&mut Tensor> {
        squared("aten::square_", Some(this), this)?;
        Ok(this)
    }

    fn isnan(this: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting("aten::isnan", [this])?;
        match_dtype!(call.dtype, T => call.compute(None, DType::Bool, |[x]: [T; 1]| is_unequal_to_itself(x)))
    }

    fn round_decimals(this: &Tensor, decimals: i64) -> Result<Tensor> {
        let call = Pointwise::promoting("aten::round.decimals", [this])?;
        match_computing!(call.dtype, T: Float => {
            let places = i32::try_from(decimals.unsigned_abs()).unwrap_or(i32::MAX);
            let power: T = 10f64.powi(places).cast();
            match decimals {
                0 => call.compute(None, call.dtype, |[x]: [T; 1]| x.nearest()),
                1.. => call.compute(None, call.dtype, move |[x]: [T; 1]| (x * power).nearest() / power),
                _ => call.compute(None, call.dtype, move |[x]: [T; 1]| (x / power).nearest() * power),
            }
        }, else => Err(call.unsupported()))
    }

    fn leaky_relu(this: &Tensor, negative_slope: Scalar) -> Result<Tensor> {
        let call = Pointwise::promoting("aten::leaky_relu", [this])?;
        match_computing!(call.dtype, T: Float => {
            let slope: T = negative_slope.cast();
            call.compute(None, call.dtype, move |[x]: [T; 1]| if x > 0.0 { x } else { x * slope })
        }, else => Err(call.unsupported()))
    }

    fn elu(this: &Tensor, alpha: Scalar, scale: Scalar, input_scale: Scalar) -> Result<Tensor> {
        let call = Pointwise::promoting("aten::elu", [this])?;
        match_computing!(call.dtype, T: Float => {
            let (scale, input_scale): (T, T) = (scale.cast(), input_scale.cast());
            let factor = alpha.cast::<T>() * scale;
            call.compute(None, call.dtype, move |[x]: [T; 1]| {
                let below = (x * input_scale).exponential_less_one() * factor;
                if x < 0.0 { below } else { x * scale }
            })
        }, else => Err(call.unsupported()))
    }

    fn log_sigmoid(this: &Tensor) -> Result<Tensor> {
        let this = &aten::contiguous(this)?; // as the result is, whatever the input was
        let call = Pointwise::promoting("aten::log_sigmoid", [this])?;
        match_computing!(call.dtype, T: Float => {
            call.compute(None, call.dtype, |[x]: [T; 1]| -softplus_of(-x))
        }, else => Err(call.unsupported()))
    }

    fn hardshrink(this: &Tensor, lambd: Scalar) -> Result<Tensor> {
        let call = Pointwise::promoting("aten::hardshrink", [this])?;
        match_computing!(call.dtype, T: Float => {
            let width: T = lambd.to()?;
            call.compute(None, call.dtype, move |[x]: [T; 1]| if x >= -width && x <= width { T::ZERO } else { x })
        }, else => Err(call.unsupported()))
    }

    fn softshrink(this: &Tensor, lambd: Scalar) -> Result<Tensor> {
        let call = Pointwise::promoting("aten::softshrink", [this])?;
        match_computing!(call.dtype, T: Float => {
            let width: T = lambd.to()?;
            ensure!(
                width >= T::ZERO,
                Argument,
                "aten::softshrink: lambd is {lambd}, elements would move away from 0"
            );
            // NaN is in neither part, and stays.
            call.compute(None, call.dtype, move |[x]: [T; 1]| match x {
                x if x > width => x - width,
                x if x < -width => x + width,
                x => x * T::ZERO,
            })
        }, else => Err(call.unsupported()))
    }

    fn threshold(this: &Tensor, threshold: Scalar, value: Scalar) -> Result<Tensor> {
        const OPERATOR: &str = "aten::threshold";
        let call = Pointwise::promoting(OPERATOR, [this])?;
        let fits = match_dtype!(call.dtype, T => threshold.to::<T>().and(value.to::<T>()).map(drop));
        fits.map_err(|error| error.context(OPERATOR))?;
        match_computing!(call.dtype, T: Integer | Float => {
            // Both are numbers as the elements are: whole ones between these.
            let (threshold, value): (T, T) = (threshold.cast(), value.cast());
            call.compute(None, call.dtype, move |[x]: [T; 1]| if x <= threshold { value } else { x })
        }, else => Err(call.unsupported()))
    }

    fn softplus(this: &Tensor, beta: Scalar, threshold: Scalar) -> Result<Tensor> {
        let call = Pointwise::promoting("aten::softplus", [this])?;
        match_computing!(call.dtype, T: Float => {
            let (beta, threshold): (T, T) = (beta.cast(), threshold.cast());
            call.compute(None, call.dtype, move |[x]: [T; 1]| {
                if x * beta > threshold { x } else { (x * beta).exponential().logarithm_of_one_more() / beta }
            })
        }, else => Err(call.unsupported()))
    }
}
