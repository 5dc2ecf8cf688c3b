//! Kernels of logical and bitwise operators.

use torch_library::prelude::*;

use crate::aten;
use crate::loops::{Elements, Pointwise, function, match_opmath};

pub mod words;

use words::{Bits, Shifted};

/// Defines the kernels of binary functions. Each row gives the promotion to the opmath type, the supported dtypes,
/// and the formula.
macro_rules! functions {
    ($($name:ident: $promoting:ident $($class:ident)|+ => |$a:ident, $b:ident| $value:expr;)+) => {
        #[torch_impl(aten, CPU, Meta)]
        mod functions {
            use super::*;

            $(
                fn $name(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
                    let call = Pointwise::$promoting(output, [this, other])?;
                    match_opmath!(call.dtype, T: $($class)|+ => {
                        call.compute_elements(None, call.dtype, function!(|[$a, $b]: [T; 2]| -> T { $value }))
                    }, else => Err(call.unsupported()))
                }
            )+
        }
    };
}

functions! {
    bitwise_and_Tensor: promoting Bool | Integer | Unsigned => |a, b| a.both(b);
    bitwise_or_Tensor: promoting Bool | Integer | Unsigned => |a, b| a.either(b);
    bitwise_xor_Tensor: promoting Bool | Integer | Unsigned => |a, b| a.differing(b);
    bitwise_left_shift_Tensor: promoting Integer => |a, b| a.shifted_left(b);
    bitwise_right_shift_Tensor: promoting Integer => |a, b| a.shifted_right(b);
}

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn bitwise_not(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting_exactly(output, [this])?;
        match_opmath!(call.dtype, T: Bool | Integer | Unsigned => {
            call.compute_elements(None, call.dtype, function!(|[x]: [T; 1]| -> T { x.flipped() }))
        }, else => Err(call.unsupported()))
    }

    fn logical_and(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        logical(output, [this, other], function!(|[a, b]: [bool; 2]| -> bool { a.both(b) }))
    }

    fn logical_or(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        logical(output, [this, other], function!(|[a, b]: [bool; 2]| -> bool { a.either(b) }))
    }

    fn logical_xor(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        logical(output, [this, other], function!(|[a, b]: [bool; 2]| -> bool { a.differing(b) }))
    }
}

fn logical(output: Output<'_>, inputs: [&Tensor; 2], f: impl Elements<bool, bool, 2>) -> Result<Tensor> {
    Pointwise::promoting(output, inputs)?.compute_elements(None, DType::Bool, f)
}
