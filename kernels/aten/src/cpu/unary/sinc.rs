//! `sinc`, with a fast form for arguments that are not huge.

use std::f64;
use std::hint::select_unpredictable;

use num_complex::Complex;
use torch_library::prelude::*;

use crate::aten;
use crate::functions::{Circular, ComplexFunctions};
use crate::loops::Pointwise;
use crate::loops::{Usually, function, match_opmath};
use crate::number::{Divided, Number};

#[torch_impl(aten, CPU, Meta)]
fn sinc(output: Output<'_>, this: &Tensor) -> Result<Tensor> {
    let call = Pointwise::promoting_to_float(output, [this])?;
    match_opmath!(call.dtype, T: Float => {
        const PI: T = f64::consts::PI as T;
        call.compute_elements(None, call.dtype, Usually {
            is_usual: |[x]: [T; 1]| (x * PI).is_moderate(),
            // A branch, as which `if` would be compiled, would keep the loop from using vectors.
            fast: function!(|[x]: [T; 1]| -> T {
                select_unpredictable(x == T::ZERO, T::ONE, (x * PI).sine() / (x * PI))
            }),
            any: |[x]: [T; 1]| x.normalized_sinc(),
        })
    }, else => match_opmath!(call.dtype, T: Complex => {
        call.compute(None, call.dtype, |[x]: [T; 1]| x.normalized_sinc())
    }, else => Err(call.unsupported())))
}

/// A real or complex number with a `sinc` function.
trait Sinc: Sized {
    /// `sin(πx) / πx`, and 1 at zero.
    fn normalized_sinc(self) -> Self;
}

macro_rules! sinc {
    ($($ty:ident),+) => { $(
        impl Sinc for $ty {
            fn normalized_sinc(self) -> $ty {
                let x = self * std::$ty::consts::PI;
                if self == 0.0 { 1.0 } else { x.sin() / x }
            }
        }

        impl Sinc for Complex<$ty> {
            fn normalized_sinc(self) -> Self {
                let x = self * std::$ty::consts::PI;
                if self == Complex::ZERO { Complex::ONE } else { x.complex_sine().over(x) }
            }
        }
    )+ };
}

sinc!(f32, f64);
