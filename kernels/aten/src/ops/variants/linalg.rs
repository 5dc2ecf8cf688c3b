//! The out variants of linear algebra.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    cholesky_inverse_out: cholesky_inverse Castable AsResultIfEmpty =>
        "cholesky_inverse.out(Tensor self, bool upper=False, *, Tensor(a!) out) -> Tensor(a!)";
    cholesky_solve_out: cholesky_solve Castable RowMajor =>
        "cholesky_solve.out(Tensor self, Tensor input2, bool upper=False, *, Tensor(a!) out) -> Tensor(a!)";
    chain_matmul_out: chain_matmul => "chain_matmul.out(Tensor[] matrices, *, Tensor(a!) out) -> Tensor(a!)";
    nuclear_norm_out: nuclear_norm Castable =>
        "nuclear_norm.out(Tensor self, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    nuclear_norm_dim_out: nuclear_norm_dim Castable =>
        "nuclear_norm.dim_out(Tensor self, int[2] dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    frobenius_norm_out: frobenius_norm_dim Castable =>
        "frobenius_norm.out(Tensor self, int[1] dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_cholesky_ex_L: linalg_cholesky_ex AsResult =>
        "linalg_cholesky_ex.L(Tensor self, *, bool upper=False, bool check_errors=False, Tensor(a!) L, Tensor(b!) info) -> (Tensor(a!) L, Tensor(b!) info)";
    linalg_cholesky_out: linalg_cholesky AsResult =>
        "linalg_cholesky.out(Tensor self, *, bool upper=False, Tensor(a!) out) -> Tensor(a!)";
    linalg_cond_out: linalg_cond Castable =>
        "linalg_cond.out(Tensor self, Scalar? p=None, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_cond_p_str_out: linalg_cond_p_str Castable =>
        "linalg_cond.p_str_out(Tensor self, str p, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_det_out: linalg_det => "linalg_det.out(Tensor A, *, Tensor(a!) out) -> Tensor(a!)";
    _linalg_det_result: _linalg_det =>
        "_linalg_det.result(Tensor A, *, Tensor(a!) result, Tensor(b!) LU, Tensor(c!) pivots) -> (Tensor(a!) result, Tensor(b!) LU, Tensor(c!) pivots)";
    linalg_eig_out: linalg_eig AsResultIfEmpty =>
        "linalg_eig.out(Tensor self, *, Tensor(a!) eigenvalues, Tensor(b!) eigenvectors) -> (Tensor(a!) eigenvalues, Tensor(b!) eigenvectors)";
    _linalg_eigh_eigenvalues: _linalg_eigh =>
        "_linalg_eigh.eigenvalues(Tensor A, str UPLO=\"L\", bool compute_v=True, *, Tensor(a!) eigenvalues, Tensor(b!) eigenvectors) -> (Tensor(a!) eigenvalues, Tensor(b!) eigenvectors)";
    linalg_eigh_eigvals: linalg_eigh AsResult =>
        "linalg_eigh.eigvals(Tensor self, str UPLO=\"L\", *, Tensor(a!) eigvals, Tensor(b!) eigvecs) -> (Tensor(a!) eigenvalues, Tensor(b!) eigenvectors)";
    linalg_eigvals_out: linalg_eigvals Castable AsResultIfEmpty =>
        "linalg_eigvals.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_eigvalsh_out: linalg_eigvalsh =>
        "linalg_eigvalsh.out(Tensor self, str UPLO=\"L\", *, Tensor(a!) out) -> Tensor(a!)";
    linalg_inv_ex_inverse: linalg_inv_ex AsResult =>
        "linalg_inv_ex.inverse(Tensor A, *, bool check_errors=False, Tensor(a!) inverse, Tensor(b!) info) -> (Tensor(a!) inverse, Tensor(b!) info)";
    linalg_inv_out: linalg_inv AsResult => "linalg_inv.out(Tensor A, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_lstsq_out: linalg_lstsq Castable AsResultIfEmpty =>
        "linalg_lstsq.out(Tensor self, Tensor b, float? rcond=None, *, str? driver=None, Tensor(a!) solution, Tensor(b!) residuals, Tensor(c!) rank, Tensor(d!) singular_values) -> (Tensor(a!) solution, Tensor(b!) residuals, Tensor(c!) rank, Tensor(d!) singular_values)";
    linalg_lu_factor_ex_out: linalg_lu_factor_ex AsResult =>
        "linalg_lu_factor_ex.out(Tensor A, *, bool pivot=True, bool check_errors=False, Tensor(a!) LU, Tensor(b!) pivots, Tensor(c!) info) -> (Tensor(a!) LU, Tensor(b!) pivots, Tensor(c!) info)";
    linalg_lu_factor_out: linalg_lu_factor AsResult =>
        "linalg_lu_factor.out(Tensor A, *, bool pivot=True, Tensor(a!) LU, Tensor(b!) pivots) -> (Tensor(a!) LU, Tensor(b!) pivots)";
    linalg_lu_out: linalg_lu =>
        "linalg_lu.out(Tensor A, *, bool pivot=True, Tensor(a!) P, Tensor(b!) L, Tensor(c!) U) -> (Tensor(a!) P, Tensor(b!) L, Tensor(c!) U)";
    linalg_lu_solve_out: linalg_lu_solve AsResult =>
        "linalg_lu_solve.out(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False, Tensor(a!) out) -> Tensor(a!)";
    linalg_matrix_exp_out: linalg_matrix_exp => "linalg_matrix_exp.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_matrix_norm_out: linalg_matrix_norm =>
        "linalg_matrix_norm.out(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
    linalg_matrix_norm_str_ord_out: linalg_matrix_norm_str_ord =>
        "linalg_matrix_norm.str_ord_out(Tensor self, str ord=\"fro\", int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
    linalg_matrix_power_out: linalg_matrix_power Castable RowMajor ExactPower =>
        "linalg_matrix_power.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_matrix_rank_atol_rtol_float_out: linalg_matrix_rank_atol_rtol_float Castable =>
        "linalg_matrix_rank.atol_rtol_float_out(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False, Tensor(a!) out) -> Tensor(a!)";
    linalg_matrix_rank_atol_rtol_tensor_out: linalg_matrix_rank_atol_rtol_tensor Castable =>
        "linalg_matrix_rank.atol_rtol_tensor_out(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, Tensor(a!) out) -> Tensor(a!)";
    linalg_matrix_rank_out: linalg_matrix_rank Castable =>
        "linalg_matrix_rank.out(Tensor self, float tol, bool hermitian=False, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_matrix_rank_out_tol_tensor: linalg_matrix_rank_tol_tensor Castable =>
        "linalg_matrix_rank.out_tol_tensor(Tensor input, Tensor tol, bool hermitian=False, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_multi_dot_out: linalg_multi_dot => "linalg_multi_dot.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_norm_ord_str_out: linalg_norm_ord_str =>
        "linalg_norm.ord_str_out(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
    linalg_norm_out: linalg_norm =>
        "linalg_norm.out(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
    linalg_pinv_atol_rtol_float_out: linalg_pinv_atol_rtol_float Castable =>
        "linalg_pinv.atol_rtol_float_out(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False, Tensor(a!) out) -> Tensor(a!)";
    linalg_pinv_atol_rtol_tensor_out: linalg_pinv_atol_rtol_tensor Castable =>
        "linalg_pinv.atol_rtol_tensor_out(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False, Tensor(a!) out) -> Tensor(a!)";
    linalg_pinv_out: linalg_pinv Castable =>
        "linalg_pinv.out(Tensor self, float rcond, bool hermitian=False, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_pinv_out_rcond_tensor: linalg_pinv_rcond_tensor Castable =>
        "linalg_pinv.out_rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False, *, Tensor(a!) out) -> Tensor(a!)";
    linalg_qr_out: linalg_qr AsResult =>
        "linalg_qr.out(Tensor A, str mode=\"reduced\", *, Tensor(a!) Q, Tensor(b!) R) -> (Tensor(a!) Q, Tensor(b!) R)";
    linalg_slogdet_out: linalg_slogdet =>
        "linalg_slogdet.out(Tensor A, *, Tensor(a!) sign, Tensor(b!) logabsdet) -> (Tensor(a!) sign, Tensor(b!) logabsdet)";
    _linalg_slogdet_sign: _linalg_slogdet =>
        "_linalg_slogdet.sign(Tensor A, *, Tensor(a!) sign, Tensor(b!) logabsdet, Tensor(c!) LU, Tensor(d!) pivots) -> (Tensor(a!) sign, Tensor(b!) logabsdet, Tensor(c!) LU, Tensor(d!) pivots)";
    _linalg_solve_ex_result: _linalg_solve_ex =>
        "_linalg_solve_ex.result(Tensor A, Tensor B, *, bool left=True, bool check_errors=False, Tensor(a!) result, Tensor(b!) LU, Tensor(c!) pivots, Tensor(d!) info) -> (Tensor(a!) result, Tensor(b!) LU, Tensor(c!) pivots, Tensor(d!) info)";
    linalg_solve_out: linalg_solve AsResult =>
        "linalg_solve.out(Tensor A, Tensor B, *, bool left=True, Tensor(a!) out) -> Tensor(a!)";
    linalg_solve_triangular_out: linalg_solve_triangular AsResult =>
        "linalg_solve_triangular.out(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False, Tensor(a!) out) -> Tensor(a!)";
    linalg_svd_U: linalg_svd AsResult =>
        "linalg_svd.U(Tensor A, bool full_matrices=True, *, str? driver=None, Tensor(a!) U, Tensor(b!) S, Tensor(c!) Vh) -> (Tensor(a!) U, Tensor(b!) S, Tensor(c!) Vh)";
    _linalg_svd_U: _linalg_svd =>
        "_linalg_svd.U(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None, Tensor(a!) U, Tensor(b!) S, Tensor(c!) Vh) -> (Tensor(a!) U, Tensor(b!) S, Tensor(c!) Vh)";
    linalg_svdvals_out: linalg_svdvals =>
        "linalg_svdvals.out(Tensor A, *, str? driver=None, Tensor(a!) out) -> Tensor(a!)";
    linalg_vecdot_out: linalg_vecdot =>
        "linalg_vecdot.out(Tensor x, Tensor y, *, int dim=-1, Tensor(a!) out) -> Tensor(a!)";
    lu_solve_out: lu_solve AsResult =>
        "lu_solve.out(Tensor self, Tensor LU_data, Tensor LU_pivots, *, Tensor(a!) out) -> Tensor(a!)";
    lu_unpack_out: lu_unpack =>
        "lu_unpack.out(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True, *, Tensor(a!) P, Tensor(b!) L, Tensor(c!) U) -> (Tensor(a!) P, Tensor(b!) L, Tensor(c!) U)";
    slogdet_out: slogdet =>
        "slogdet.out(Tensor self, *, Tensor(a!) sign, Tensor(b!) logabsdet) -> (Tensor(a!) sign, Tensor(b!) logabsdet)";
    triangular_solve_X: triangular_solve AsResult AsResultIfEmpty =>
        "triangular_solve.X(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False, *, Tensor(a!) X, Tensor(b!) M) -> (Tensor(a!) solution, Tensor(b!) cloned_coefficient)";
    _cholesky_solve_helper_out: _cholesky_solve_helper =>
        "_cholesky_solve_helper.out(Tensor self, Tensor A, bool upper, *, Tensor(a!) out) -> Tensor(a!)";
}
