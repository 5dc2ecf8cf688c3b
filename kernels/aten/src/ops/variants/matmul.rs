//! The out variants of matrix products.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    addbmm_out: addbmm =>
        "addbmm.out(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
    addmm_dtype_out: addmm_dtype =>
        "addmm.dtype_out(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
    baddbmm_dtype_out: baddbmm_dtype =>
        "baddbmm.dtype_out(Tensor self, Tensor batch1, Tensor batch2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
    bmm_dtype_out: bmm_dtype =>
        "bmm.dtype_out(Tensor self, Tensor mat2, ScalarType out_dtype, *, Tensor(a!) out) -> Tensor(a!)";
    mm_dtype_out: mm_dtype =>
        "mm.dtype_out(Tensor self, Tensor mat2, ScalarType out_dtype, *, Tensor(a!) out) -> Tensor(a!)";
    addmm_out: addmm =>
        "addmm.out(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
    baddbmm_out: baddbmm =>
        "baddbmm.out(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
    dot_out: dot => "dot.out(Tensor self, Tensor tensor, *, Tensor(a!) out) -> Tensor(a!)";
    _scaled_mm_out: _scaled_mm =>
        "_scaled_mm.out(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, Tensor? scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False, *, Tensor(a!) out) -> Tensor(a!)";
    _scaled_mm_v2_out: _scaled_mm_v2 =>
        "_scaled_mm_v2.out(Tensor self, Tensor mat2, Tensor[] scale_a, int[] recipe_a, int[] swizzle_a, Tensor[] scale_b, int[] recipe_b, int[] swizzle_b, Tensor? bias, ScalarType? out_dtype, int[] contraction_dim=[], bool use_fast_accum=False, *, Tensor(a!) out) -> Tensor(a!)";
    _int_mm_out: _int_mm => "_int_mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)";
    matmul_out: matmul => "matmul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    mv_out: mv => "mv.out(Tensor self, Tensor vec, *, Tensor(a!) out) -> Tensor(a!)";
    trace_out: trace => "trace.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    _addmm_activation_out: _addmm_activation =>
        "_addmm_activation.out(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, bool use_gelu=False, Tensor(a!) out) -> Tensor(a!)";
    linear_out: linear => "linear.out(Tensor input, Tensor weight, Tensor? bias=None, *, Tensor(a!) out) -> Tensor(a!)";
    outer_out: outer Castable => "outer.out(Tensor self, Tensor vec2, *, Tensor(a!) out) -> Tensor(a!)";
}
