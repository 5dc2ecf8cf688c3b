//! Kernels of special functions, element-wise.

use num_traits::{Float, PrimInt};
use torch_library::Element;
use torch_library::match_dtype;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::special::no_probability;
use crate::functions::{ErrorFunction, Functions, Gamma, LogOdds, PowerOfTwo, Raised, Registers};
use crate::loops::Pointwise;
use crate::loops::{function, match_opmath};
use crate::number::Number;

mod double;
pub mod real;
mod sinc;
mod sums;

use real::{FiniteParts, NextTowards, Real};
use sums::BinaryLogOfSum;
pub(super) use sums::LogOfSum;

/// Defines the kernels of functions. Each row gives the arguments, the promotion to the opmath type, the supported
/// dtypes, and the formula.
macro_rules! functions {
    ($($name:ident($($argument:ident),+): $promoting:ident $($class:ident)|+ => |$($x:ident),+| $value:expr;)+) => {
        #[torch_impl(aten, CPU, Meta)]
        mod kernels {
            use super::*;

            $(
                fn $name(output: Output<'_>, $($argument: &Tensor),+) -> Result<Tensor> {
                    let call = Pointwise::$promoting(output, [$($argument),+])?;
                    match_opmath!(call.dtype, T: $($class)|+ => {
                        let value = function!(|[$($x),+]: [T; count!($($x)+)]| -> T { $value });
                        call.compute_elements(None, call.dtype, value)
                    }, else => Err(call.unsupported()))
                }
            )+
        }
    };
}

macro_rules! count {
    ($a:ident) => {
        1
    };
    ($a:ident $b:ident) => {
        2
    };
}

functions! {
    exp2(this): promoting_to_float Float | Complex => |x| x.power_of_two();
    erfinv(this): promoting_to_float Float => |x| x.inverse_error_function();
    lgamma(this): promoting_to_float Float => |x| x.log_gamma();
    digamma(this): promoting_to_float Float => |x| x.digamma();
    deg2rad(this): promoting_to_float_as_first Float => |x| x.to_radians();
    rad2deg(this): promoting_to_float_as_first Float => |x| x.to_degrees();
    hypot(this, other): promoting Float => |a, b| a.distance(b);
    copysign_Tensor(this, other): promoting_to_float Float => |a, b| a.copysign(b);
    logaddexp(this, other): promoting Float | Complex => |a, b| a.log_of_sum(b);
    logaddexp2(this, other): promoting Float => |a, b| a.binary_log_of_sum(b);
    xlogy_Tensor(this, other): promoting_to_float Float =>
        |a, b| if b.is_nan() { b } else if a == T::ZERO { T::ZERO } else { a * b.natural_logarithm() };
    gcd(this, other): promoting Integer => |a, b| common_divisor(a, b);
    lcm(this, other): promoting Integer => |a, b| common_multiple(a, b);
}

/// Computes the same as the composite kernel, in one pass.
#[torch_impl(aten, CPU)]
fn logit(this: &Tensor, eps: Option<f64>) -> Result<Tensor> {
    const OPERATOR: &str = aten::logit::NAME;
    let call = Pointwise::promoting_to_float(OPERATOR, [this])?;
    match_opmath!(call.dtype, T: Float => {
        let odds = function!(|[x]: [T; 1]| -> T { log_odds(x) });
        let Some(eps) = eps.filter(|eps| *eps >= 0.0) else {
            return call.compute_elements(None, call.dtype, Registers::<_, LogOdds>::new(odds));
        };
        let (low, high): (T, T) = (eps.cast(), (1.0 - eps).cast());
        call.compute(None, call.dtype, |[x]: [T; 1]| {
            // The lower bound wins where `eps` is above one half.
            let below = if x > high { high } else { x };
            log_odds(if x < low { low } else { below })
        })
    }, else => Err(no_probability(OPERATOR, this)))
}

/// The logarithm of the odds of a probability.
#[inline(always)]
fn log_odds<T: Float + Functions>(probability: T) -> T {
    (probability / (T::one() - probability)).natural_logarithm()
}

#[torch_impl(aten, CPU, Meta)]
mod more {
    use super::*;

