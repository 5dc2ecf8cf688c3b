//! The out variants of cumulative operators.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    cummax_out: cummax =>
        "cummax.out(Tensor self, int dim, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)";
    cummin_out: cummin =>
        "cummin.out(Tensor self, int dim, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)";
    cumprod_out: cumprod InTypeOfOut Whole =>
        "cumprod.out(Tensor self, int dim, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
    logcumsumexp_out: logcumsumexp => "logcumsumexp.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)";
    _logcumsumexp_out: _logcumsumexp => "_logcumsumexp.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)";
    cumsum_out: cumsum InTypeOfOut Whole =>
        "cumsum.out(Tensor self, int dim, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
}
