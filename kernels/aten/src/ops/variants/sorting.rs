//! The out variants of sorting, and of elements by their rank.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    argsort_stable_out: argsort_stable =>
        "argsort.stable_out(Tensor self, *, bool stable, int dim=-1, bool descending=False, Tensor(a!) out) -> Tensor(a!)";
    kthvalue_values: kthvalue =>
        "kthvalue.values(Tensor self, SymInt k, int dim=-1, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)";
    median_dim_values: median_dim =>
        "median.dim_values(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)";
    median_out: median => "median.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    mode_values: mode =>
        "mode.values(Tensor self, int dim=-1, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)";
    msort_out: msort => "msort.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    nanmedian_dim_values: nanmedian_dim =>
        "nanmedian.dim_values(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)";
    nanmedian_out: nanmedian => "nanmedian.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    nanquantile_out: nanquantile =>
        "nanquantile.out(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\", Tensor(a!) out) -> Tensor(a!)";
    nanquantile_scalar_out: nanquantile_scalar =>
        "nanquantile.scalar_out(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\", Tensor(a!) out) -> Tensor(a!)";
    quantile_out: quantile =>
        "quantile.out(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\", Tensor(a!) out) -> Tensor(a!)";
    quantile_scalar_out: quantile_scalar =>
        "quantile.scalar_out(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\", Tensor(a!) out) -> Tensor(a!)";
    sort_values: sort Whole =>
        "sort.values(Tensor self, int dim=-1, bool descending=False, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)";
    sort_values_stable: sort_stable Whole =>
        "sort.values_stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)";
    topk_values: topk =>
        "topk.values(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)";
}
