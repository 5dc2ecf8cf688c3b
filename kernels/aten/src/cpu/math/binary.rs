//! Element-wise functions of two and three operands.

use std::sync::atomic::{AtomicBool, Ordering};

use num_complex::Complex;
use num_traits::{Float, PrimInt};
use torch_library::Element;
use torch_library::prelude::*;

use crate::arguments::check_exponent;
use crate::aten;
use crate::functions::{Coordinate, Divisible, Quotient, Raised};
use crate::loops::Pointwise;
use crate::loops::{self, RowByRow, Usually, function, match_opmath};
use crate::number::{Divided, Number, larger, smaller};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn atan2(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        angle(output, [this, other])
    }

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

    fn fmod_Tensor(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        rest(output, [this, other], Sign::OfDividend)
    }

    fn remainder_Tensor(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        rest(output, [this, other], Sign::OfDivisor)
    }

    fn pow_Tensor_Tensor(output: Output<'_>, this: &Tensor, exponent: &Tensor) -> Result<Tensor> {
        power(output, [this, exponent])
    }

    fn pow_Tensor_Scalar(output: Output<'_>, this: &Tensor, exponent: Scalar) -> Result<Tensor> {
        let operator = output.operator();
        check_exponent(operator, this, exponent)?;
        if (this.dtype(), exponent) == (DType::Bool, Scalar::Bool(true)) {
            return Pointwise::promoting(output, [this])?.compute(None, DType::Bool, |[x]: [bool; 1]| x);
        }
        let number = Tensor::wrapped_number(exponent);
        raised(Pointwise::promoting(output, [this, &number])?.lying_by_first())
    }

    fn lerp_Scalar(output: Output<'_>, this: &Tensor, end: &Tensor, weight: Scalar) -> Result<Tensor> {
        interpolated_by(output, [this, end], weight)
    }

    fn lerp_Tensor(output: Output<'_>, this: &Tensor, end: &Tensor, weight: &Tensor) -> Result<Tensor> {
        interpolated(output, [this, end, weight])
    }

    fn addcmul(
        output: Output<'_>,
        this: &Tensor,
        tensor1: &Tensor,
        tensor2: &Tensor,
        value: Scalar,
    ) -> Result<Tensor> {
        product_added(output, [this, tensor1, tensor2], value)
    }

    fn addcdiv(
        output: Output<'_>,
        this: &Tensor,
        tensor1: &Tensor,
        tensor2: &Tensor,
        value: Scalar,
    ) -> Result<Tensor> {
        quotient_added(output, [this, tensor1, tensor2], value)
    }
}

fn angle(output: Output<'_>, inputs: [&Tensor; 2]) -> Result<Tensor> {
    let call = Pointwise::promoting_to_float(output, inputs)?;
    match_opmath!(call.dtype, T: Float => {
        call.compute_elements(None, call.dtype, function!(|[y, x]: [T; 2]| -> T { y.angle(x) }))
    }, else => Err(call.unsupported()))
}

/// The operand whose sign the remainder has.
#[derive(Clone, Copy)]
enum Sign {
    OfDividend,
    OfDivisor,
}