    fn polygamma(output: Output<'_>, n: i64, this: &Tensor) -> Result<Tensor> {
        let operator = output.operator();
        ensure!(n >= 0, Argument, "{operator}: the order {n} is negative");
        let call = Pointwise::promoting_to_float(output, [this])?;
        match_opmath!(call.dtype, T: Float => {
            call.compute(None, call.dtype, move |[x]: [T; 1]| x.polygamma(n))
        }, else => Err(call.unsupported()))
    }

    fn isposinf(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        is_infinity(output, this, f64::INFINITY)
    }

    fn isneginf(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        is_infinity(output, this, f64::NEG_INFINITY)
    }

    fn signbit(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        output.exactly(DType::Bool)?;
        let call = Pointwise::promoting(output, [this])?;
        match_opmath!(call.dtype, T: Float => {
            call.compute(None, DType::Bool, |[x]: [T; 1]| x.is_sign_negative())
        }, else => match_opmath!(call.dtype, T: Bool | Integer => {
            call.compute(None, DType::Bool, |[x]: [T; 1]| is_negative(x))
        }, else => Err(call.unsupported())))
    }

    fn heaviside(output: Output<'_>, this: &Tensor, values: &Tensor) -> Result<Tensor> {
        let operator = output.operator();
        ensure!(
            this.dtype() == values.dtype(),
            DType,
            "{operator}: {} and values of {}, expected one type",
            this.dtype(),
            values.dtype()
        );
        let call = Pointwise::promoting_exactly(output, [this, values])?;
        match_opmath!(call.dtype, T: Bool | Integer | Float => {
            call.compute(None, call.dtype, |[x, zero]: [T; 2]| step_at_zero(x, zero))
        }, else => Err(call.unsupported()))
    }

    fn nextafter(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting(output, [this, other])?;
        match_dtype!(call.dtype, T: Float | Half => {
            call.compute(None, call.dtype, |[a, b]: [T; 2]| a.next_towards(b))
        }, else => Err(call.unsupported()))
    }

    fn nan_to_num(
        output: Output<'_>,
        this: &Tensor,
        nan: Option<f64>,
        posinf: Option<f64>,
        neginf: Option<f64>,
    ) -> Result<Tensor> {
        let call = Pointwise::promoting_exactly(output, [this])?.lying_as_first();
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
        }, else => match_opmath!(call.dtype, T: Bool | Integer => {
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
    }, else => match_opmath!(call.dtype, T: Bool | Integer => {
        call.compute(None, DType::Bool, |[_]: [T; 1]| false)
    }, else => Err(call.unsupported())))
}

#[inline(always)]
fn is_negative<T: Number + PartialOrd>(x: T) -> bool {
    x < T::ZERO
}

/// The step function: 0 below zero, 1 above it, and `zero` at zero.
#[inline(always)]
fn step_at_zero<T: Number + PartialOrd>(x: T, zero: T) -> T {
    if x == T::ZERO {
        zero
    } else if x > T::ZERO {
        T::ONE
    } else {
        T::ZERO
    }
}

/// The greatest common divisor by Euclid's algorithm, with PyTorch's steps: the smallest integer has no positive
/// counterpart, so a result may be negative.
fn common_divisor<T: PrimInt + Number>(a: T, b: T) -> T {
    let (mut a, mut b) = (magnitude(a), magnitude(b));
    while a != T::ZERO {
        // The smallest integer divided by -1 overflows; its remainder is zero.
        (a, b) = (if b.checked_div(&a).is_some() { b % a } else { T::ZERO }, a);
    }
    b
}

fn common_multiple<T: PrimInt + Number>(a: T, b: T) -> T {
    match common_divisor(a, b) {
        divisor if divisor == T::ZERO => T::ZERO,
        // The smallest integer divided by -1 overflows, to itself.
        divisor => magnitude(a.checked_div(&divisor).unwrap_or(a).times(b)),
    }
}

#[inline(always)]
fn magnitude<T: PrimInt + Number>(x: T) -> T {
    if x < T::ZERO { x.negated() } else { x }
}
