//! The out variants of products of vectors.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    addmv_out: addmv =>
        "addmv.out(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
    addr_out: addr Castable =>
        "addr.out(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
    inner_out: inner CastableNumber => "inner.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    kron_out: kron Castable RowMajor => "kron.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_cross_out: linalg_cross Apart =>
        "linalg_cross.out(Tensor self, Tensor other, *, int dim=-1, Tensor(a!) out) -> Tensor(a!)";
    matrix_power_out: matrix_power => "matrix_power.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!)";
    tensordot_out: tensordot =>
        "tensordot.out(Tensor self, Tensor other, int[] dims_self, int[] dims_other, *, Tensor(a!) out) -> Tensor(a!)";
    vdot_out: vdot => "vdot.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    _compute_linear_combination_out: _compute_linear_combination =>
        "_compute_linear_combination.out(Tensor input, Tensor coefficients, *, Tensor(a!) out) -> Tensor(a!)";
    cross_out: cross => "cross.out(Tensor self, Tensor other, int? dim=None, *, Tensor(a!) out) -> Tensor(a!)";
    _trilinear_out: _trilinear =>
        "_trilinear.out(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int unroll_dim=1, *, Tensor(a!) out) -> Tensor(a!)";
}