fn rest(output: Output<'_>, inputs: [&Tensor; 2], sign: Sign) -> Result<Tensor> {
    let operator = output.operator();
    let call = Pointwise::promoting(output, inputs)?;
    match_opmath!(call.dtype, T: Float => {
        let is_usual = |[a, b]: [T; 2]| a.has_moderate_quotient(b);
        match sign {
            Sign::OfDividend => call.compute_elements(None, call.dtype, Usually {
                is_usual,
                fast: |[a, b]: [T; 2]| a.rest(b),
                any: |[a, b]: [T; 2]| a % b,
            }),
            Sign::OfDivisor => call.compute_elements(None, call.dtype, Usually {
                is_usual,
                fast: |[a, b]: [T; 2]| with_sign_of(b, a.rest(b)),
                any: |[a, b]: [T; 2]| with_sign_of(b, a % b),
            }),
        }
    }, else => match_opmath!(call.dtype, T: Integer => {
        let by_zero = AtomicBool::new(false);
        let is_usual = |[a, b]: [T; 2]| a.has_short_quotient(b);
        let any = |[a, b]: [T; 2]| integer_rest(a, b, sign, &by_zero);
        let out = match sign {
            Sign::OfDividend => {
                let fast = function!(|[a, b]: [T; 2]| -> T { a.quotient(b, false)[1] });
                call.compute_elements(None, call.dtype, Usually { is_usual, fast, any })?
            }
            Sign::OfDivisor => {
                let fast = function!(|[a, b]: [T; 2]| -> T { a.quotient(b, true)[1] });
                call.compute_elements(None, call.dtype, Usually { is_usual, fast, any })?
            }
        };
        ensure!(!by_zero.into_inner(), Argument, "{operator}: an integer was divided by zero");
        Ok(out)
    }, else => Err(call.unsupported())))
}

/// The remainder of a division whose quotient is rounded down.
#[inline(always)]
fn with_sign_of<T: Float>(divisor: T, rest: T) -> T {
    let is_other = rest != T::zero() && (rest < T::zero()) != (divisor < T::zero());
    if is_other { rest + divisor } else { rest }
}

#[inline(always)]
fn integer_rest<T: PrimInt>(a: T, b: T, sign: Sign, by_zero: &AtomicBool) -> T {
    if b == T::zero() {
        by_zero.store(true, Ordering::Relaxed);
        return b;
    }
    if a.checked_div(&b).is_none() {
        return T::zero(); // the smallest integer divided by -1
    }
    let rest = a % b;
    let is_other = rest != T::zero() && (rest < T::zero()) != (b < T::zero());
    if matches!(sign, Sign::OfDivisor) && is_other { rest + b } else { rest }
}

fn power(output: Output<'_>, inputs: [&Tensor; 2]) -> Result<Tensor> {
    raised(Pointwise::promoting(output, inputs)?)
}

