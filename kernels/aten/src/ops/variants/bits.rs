//! The out variants and in-place variants of logical and bitwise operators.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    bitwise_and_Scalar_out: bitwise_and_Scalar Castable =>
        "bitwise_and.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_and_Scalar_Tensor_out: bitwise_and_Scalar_Tensor =>
        "bitwise_and.Scalar_Tensor_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_left_shift_Scalar_Tensor_out: bitwise_left_shift_Scalar_Tensor =>
        "bitwise_left_shift.Scalar_Tensor_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_left_shift_Tensor_Scalar_out: bitwise_left_shift_Tensor_Scalar Castable =>
        "bitwise_left_shift.Tensor_Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_or_Scalar_out: bitwise_or_Scalar Castable =>
        "bitwise_or.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_or_Scalar_Tensor_out: bitwise_or_Scalar_Tensor =>
        "bitwise_or.Scalar_Tensor_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_right_shift_Scalar_Tensor_out: bitwise_right_shift_Scalar_Tensor =>
        "bitwise_right_shift.Scalar_Tensor_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_right_shift_Tensor_Scalar_out: bitwise_right_shift_Tensor_Scalar Castable =>
        "bitwise_right_shift.Tensor_Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_xor_Scalar_out: bitwise_xor_Scalar Castable =>
        "bitwise_xor.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_xor_Scalar_Tensor_out: bitwise_xor_Scalar_Tensor =>
        "bitwise_xor.Scalar_Tensor_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(pointwise)]
    __iand___Scalar: bitwise_and_Scalar => "__iand__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    #[tags(pointwise)]
    __iand___Tensor: bitwise_and_Tensor => "__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    #[tags(pointwise)]
    __ilshift___Scalar: bitwise_left_shift_Tensor_Scalar =>
        "__ilshift__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    #[tags(pointwise)]
    __ilshift___Tensor: bitwise_left_shift_Tensor => "__ilshift__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    #[tags(pointwise)]
    __ior___Scalar: bitwise_or_Scalar => "__ior__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    #[tags(pointwise)]
    __ior___Tensor: bitwise_or_Tensor => "__ior__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    #[tags(pointwise)]
    __irshift___Scalar: bitwise_right_shift_Tensor_Scalar =>
        "__irshift__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    #[tags(pointwise)]
    __irshift___Tensor: bitwise_right_shift_Tensor => "__irshift__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    #[tags(pointwise)]
    __ixor___Scalar: bitwise_xor_Scalar => "__ixor__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    #[tags(pointwise)]
    __ixor___Tensor: bitwise_xor_Tensor => "__ixor__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    __lshift___Scalar_out: __lshift___Scalar =>
        "__lshift__.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    __lshift___Tensor_out: __lshift___Tensor =>
        "__lshift__.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    __rshift___Scalar_out: __rshift___Scalar =>
        "__rshift__.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    __rshift___Tensor_out: __rshift___Tensor =>
        "__rshift__.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
}
