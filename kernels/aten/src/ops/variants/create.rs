//! The out variants of new tensors.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    arange_out: arange OfAnySizes => "arange.out(Scalar end, *, Tensor(a!) out) -> Tensor(a!)";
    range_out: range_step OfAnySizes =>
        "range.out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> Tensor(a!)";
    range_out_: range OfAnySizes => "range.out_(Scalar start, Scalar end, *, Tensor(a!) out) -> Tensor(a!)";
    arange_start_out: arange_start_step OfAnySizes =>
        "arange.start_out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> Tensor(a!)";
    empty_out: empty_memory_format =>
        "empty.out(SymInt[] size, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    empty_like_out: empty_like =>
        "empty_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    empty_strided_out: empty_strided =>
        "empty_strided.out(SymInt[] size, SymInt[] stride, *, Tensor(a!) out) -> Tensor(a!)";
    eye_m_out: eye_m => "eye.m_out(SymInt n, SymInt m, *, Tensor(a!) out) -> Tensor(a!)";
    eye_out: eye => "eye.out(SymInt n, *, Tensor(a!) out) -> Tensor(a!)";
    fill_Scalar_out: fill_Scalar => "fill.Scalar_out(Tensor self, Scalar value, *, Tensor(a!) out) -> Tensor(a!)";
    fill_Tensor_out: fill_Tensor => "fill.Tensor_out(Tensor self, Tensor value, *, Tensor(a!) out) -> Tensor(a!)";
    full_out: full => "full.out(SymInt[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!)";
    full_like_out: full_like =>
        "full_like.out(Tensor self, Scalar fill_value, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    linspace_Scalar_Tensor_out: linspace_Scalar_Tensor OfAnySizes =>
        "linspace.Scalar_Tensor_out(Scalar start, Tensor end, int steps, *, Tensor(a!) out) -> Tensor(a!)";
    linspace_Tensor_Scalar_out: linspace_Tensor_Scalar OfAnySizes =>
        "linspace.Tensor_Scalar_out(Tensor start, Scalar end, int steps, *, Tensor(a!) out) -> Tensor(a!)";
    linspace_Tensor_Tensor_out: linspace_Tensor_Tensor OfAnySizes =>
        "linspace.Tensor_Tensor_out(Tensor start, Tensor end, int steps, *, Tensor(a!) out) -> Tensor(a!)";
    linspace_out: linspace OfAnySizes =>
        "linspace.out(Scalar start, Scalar end, int steps, *, Tensor(a!) out) -> Tensor(a!)";
    logspace_Scalar_Tensor_out: logspace_Scalar_Tensor OfAnySizes =>
        "logspace.Scalar_Tensor_out(Scalar start, Tensor end, int steps, float base=10., *, Tensor(a!) out) -> Tensor(a!)";
    logspace_Tensor_Scalar_out: logspace_Tensor_Scalar OfAnySizes =>
        "logspace.Tensor_Scalar_out(Tensor start, Scalar end, int steps, float base=10., *, Tensor(a!) out) -> Tensor(a!)";
    logspace_Tensor_Tensor_out: logspace_Tensor_Tensor OfAnySizes =>
        "logspace.Tensor_Tensor_out(Tensor start, Tensor end, int steps, float base=10., *, Tensor(a!) out) -> Tensor(a!)";
    logspace_out: logspace OfAnySizes =>
        "logspace.out(Scalar start, Scalar end, int steps, float base=10., *, Tensor(a!) out) -> Tensor(a!)";
    new_empty_out: new_empty => "new_empty.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    new_empty_strided_out: new_empty_strided =>
        "new_empty_strided.out(Tensor self, SymInt[] size, SymInt[] stride, *, Tensor(a!) out) -> Tensor(a!)";
    new_full_out: new_full =>
        "new_full.out(Tensor self, SymInt[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!)";
    new_ones_out: new_ones => "new_ones.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    new_zeros_out: new_zeros => "new_zeros.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    ones_out: ones => "ones.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    ones_like_out: ones_like =>
        "ones_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    scalar_tensor_out: scalar_tensor => "scalar_tensor.out(Scalar s, *, Tensor(a!) out) -> Tensor(a!)";
    tril_out: tril => "tril.out(Tensor self, SymInt diagonal=0, *, Tensor(a!) out) -> Tensor(a!)";
    tril_indices_out: tril_indices =>
        "tril_indices.out(int row, int col, int offset=0, *, Tensor(a!) out) -> Tensor(a!)";
    triu_out: triu => "triu.out(Tensor self, SymInt diagonal=0, *, Tensor(a!) out) -> Tensor(a!)";
    triu_indices_out: triu_indices =>
        "triu_indices.out(int row, int col, int offset=0, *, Tensor(a!) out) -> Tensor(a!)";
    zero_out: zero => "zero.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    zeros_out: zeros => "zeros.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    zeros_like_out: zeros_like =>
        "zeros_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    complex_out: complex AsResult => "complex.out(Tensor real, Tensor imag, *, Tensor(a!) out) -> Tensor(a!)";
    polar_out: polar Exact => "polar.out(Tensor abs, Tensor angle, *, Tensor(a!) out) -> Tensor(a!)";
}
