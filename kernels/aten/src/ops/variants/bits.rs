//! The out variants of logical and bitwise operators.
#![expect(unreachable_pub, reason = "what extends this namespace exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    super::special::aten;
    bitwise_and_Scalar_out: bitwise_and_Scalar Castable =>
        "bitwise_and.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_and_Scalar_Tensor_out: bitwise_and_Scalar_Tensor =>
        "bitwise_and.Scalar_Tensor_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_left_shift_Scalar_Tensor_out: bitwise_left_shift_Scalar_Tensor =>
        "bitwise_left_shift.Scalar_Tensor_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_left_shift_Tensor_Scalar_out: bitwise_left_shift_Tensor_Scalar =>
        "bitwise_left_shift.Tensor_Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_or_Scalar_out: bitwise_or_Scalar Castable =>
        "bitwise_or.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_or_Scalar_Tensor_out: bitwise_or_Scalar_Tensor =>
        "bitwise_or.Scalar_Tensor_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_right_shift_Scalar_Tensor_out: bitwise_right_shift_Scalar_Tensor =>
        "bitwise_right_shift.Scalar_Tensor_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_right_shift_Tensor_Scalar_out: bitwise_right_shift_Tensor_Scalar =>
        "bitwise_right_shift.Tensor_Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_xor_Scalar_out: bitwise_xor_Scalar Castable =>
        "bitwise_xor.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_xor_Scalar_Tensor_out: bitwise_xor_Scalar_Tensor =>
        "bitwise_xor.Scalar_Tensor_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
}
