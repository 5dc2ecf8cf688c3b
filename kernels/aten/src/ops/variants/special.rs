//! The out variants of special functions.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    special_ndtr_out: special_ndtr Castable RowMajor =>
        "special_ndtr.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    special_xlog1py_other_scalar_out: special_xlog1py_other_scalar Castable =>
        "special_xlog1py.other_scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    special_xlog1py_self_scalar_out: special_xlog1py_self_scalar Castable =>
        "special_xlog1py.self_scalar_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    special_zeta_other_scalar_out: special_zeta_other_scalar Castable =>
        "special_zeta.other_scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    special_zeta_self_scalar_out: special_zeta_self_scalar Castable =>
        "special_zeta.self_scalar_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    mvlgamma_out: mvlgamma Castable => "mvlgamma.out(Tensor self, int p, *, Tensor(a!) out) -> Tensor(a!)";
}
