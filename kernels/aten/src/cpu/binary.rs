//! Kernels of binary operators: those of arithmetic here, others in files of their own.

use std::sync::atomic::{AtomicBool, Ordering};

use num_traits::{Float, PrimInt};
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use crate::aten;
use crate::functions::{Coordinate, Divisible, Quotient};
use crate::loops::Pointwise;
use crate::loops::{Usually, function, match_opmath, parameter};
use crate::number::{Divided, Number};

mod compare;
mod divisors;
mod extremes;
mod functions;
mod halves;
mod neighbours;
mod power;
mod remainder;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn add_Tensor(output: Output<'_>, this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<Tensor> {
        add(output, [this, other], alpha)
    }

    fn sub_Tensor(output: Output<'_>, this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<Tensor> {
        sub(output, [this, other], alpha)
    }

    fn mul_Tensor(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        mul(output, [this, other])
    }

    fn div_Tensor(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        div(output, [this, other])
    }

    fn div_Tensor_mode(
        output: Output<'_>,
        this: &Tensor,
        other: &Tensor,
        rounding_mode: Option<&str>,
    ) -> Result<Tensor> {
        div_rounded(output, [this, other], rounding_mode)
    }

    fn atan2(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        angle(output, [this, other])
    }
}

fn add(output: Output<'_>, inputs: [&Tensor; 2], alpha: Scalar) -> Result<Tensor> {
    let operator = output.operator();
    let call = Pointwise::promoting(output, inputs)?;
    check_alpha(operator, alpha, call.dtype)?;
    match_opmath!(call.dtype, T: Bool | Integer | Unsigned | Float | Complex => {
        match factor::<T>(operator, alpha, call.dtype)? {
            // For complex numbers the product with one is computed: it differs from the other factor if that is
            // infinite.
            T::ONE if !T::DTYPE.is_complex() => call.compute(None, call.dtype, |[a, b]: [T; 2]| a.plus(b)),
            alpha => call.compute(None, call.dtype, move |[a, b]: [T; 2]| a.plus(alpha.times(b))),
        }
    }, else => Err(call.unsupported()))
}

fn sub(output: Output<'_>, inputs: [&Tensor; 2], alpha: Scalar) -> Result<Tensor> {
    let operator = output.operator();
    ensure!(
        inputs.iter().all(|input| input.dtype() != DType::Bool),
        DType,
        "{operator}: bools ({} and {}) cannot be subtracted, use xor or logical_not",
        inputs[0].dtype(),
        inputs[1].dtype()
    );
    let call = Pointwise::promoting(output, inputs)?;
    check_alpha(operator, alpha, call.dtype)?;
    match_opmath!(call.dtype, T: Integer | Unsigned | Float | Complex => {
        match factor::<T>(operator, alpha, call.dtype)? {
            T::ONE if !T::DTYPE.is_complex() => call.compute(None, call.dtype, |[a, b]: [T; 2]| a.minus(b)),
            alpha => call.compute(None, call.dtype, move |[a, b]: [T; 2]| a.minus(alpha.times(b))),
        }
    }, else => Err(call.unsupported()))
}

/// The factor of the second operand, as a number of the result's type.
fn factor<T: Number>(operator: &str, alpha: Scalar, dtype: DType) -> Result<T> {
    match alpha {
        Scalar::Int(1) => Ok(T::ONE),
        alpha => parameter(operator, alpha, dtype),
    }
}

fn check_alpha(operator: &str, alpha: Scalar, dtype: DType) -> Result<()> {
    if matches!(alpha, Scalar::Int(1)) {
        return Ok(());
    }
    let fits = match alpha {
        Scalar::Bool(_) => dtype == DType::Bool,
        Scalar::Int(_) => true,
        Scalar::Float(_) => dtype.is_differentiable(),
        Scalar::Complex(_) => dtype.is_complex(),
    };
    ensure!(
        fits,
        Argument,
        "{operator}: alpha {alpha} is of a higher kind than the result, which is {dtype}"
    );
    match_dtype!(dtype, T => alpha.to::<T>().map(drop)).map_err(|error| error.context(operator))
}

fn mul(output: Output<'_>, inputs: [&Tensor; 2]) -> Result<Tensor> {
    let call = Pointwise::promoting(output, inputs)?.keeping_single();
    if let Some([a, b]) = &compare::of_eight_bits(call.dtype, inputs)? {
        return mul(output, [a, b]);
    }
    match_opmath!(call.dtype, T: Bool | Integer | Unsigned | Float | Complex => {
        call.compute(None, call.dtype, |[a, b]: [T; 2]| a.times(b))
    }, else => match call.dtype.is_float8() && inputs[1].numel() != 1 {
        true => call.compute(None, call.dtype, |[a, b]: [f32; 2]| a * b),
        false => Err(call.unsupported()), // PyTorch multiplies no float of eight bits by a single element
    })
}

