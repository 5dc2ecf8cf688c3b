//! Functions of angles, which have a fast form for those that are not huge.

use torch_library::prelude::*;

use super::kernels_of;
use crate::aten;
use crate::cpu::functions::Circular;
use crate::cpu::loops::{Usually, function, match_computing};
use crate::pointwise::Pointwise;

/// Writes the kernels: the names of the operator, the fast form, the one for all numbers.
macro_rules! angles {
    ($($name:ident $in_place:ident: $fast:ident, $any:ident;)+) => {
        kernels_of! { $($name $in_place)+ }

        $(
            fn $name(operator: &'static str, out: Option<&Tensor>, this: &Tensor) -> Result<Tensor> {
                let call = Pointwise::promoting_to_float(operator, [this])?;
                match_computing!(call.dtype, T: Float => {
                    call.compute_elements(out, call.dtype, Usually {
                        is_usual: |[x]: [T; 1]| x.is_moderate(),
                        fast: function!(|[x]: [T; 1]| -> T { x.$fast() }),
                        any: |[x]: [T; 1]| x.$any(),
                    })
                }, else => match_computing!(call.dtype, T: Complex => {
                    call.compute(out, call.dtype, |[x]: [T; 1]| x.$any())
                }, else => Err(call.unsupported())))
            }
        )+
    };
}

angles! {
    sin sin_: sine, sin;
    cos cos_: cosine, cos;
    tan tan_: tangent, tan;
}
