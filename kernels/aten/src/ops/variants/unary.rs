//! The out variants of functions of one operand.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    frexp_Tensor_out: frexp_Tensor Whole =>
        "frexp.Tensor_out(Tensor self, *, Tensor(a!) mantissa, Tensor(b!) exponent) -> (Tensor(a!) mantissa, Tensor(b!) exponent)";
    isinf_out: isinf Exact => "isinf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    logit_out: logit Castable => "logit.out(Tensor self, float? eps=None, *, Tensor(a!) out) -> Tensor(a!)";
}
