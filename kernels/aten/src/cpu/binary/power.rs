//! Kernels of powers.

use num_traits::PrimInt;
use torch_library::prelude::*;

use crate::arguments::check_exponent;
use crate::aten;
use crate::functions::{ComplexFunctions, Raised, Root};
use crate::loops::Pointwise;
use crate::loops::{self, function, match_opmath};
use crate::number::{Divided, Number};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn pow_Tensor_Tensor(output: Output<'_>, this: &Tensor, exponent: &Tensor) -> Result<Tensor> {
        power(output, [this, exponent])
    }

    fn pow_Tensor_Scalar(output: Output<'_>, this: &Tensor, exponent: Scalar) -> Result<Tensor> {
        check_exponent(output.operator(), this, exponent)?;
        let number = Tensor::wrapped_number(exponent);
        let call = Pointwise::promoting(output, [this, &number])?.strided_by_first();
        let dtype = call.dtype;
        match exponent {
            // Powers that need no product are there for types that have no others.
            Scalar::Bool(_) if dtype == DType::Bool => call.compute(None, dtype, |[x, y]: [bool; 2]| x || !y),
            Scalar::Bool(_) | Scalar::Int(0 | 1) => match_opmath!(dtype, T: Unsigned => {
                call.compute(None, dtype, |[x, y]: [T; 2]| if y == T::ZERO { T::ONE } else { x })
            }, else => raised(call)),
            _ => raised(call),
        }
    }
}

fn power(output: Output<'_>, inputs: [&Tensor; 2]) -> Result<Tensor> {
    raised(Pointwise::promoting(output, inputs)?)
}

fn raised(call: Pointwise<'_, 2>) -> Result<Tensor> {
    let exponent = call.inputs[1];
    let number = real_number(exponent)?;
    let (dtype, is_half) = (call.dtype, call.dtype == DType::Float16);
    match_opmath!(dtype, T: Float => match number {
        // The same exponents as in PyTorch have a formula of their own. For roots of -0 and of negative infinity, the
        // results differ from those of the general power.
        Some(2.0) => call.compute(None, dtype, |[x, _]: [T; 2]| x * x),
        Some(3.0) => call.compute(None, dtype, |[x, _]: [T; 2]| x * x * x),
        Some(-2.0) => call.compute(None, dtype, |[x, _]: [T; 2]| T::ONE / (x * x)),
        Some(0.5) if !is_half => call.compute(None, dtype, |[x, _]: [T; 2]| x.sqrt()),
        Some(-0.5) if !is_half => call.compute(None, dtype, |[x, _]: [T; 2]| T::ONE / x.sqrt()),
        Some(-1.0) => call.compute(None, dtype, |[x, _]: [T; 2]| T::ONE / x),
        _ => call.compute_elements(None, dtype, function!(|[x, y]: [T; 2]| -> T { x.raised(y) })),
    }, else => match_opmath!(dtype, T: Integer => {
        call.compute(None, dtype, |[x, y]: [T; 2]| integer_power(x, y))
    }, else => match_opmath!(dtype, T: Complex => {
        if number == Some(2.0) {
            return call.compute(None, dtype, |[x, _]: [T; 2]| x.times(x)); // a loop of its own has vectors
        }
        if real_number(call.inputs[0])? == Some(1.0) {
            return call.compute(None, dtype, |_: [T; 2]| T::ONE); // also to the power of NaN
        }
        let power = complex_power_of::<T>(number);
        call.compute(None, dtype, move |[x, y]: [T; 2]| power(x, y))
    }, else => Err(call.unsupported()))))
}

/// An operand, if it is a number that was not given as a tensor, and real.
fn real_number(operand: &Tensor) -> Result<Option<f64>> {
    if !operand.is_wrapped_number() {
        return Ok(None);
    }
    let number = loops::elements::<Complex64>(operand)?;
    Ok(number.first().filter(|number| number.im == 0.0).map(|number| number.re))
}

/// The formula for an exponent; the same exponents as in PyTorch have one of their own, which is exact for integers.
fn complex_power_of<T: Divided + ComplexFunctions + Root>(exponent: Option<f64>) -> fn(T, T) -> T {
    match exponent {
        Some(0.0) => |_, _| T::ONE,
        Some(1.0) => |x, _| x,
        Some(3.0) => |x, _| x.times(x).times(x),
        Some(-1.0) => |x, _| T::ONE.over(x),
        Some(-2.0) => |x, _| T::ONE.over(x.times(x)),
        Some(0.5) => |x, _| x.square_root(),
        Some(-0.5) => |x, _| T::ONE.over(x.square_root()),
        _ => |x, y| x.complex_power(y),
    }
}

/// A negative power that is not an integer becomes zero, as in C.
fn integer_power<T: PrimInt + Number>(base: T, exponent: T) -> T {
    if exponent < T::ZERO {
        let is_even = exponent & T::ONE == T::ZERO;
        return match base {
            base if base == T::ONE || (base == T::ONE.negated() && is_even) => T::ONE,
            base if base == T::ONE.negated() => base,
            _ => T::ZERO,
        };
    }
    let (mut power, mut square, mut left) = (T::ONE, base, exponent);
    while left != T::ZERO {
        if left & T::ONE == T::ONE {
            power = power.times(square);
        }
        square = square.times(square);
        left = left >> 1;
    }
    power
}
