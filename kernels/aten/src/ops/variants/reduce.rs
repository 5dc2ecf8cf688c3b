//! The out variants of reductions.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    mean_dtype_out: mean InTypeOfOut Castable =>
        "mean.dtype_out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
    sum_out: sum => "sum.out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
    linalg_vector_norm_out: linalg_vector_norm =>
        "linalg_vector_norm.out(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
    std_mean_correction_out: std_mean_correction =>
        "std_mean.correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))";
    all_all_out: all Truth => "all.all_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    all_out: all_dim Truth => "all.out(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    any_all_out: any Truth => "any.all_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    any_out: any_dim Truth => "any.out(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    count_nonzero_dim_IntList_out: count_nonzero_dim_IntList =>
        "count_nonzero.dim_IntList_out(Tensor self, int[] dim, *, Tensor(a!) out) -> Tensor(a!)";
    count_nonzero_out: count_nonzero =>
        "count_nonzero.out(Tensor self, int? dim=None, *, Tensor(a!) out) -> Tensor(a!)";
    dist_out: dist => "dist.out(Tensor self, Tensor other, Scalar p=2, *, Tensor(a!) out) -> Tensor(a!)";
    logsumexp_out: logsumexp Castable ComputedAsOut =>
        "logsumexp.out(Tensor self, int[1] dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    max_dim_max: max_dim =>
        "max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, Tensor(b!) max_values) -> (Tensor(a!) values, Tensor(b!) indices)";
    max_out: max_other Castable => "max.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    max_unary_out: max Castable => "max.unary_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    min_dim_min: min_dim =>
        "min.dim_min(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) min, Tensor(b!) min_indices) -> (Tensor(a!) values, Tensor(b!) indices)";
    min_out: min_other Castable => "min.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    min_unary_out: min Castable => "min.unary_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    norm_Scalar_out: norm_Scalar => "norm.Scalar_out(Tensor self, Scalar p=2, *, Tensor(a!) out) -> Tensor(a!)";
    norm_out: norm_ScalarOpt_dim =>
        "norm.out(Tensor self, Scalar? p, int[1] dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    norm_dtype_out: norm_ScalarOpt_dim_dtype =>
        "norm.dtype_out(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype, Tensor(a!) out) -> Tensor(a!)";
    norm_ScalarOpt_dtype_out: norm_ScalarOpt_dtype =>
        "norm.ScalarOpt_dtype_out(Tensor self, Scalar? p, *, ScalarType dtype, Tensor(a!) out) -> Tensor(a!)";
    renorm_out: renorm => "renorm.out(Tensor self, Scalar p, int dim, Scalar maxnorm, *, Tensor(a!) out) -> Tensor(a!)";
    std_correction_out: std_correction Castable RealOfReal ComputedAsOut =>
        "std.correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor(a!) out) -> Tensor(a!)";
    std_out: std_dim Castable RealOfReal ComputedAsOut =>
        "std.out(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    var_correction_out: var_correction Castable RealOfReal ComputedAsOut =>
        "var.correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor(a!) out) -> Tensor(a!)";
    var_out: var_dim Castable RealOfReal ComputedAsOut =>
        "var.out(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    var_mean_correction_out: var_mean_correction =>
        "var_mean.correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))";
    hash_tensor_out: hash_tensor =>
        "hash_tensor.out(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0, Tensor(a!) out) -> Tensor(a!)";
    aminmax_out: aminmax =>
        "aminmax.out(Tensor self, *, int? dim=None, bool keepdim=False, Tensor(a!) min, Tensor(b!) max) -> (Tensor(a!) min, Tensor(b!) max)";
    diff_out: diff Castable =>
        "diff.out(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None, *, Tensor(a!) out) -> Tensor(a!)";
    nanmean_out: nanmean Castable =>
        "nanmean.out(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
    nansum_out: nansum InTypeOfOut Castable =>
        "nansum.out(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
    _aminmax_out: _aminmax =>
        "_aminmax.out(Tensor self, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))";
    _aminmax_dim_out: _aminmax_dim =>
        "_aminmax.dim_out(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))";
}
