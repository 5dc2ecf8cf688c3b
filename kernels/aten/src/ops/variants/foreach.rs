//! The out variants of operators on lists of tensors.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Variant, variants};

variants! {
    _foreach_abs_out: _foreach_abs => "_foreach_abs.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_acos_out: _foreach_acos => "_foreach_acos.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_add_List_out: _foreach_add_List =>
        "_foreach_add.List_out(Tensor[] self, Tensor[] other, *, Scalar alpha=1, Tensor(a!)[] out) -> ()";
    _foreach_add_ScalarList_out: _foreach_add_ScalarList =>
        "_foreach_add.ScalarList_out(Tensor[] self, Scalar[] scalars, *, Tensor(a!)[] out) -> ()";
    _foreach_add_Scalar_out: _foreach_add_Scalar =>
        "_foreach_add.Scalar_out(Tensor[] self, Scalar scalar, *, Tensor(a!)[] out) -> ()";
    _foreach_add_Tensor_out: _foreach_add_Tensor =>
        "_foreach_add.Tensor_out(Tensor[] self, Tensor other, *, Scalar alpha=1, Tensor(a!)[] out) -> ()";
    _foreach_addcdiv_ScalarList_out: _foreach_addcdiv_ScalarList =>
        "_foreach_addcdiv.ScalarList_out(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars, *, Tensor(a!)[] out) -> ()";
    _foreach_addcdiv_Scalar_out: _foreach_addcdiv_Scalar =>
        "_foreach_addcdiv.Scalar_out(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1, *, Tensor(a!)[] out) -> ()";
    _foreach_addcmul_ScalarList_out: _foreach_addcmul_ScalarList =>
        "_foreach_addcmul.ScalarList_out(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars, *, Tensor(a!)[] out) -> ()";
    _foreach_addcmul_Scalar_out: _foreach_addcmul_Scalar =>
        "_foreach_addcmul.Scalar_out(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1, *, Tensor(a!)[] out) -> ()";
    _foreach_asin_out: _foreach_asin => "_foreach_asin.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_atan_out: _foreach_atan => "_foreach_atan.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_ceil_out: _foreach_ceil => "_foreach_ceil.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_clamp_max_List_out: _foreach_clamp_max_List =>
        "_foreach_clamp_max.List_out(Tensor[] self, Tensor[] other, *, Tensor(a!)[] out) -> ()";
    _foreach_clamp_max_ScalarList_out: _foreach_clamp_max_ScalarList =>
        "_foreach_clamp_max.ScalarList_out(Tensor[] self, Scalar[] scalars, *, Tensor(a!)[] out) -> ()";
    _foreach_clamp_max_Scalar_out: _foreach_clamp_max_Scalar =>
        "_foreach_clamp_max.Scalar_out(Tensor[] self, Scalar scalar, *, Tensor(a!)[] out) -> ()";
    _foreach_clamp_min_List_out: _foreach_clamp_min_List =>
        "_foreach_clamp_min.List_out(Tensor[] self, Tensor[] other, *, Tensor(a!)[] out) -> ()";
    _foreach_clamp_min_ScalarList_out: _foreach_clamp_min_ScalarList =>
        "_foreach_clamp_min.ScalarList_out(Tensor[] self, Scalar[] scalars, *, Tensor(a!)[] out) -> ()";
    _foreach_clamp_min_Scalar_out: _foreach_clamp_min_Scalar =>
        "_foreach_clamp_min.Scalar_out(Tensor[] self, Scalar scalar, *, Tensor(a!)[] out) -> ()";
    _foreach_clone_out: _foreach_clone =>
        "_foreach_clone.out(Tensor[] self, *, MemoryFormat? memory_format=None, Tensor(a!)[] out) -> ()";
    _foreach_copy_out: _foreach_copy =>
        "_foreach_copy.out(Tensor[] self, Tensor[] src, bool non_blocking=False, *, Tensor(a!)[] out) -> ()";
    _foreach_cos_out: _foreach_cos => "_foreach_cos.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_cosh_out: _foreach_cosh => "_foreach_cosh.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_div_List_out: _foreach_div_List =>
        "_foreach_div.List_out(Tensor[] self, Tensor[] other, *, Tensor(a!)[] out) -> ()";
    _foreach_div_ScalarList_out: _foreach_div_ScalarList =>
        "_foreach_div.ScalarList_out(Tensor[] self, Scalar[] scalars, *, Tensor(a!)[] out) -> ()";
    _foreach_div_Scalar_out: _foreach_div_Scalar =>
        "_foreach_div.Scalar_out(Tensor[] self, Scalar scalar, *, Tensor(a!)[] out) -> ()";
    _foreach_div_Tensor_out: _foreach_div_Tensor =>
        "_foreach_div.Tensor_out(Tensor[] self, Tensor other, *, Tensor(a!)[] out) -> ()";
    _foreach_erf_out: _foreach_erf => "_foreach_erf.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_erfc_out: _foreach_erfc => "_foreach_erfc.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_exp_out: _foreach_exp => "_foreach_exp.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_expm1_out: _foreach_expm1 => "_foreach_expm1.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_floor_out: _foreach_floor => "_foreach_floor.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_frac_out: _foreach_frac => "_foreach_frac.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_lerp_List_out: _foreach_lerp_List =>
        "_foreach_lerp.List_out(Tensor[] self, Tensor[] tensors1, Tensor[] weights, *, Tensor(a!)[] out) -> ()";
    _foreach_lerp_ScalarList_out: _foreach_lerp_ScalarList =>
        "_foreach_lerp.ScalarList_out(Tensor[] self, Tensor[] tensors1, Scalar[] weight, *, Tensor(a!)[] out) -> ()";
    _foreach_lerp_Scalar_out: _foreach_lerp_Scalar =>
        "_foreach_lerp.Scalar_out(Tensor[] self, Tensor[] tensors1, Scalar weight, *, Tensor(a!)[] out) -> ()";
    _foreach_lgamma_out: _foreach_lgamma => "_foreach_lgamma.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_log_out: _foreach_log => "_foreach_log.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_log10_out: _foreach_log10 => "_foreach_log10.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_log1p_out: _foreach_log1p => "_foreach_log1p.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_log2_out: _foreach_log2 => "_foreach_log2.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_max_out: _foreach_max => "_foreach_max.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_maximum_List_out: _foreach_maximum_List =>
        "_foreach_maximum.List_out(Tensor[] self, Tensor[] other, *, Tensor(a!)[] out) -> ()";
    _foreach_maximum_ScalarList_out: _foreach_maximum_ScalarList =>
        "_foreach_maximum.ScalarList_out(Tensor[] self, Scalar[] scalars, *, Tensor(a!)[] out) -> ()";
    _foreach_maximum_Scalar_out: _foreach_maximum_Scalar =>
        "_foreach_maximum.Scalar_out(Tensor[] self, Scalar scalar, *, Tensor(a!)[] out) -> ()";
    _foreach_minimum_List_out: _foreach_minimum_List =>
        "_foreach_minimum.List_out(Tensor[] self, Tensor[] other, *, Tensor(a!)[] out) -> ()";
    _foreach_minimum_ScalarList_out: _foreach_minimum_ScalarList =>
        "_foreach_minimum.ScalarList_out(Tensor[] self, Scalar[] scalars, *, Tensor(a!)[] out) -> ()";
    _foreach_minimum_Scalar_out: _foreach_minimum_Scalar =>
        "_foreach_minimum.Scalar_out(Tensor[] self, Scalar scalar, *, Tensor(a!)[] out) -> ()";
    _foreach_mul_List_out: _foreach_mul_List =>
        "_foreach_mul.List_out(Tensor[] self, Tensor[] other, *, Tensor(a!)[] out) -> ()";
    _foreach_mul_ScalarList_out: _foreach_mul_ScalarList =>
        "_foreach_mul.ScalarList_out(Tensor[] self, Scalar[] scalars, *, Tensor(a!)[] out) -> ()";
    _foreach_mul_Scalar_out: _foreach_mul_Scalar =>
        "_foreach_mul.Scalar_out(Tensor[] self, Scalar scalar, *, Tensor(a!)[] out) -> ()";
    _foreach_mul_Tensor_out: _foreach_mul_Tensor =>
        "_foreach_mul.Tensor_out(Tensor[] self, Tensor other, *, Tensor(a!)[] out) -> ()";
    _foreach_neg_out: _foreach_neg => "_foreach_neg.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_pow_List_out: _foreach_pow_List =>
        "_foreach_pow.List_out(Tensor[] self, Tensor[] exponent, *, Tensor(a!)[] out) -> ()";
    _foreach_pow_ScalarList_out: _foreach_pow_ScalarList =>
        "_foreach_pow.ScalarList_out(Tensor[] self, Scalar[] exponent, *, Tensor(a!)[] out) -> ()";
    _foreach_pow_Scalar_out: _foreach_pow_Scalar =>
        "_foreach_pow.Scalar_out(Tensor[] self, Scalar exponent, *, Tensor(a!)[] out) -> ()";
    _foreach_reciprocal_out: _foreach_reciprocal => "_foreach_reciprocal.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_round_out: _foreach_round => "_foreach_round.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_rsqrt_out: _foreach_rsqrt => "_foreach_rsqrt.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_sigmoid_out: _foreach_sigmoid => "_foreach_sigmoid.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_sign_out: _foreach_sign => "_foreach_sign.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_sin_out: _foreach_sin => "_foreach_sin.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_sinh_out: _foreach_sinh => "_foreach_sinh.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_sub_List_out: _foreach_sub_List =>
        "_foreach_sub.List_out(Tensor[] self, Tensor[] other, *, Scalar alpha=1, Tensor(a!)[] out) -> ()";
    _foreach_sub_ScalarList_out: _foreach_sub_ScalarList =>
        "_foreach_sub.ScalarList_out(Tensor[] self, Scalar[] scalars, *, Tensor(a!)[] out) -> ()";
    _foreach_sub_Scalar_out: _foreach_sub_Scalar =>
        "_foreach_sub.Scalar_out(Tensor[] self, Scalar scalar, *, Tensor(a!)[] out) -> ()";
    _foreach_tan_out: _foreach_tan => "_foreach_tan.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_tanh_out: _foreach_tanh => "_foreach_tanh.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_trunc_out: _foreach_trunc => "_foreach_trunc.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_zero_out: _foreach_zero => "_foreach_zero.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
}
