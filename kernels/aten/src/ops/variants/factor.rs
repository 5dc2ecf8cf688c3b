//! The out variants of factorisations of matrices, and of what they solve.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    geqrf_a: geqrf Castable AsResultIfEmpty =>
        "geqrf.a(Tensor self, *, Tensor(a!) a, Tensor(b!) tau) -> (Tensor(a!) a, Tensor(b!) tau)";
    linalg_householder_product_out: linalg_householder_product Castable AsResultIfEmpty =>
        "linalg_householder_product.out(Tensor input, Tensor tau, *, Tensor(a!) out) -> Tensor(a!)";
    orgqr_out: orgqr Castable AsResultIfEmpty =>
        "orgqr.out(Tensor self, Tensor input2, *, Tensor(a!) out) -> Tensor(a!)";
    ormqr_out: ormqr Exact AsResultIfEmpty =>
        "ormqr.out(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_ldl_factor_out: linalg_ldl_factor Exact AsResult =>
        "linalg_ldl_factor.out(Tensor self, *, bool hermitian=False, Tensor(a!) LD, Tensor(b!) pivots) -> (Tensor(a!) LD, Tensor(b!) pivots)";
    linalg_ldl_factor_ex_out: linalg_ldl_factor_ex Exact AsResult =>
        "linalg_ldl_factor_ex.out(Tensor self, *, bool hermitian=False, bool check_errors=False, Tensor(a!) LD, Tensor(b!) pivots, Tensor(c!) info) -> (Tensor(a!) LD, Tensor(b!) pivots, Tensor(c!) info)";
    linalg_ldl_solve_out: linalg_ldl_solve Exact AsResult =>
        "linalg_ldl_solve.out(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False, Tensor(a!) out) -> Tensor(a!)";
    linalg_matrix_sqrth_out: linalg_matrix_sqrth =>
        "linalg_matrix_sqrth.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_polar_out: linalg_polar =>
        "linalg_polar.out(Tensor A, *, Tensor(a!) U, Tensor(b!) H) -> (Tensor(a!) U, Tensor(b!) H)";
    linalg_solve_ex_out: linalg_solve_ex Exact AsResult =>
        "linalg_solve_ex.out(Tensor A, Tensor B, *, bool left=True, bool check_errors=False, Tensor(a!) result, Tensor(b!) info) -> (Tensor(a!) result, Tensor(b!) info)";
    linalg_tensorinv_out: linalg_tensorinv Castable RowMajor =>
        "linalg_tensorinv.out(Tensor self, int ind=2, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_tensorsolve_out: linalg_tensorsolve Castable RowMajor =>
        "linalg_tensorsolve.out(Tensor self, Tensor other, int[]? dims=None, *, Tensor(a!) out) -> Tensor(a!)";
    svd_U: svd AsResult =>
        "svd.U(Tensor self, bool some=True, bool compute_uv=True, *, Tensor(a!) U, Tensor(b!) S, Tensor(c!) V) -> (Tensor(a!) U, Tensor(b!) S, Tensor(c!) V)";
}
