//! Kernels of functions of two numbers, other than arithmetic.

use torch_library::prelude::*;

use super::divisors::{common_divisor, common_multiple};
use crate::aten;
use crate::cpu::special::{BinaryLogOfSum, LogOfSum};
use crate::functions::{Functions, Raised};
use crate::loops::Pointwise;
use crate::loops::{function, match_opmath};
use crate::number::Number;

/// Defines the kernels of functions. Each row gives the promotion to the opmath type, the supported dtypes, and the
/// formula.
macro_rules! functions {
    ($($name:ident: $promoting:ident $($class:ident)|+ => |$a:ident, $b:ident, $T:ident| $value:expr;)+) => {
        #[torch_impl(aten, CPU, Meta)]
        mod kernels {
            use super::*;

            $(
                fn $name(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
                    let call = Pointwise::$promoting(output, [this, other])?;
                    match_opmath!(call.dtype, $T: $($class)|+ => {
                        let value = function!(|[$a, $b]: [$T; 2]| -> $T { $value });
                        call.compute_elements(None, call.dtype, value)
                    }, else => Err(call.unsupported()))
                }
            )+
        }
    };
}

functions! {
    hypot: promoting Float => |a, b, T| a.distance(b);
    copysign_Tensor: promoting_to_float Float => |a, b, T| a.copysign(b);
    logaddexp: promoting Float | Complex => |a, b, T| a.log_of_sum(b);
    logaddexp2: promoting Float => |a, b, T| a.binary_log_of_sum(b);
    xlogy_Tensor: promoting_to_float Float =>
        |a, b, T| if b.is_nan() { b } else if a == T::ZERO { T::ZERO } else { a * b.natural_logarithm() };
    gcd: promoting Integer => |a, b, T| common_divisor(a, b);
    lcm: promoting Integer => |a, b, T| common_multiple(a, b);
}

#[torch_impl(aten, CPU, Meta)]
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
