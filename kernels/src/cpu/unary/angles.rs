//! Functions of angles, which have a fast form for those that are not huge.
#![expect(unsafe_code, reason = "promises to write every element of a result")]

use torch_library::prelude::*;

use super::kernels_of;
use crate::aten;
use crate::cpu::functions::Circular;
use crate::cpu::loops::{self, Usually, match_computing};
use crate::pointwise::Pointwise;

/// Writes the kernels: the names of the operator, the fast form, the one for all numbers.
macro_rules! angles {
    ($($name:ident $in_place:ident: $fast:ident, $any:ident;)+) => {
        kernels_of! { $($name $in_place)+ }

        $(
            fn $name(operator: &'static str, out: Option<&Tensor>, this: &Tensor) -> Result<Tensor> {
                let call = Pointwise::promoting_to_float(operator, [this])?;
                match_computing!(call.dtype, T: Float => {
                    let f = Usually { is_usual: T::is_moderate, fast: T::$fast, any: T::$any };
                    // SAFETY: `map_usually` writes every element.
                    unsafe { call.filled(out, call.dtype, |out| loops::map_usually(out, this, f)) }
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