fn div(output: Output<'_>, inputs: [&Tensor; 2]) -> Result<Tensor> {
    let call = Pointwise::promoting_to_float(output, inputs)?.keeping_single();
    match_opmath!(call.dtype, T: Float | Complex => {
        call.compute(None, call.dtype, |[a, b]: [T; 2]| a.over(b))
    }, else => Err(call.unsupported()))
}

/// How a quotient is rounded to an integer.
#[derive(Clone, Copy)]
enum Rounding {
    Truncate,
    Floor,
}

fn div_rounded(output: Output<'_>, inputs: [&Tensor; 2], mode: Option<&str>) -> Result<Tensor> {
    let operator = output.operator();
    let rounding = match mode {
        None => return div(output, inputs),
        Some("trunc") => Rounding::Truncate,
        Some("floor") => Rounding::Floor,
        Some(other) => bail!(
            Argument,
            "{operator}: unknown rounding mode {other:?}, expected \"trunc\", \"floor\" or none"
        ),
    };
    let call = Pointwise::promoting(output, inputs)?.keeping_single();
    if inputs[1].numel() != 1 {
        // Half precision is divided in that precision, rounding every step, as in PyTorch; only a single divisor is
        // widened.
        match_dtype!(call.dtype, T: Half => return halves::divided::<T>(call, rounding), else => {});
    }
    match_opmath!(call.dtype, T: Float => match rounding {
        Rounding::Truncate => call.compute(None, call.dtype, |[a, b]: [T; 2]| (a / b).trunc()),
        Rounding::Floor => call.compute_elements(None, call.dtype, Usually {
            is_usual: |[a, b]: [T; 2]| a.has_moderate_quotient(b),
            fast: function!(|[a, b]: [T; 2]| -> T { floor_quotient(a, b, a.rest(b), |x| x) }),
            any: |[a, b]: [T; 2]| floor_quotient(a, b, a % b, |x| x),
        }),
    }, else => match_opmath!(call.dtype, T: Integer => {
        let by_zero = AtomicBool::new(false);
        let is_usual = |[a, b]: [T; 2]| a.has_short_quotient(b);
        let any = |[a, b]: [T; 2]| whole_quotient(a, b, rounding, &by_zero);
        let out = match rounding {
            Rounding::Truncate => {
                let fast = function!(|[a, b]: [T; 2]| -> T { a.quotient(b, false)[0] });
                call.compute_elements(None, call.dtype, Usually { is_usual, fast, any })?
            }
            Rounding::Floor => {
                let fast = function!(|[a, b]: [T; 2]| -> T { a.quotient(b, true)[0] });
                call.compute_elements(None, call.dtype, Usually { is_usual, fast, any })?
            }
        };
        ensure!(!by_zero.into_inner(), Argument, "{operator}: an integer was divided by zero");
        Ok(out)
    }, else => Err(call.unsupported())))
}

/// Python's `a // b`: the quotient rounded down, without the error of rounding `a / b` first. Every step is rounded to
/// the precision of the result.
#[inline(always)]
fn floor_quotient<T: Float>(a: T, b: T, rest: T, rounded: impl Fn(T) -> T) -> T {
    if b == T::zero() {
        return a / b;
    }
    let mut quotient = rounded(rounded(a - rest) / b);
    if rest != T::zero() && (b < T::zero()) != (rest < T::zero()) {
        quotient = rounded(quotient - T::one());
    }
    if quotient == T::zero() {
        return T::zero().copysign(a / b);
    }
    let half = T::one() / (T::one() + T::one());
    let floor = quotient.floor();
    if quotient - floor > half { rounded(floor + T::one()) } else { floor }
}

#[inline(always)]
fn whole_quotient<T: PrimInt>(a: T, b: T, rounding: Rounding, by_zero: &AtomicBool) -> T {
    if b == T::zero() {
        by_zero.store(true, Ordering::Relaxed);
        return T::zero();
    }
    let Some(quotient) = a.checked_div(&b) else { return a }; // the smallest integer divided by -1 wraps to itself
    let goes_down = matches!(rounding, Rounding::Floor) && (a < T::zero()) != (b < T::zero());
    if goes_down && a % b != T::zero() { quotient - T::one() } else { quotient }
}

fn angle(output: Output<'_>, inputs: [&Tensor; 2]) -> Result<Tensor> {
    let call = Pointwise::promoting_to_float(output, inputs)?;
    match_opmath!(call.dtype, T: Float => {
        call.compute_elements(None, call.dtype, function!(|[y, x]: [T; 2]| -> T { y.angle(x) }))
    }, else => Err(call.unsupported()))
}
