//! The out variants of sums and means.
#![expect(unreachable_pub, reason = "what extends this namespace exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    super::recurrent::aten;
    mean_dtype_out: mean InTypeOfOut Castable =>
        "mean.dtype_out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
    sum_out: sum => "sum.out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
}
