//! The out variants of functions of mathematics.
#![expect(unreachable_pub, reason = "what extends this namespace exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    super::loss::aten;
    floor_divide_Scalar_out: floor_divide_Scalar =>
        "floor_divide.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    floor_divide_out: floor_divide Castable =>
        "floor_divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    fmod_Scalar_out: fmod_Scalar Castable =>
        "fmod.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    isinf_out: isinf Exact => "isinf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    ldexp_out: ldexp_Tensor Castable => "ldexp.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    pow_Scalar_out: pow_Scalar Castable =>
        "pow.Scalar_out(Scalar self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)";
    remainder_Scalar_Tensor_out: remainder_Scalar_Tensor =>
        "remainder.Scalar_Tensor_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    remainder_Scalar_out: remainder_Scalar Castable =>
        "remainder.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    complex_out: complex Exact => "complex.out(Tensor real, Tensor imag, *, Tensor(a!) out) -> Tensor(a!)";
    polar_out: polar Exact => "polar.out(Tensor abs, Tensor angle, *, Tensor(a!) out) -> Tensor(a!)";
}
