//! Trigonometric functions, with a fast form for arguments that are not huge.

use torch_library::prelude::*;

use crate::aten;
use crate::functions::{Circular, ComplexFunctions, Registers, Tangents};
use crate::loops::Pointwise;
use crate::loops::{Usually, function, match_opmath};

/// Defines the kernels. Each row gives the name of the operator, the fast form, the form for all numbers, that for
/// complex ones, and a form for the widest registers if there is one.
macro_rules! angles {
    ($($name:ident: $fast:ident, $any:ident, $complex:ident $(, in registers $wide:ident)?;)+) => {
        #[torch_impl(aten, CPU, Meta)]
        mod kernels {
            use super::*;

        $(
            fn $name(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
                let call = Pointwise::promoting_to_float(output, [this])?;
                match_opmath!(call.dtype, T: Float => {
                    let fast = function!(|[x]: [T; 1]| -> T { x.$fast() });
                    $( let fast = Registers::<_, $crate::functions::$wide>::new(fast); )?
                    call.compute_elements(None, call.dtype, Usually {
                        is_usual: |[x]: [T; 1]| x.is_moderate(),
                        fast,
                        any: |[x]: [T; 1]| x.$any(),
                    })
                }, else => match_opmath!(call.dtype, T: Complex => {
                    call.compute(None, call.dtype, |[x]: [T; 1]| x.$complex())
                }, else => Err(call.unsupported())))
            }
        )+
        }
    };
}

angles! {
    sin: sine, sin, complex_sine;
    cos: cosine, cos, complex_cosine;
    tan: tangent, tan, complex_tangent, in registers Tangent;
}