fn raised(call: Pointwise<'_, 2>) -> Result<Tensor> {
    let exponent = call.inputs[1];
    let number = if exponent.is_wrapped_number() { loops::elements::<f64>(exponent)? } else { Vec::new() };
    let (dtype, is_half) = (call.dtype, call.dtype == DType::Float16);
    match_opmath!(dtype, T: Float => match *number {
        // The same exponents as in PyTorch have a formula of their own. For roots of -0 and of negative infinity, the
        // results differ from those of the general power.
        [2.0] => call.compute(None, dtype, |[x, _]: [T; 2]| x * x),
        [3.0] => call.compute(None, dtype, |[x, _]: [T; 2]| x * x * x),
        [-2.0] => call.compute(None, dtype, |[x, _]: [T; 2]| T::ONE / (x * x)),
        [0.5] if !is_half => call.compute(None, dtype, |[x, _]: [T; 2]| x.sqrt()),
        [-0.5] if !is_half => call.compute(None, dtype, |[x, _]: [T; 2]| T::ONE / x.sqrt()),
        [-1.0] => call.compute(None, dtype, |[x, _]: [T; 2]| T::ONE / x),
        _ => call.compute_elements(None, dtype, function!(|[x, y]: [T; 2]| -> T { x.raised(y) })),
    }, else => match_opmath!(dtype, T: Integer => {
        call.compute(None, dtype, |[x, y]: [T; 2]| integer_power(x, y))
    }, else => match_opmath!(dtype, T: Complex => {
        call.compute(None, dtype, |[x, y]: [T; 2]| x.powc(y))
    }, else => Err(call.unsupported()))))
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

/// Checks that the ends of an interpolation have the same dtype.
fn check_ends(operator: &str, [start, end]: [&Tensor; 2]) -> Result<()> {
    ensure!(
        start.dtype() == end.dtype(),
        DType,
        "{operator}: from {} to {}, expected one type",
        start.dtype(),
        end.dtype()
    );
    Ok(())
}

fn interpolated_by(output: Output<'_>, inputs: [&Tensor; 2], weight: Scalar) -> Result<Tensor> {
    let operator = output.operator();
    check_ends(operator, inputs)?;
    let call = Pointwise::promoting(output, inputs)?;
    match_opmath!(call.dtype, T: Float => {
        let weight: T = weight.to().map_err(|error| error.context(operator))?;
        let is_near = weight.abs() < 0.5;
        let step = if is_near { weight } else { weight - T::ONE };
        call.compute(None, call.dtype, move |[start, end]: [T; 2]| {
            (if is_near { start } else { end }) + step * (end - start)
        })
    }, else => match_opmath!(call.dtype, T: Complex => {
        let weight: T = weight.cast();
        call.compute(None, call.dtype, move |[start, end]: [T; 2]| between(start, end, weight))
    }, else => Err(call.unsupported())))
}

fn interpolated(output: Output<'_>, inputs: [&Tensor; 3]) -> Result<Tensor> {
    let operator = output.operator();
    let [start, end, weight] = inputs;
    check_ends(operator, [start, end])?;
    ensure!(
        weight.dim() == 0 || weight.dtype() == start.dtype(),
        DType,
        "{operator}: {} with weights of {}, expected one type",
        start.dtype(),
        weight.dtype()
    );
    let call = Pointwise::promoting_exactly(output, inputs)?;
    match_opmath!(call.dtype, T: Float => {
        call.compute(None, call.dtype, |[start, end, weight]: [T; 3]| {
            // Computed from the nearer end, so that both ends are exact.
            if weight.abs() < 0.5 { start + weight * (end - start) } else { end - (end - start) * (T::ONE - weight) }
        })
    }, else => match_opmath!(call.dtype, T: Complex => {
        call.compute(None, call.dtype, |[start, end, weight]: [T; 3]| between(start, end, weight))
    }, else => Err(call.unsupported())))
}

/// Computed from the nearer end, by the magnitude of the weight.
#[inline(always)]
fn between<T: Float + Element>(start: Complex<T>, end: Complex<T>, weight: Complex<T>) -> Complex<T> {
    match weight.re.hypot(weight.im) < 0.5.cast() {
        true => start + weight * (end - start),
        false => end - (end - start) * (Complex::new(T::one(), T::zero()) - weight),
    }
}

fn product_added(output: Output<'_>, inputs: [&Tensor; 3], value: Scalar) -> Result<Tensor> {
    let operator = output.operator();
    let call = Pointwise::promoting(output, inputs)?;
    match_opmath!(call.dtype, T: Integer | Float | Complex => {
        let value: T = value.to().map_err(|error| error.context(operator))?;
        let added = move |[x, a, b]: [T; 3]| x.plus(value.times(a).times(b));
        call.compute_elements(None, call.dtype, RowByRow(added))
    }, else => Err(call.unsupported()))
}

fn quotient_added(output: Output<'_>, inputs: [&Tensor; 3], value: Scalar) -> Result<Tensor> {
    let operator = output.operator();
    ensure!(
        inputs[1..].iter().any(|factor| factor.dtype().is_differentiable()),
        DType,
        "{operator}: {} divided by {}, expected a floating-point or complex number among them\n  \
         help: `aten::to_dtype` makes a tensor so",
        inputs[1].dtype(),
        inputs[2].dtype()
    );
    let call = Pointwise::promoting(output, inputs)?;
    match_opmath!(call.dtype, T: Float | Complex => {
        let value: T = value.to().map_err(|error| error.context(operator))?;
        call.compute(None, call.dtype, move |[x, a, b]: [T; 3]| x.plus(value.times(a).over(b)))
    }, else => Err(call.unsupported()))
}
