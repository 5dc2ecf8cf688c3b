//! Kernels of remainders.

use std::sync::atomic::{AtomicBool, Ordering};

use num_traits::{Float, PrimInt};
use torch_library::prelude::*;

use crate::aten;
use crate::functions::{Divisible, Quotient};
use crate::loops::Pointwise;
use crate::loops::{Usually, function, match_opmath};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn fmod_Tensor(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        rest(output, [this, other], Sign::OfDividend)
    }

    fn remainder_Tensor(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        rest(output, [this, other], Sign::OfDivisor)
    }
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
