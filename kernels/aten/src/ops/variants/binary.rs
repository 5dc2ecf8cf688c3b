//! The out variants and in-place variants of operators on two operands.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    add_Scalar_out: add_Scalar =>
        "add.Scalar_out(Tensor self, Scalar other, Scalar alpha=1, *, Tensor(a!) out) -> Tensor(a!)";
    div_Scalar_mode_out: div_Scalar_mode =>
        "div.Scalar_mode_out(Tensor self, Scalar other, *, str? rounding_mode, Tensor(a!) out) -> Tensor(a!)";
    div_Scalar_out: div_Scalar => "div.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    eq_Scalar_out: eq_Scalar Castable => "eq.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    ge_Scalar_out: ge_Scalar Castable => "ge.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    gt_Scalar_out: gt_Scalar Castable => "gt.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    le_Scalar_out: le_Scalar Castable => "le.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    lt_Scalar_out: lt_Scalar Castable => "lt.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    mul_Scalar_out: mul_Scalar => "mul.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    ne_Scalar_out: ne_Scalar Castable => "ne.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    rsub_Scalar_out: rsub_Scalar =>
        "rsub.Scalar_out(Tensor self, Scalar other, Scalar alpha=1, *, Tensor(a!) out) -> Tensor(a!)";
    rsub_Tensor_out: rsub_Tensor =>
        "rsub.Tensor_out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
    sub_Scalar_out: sub_Scalar =>
        "sub.Scalar_out(Tensor self, Scalar other, Scalar alpha=1, *, Tensor(a!) out) -> Tensor(a!)";
    _add_relu__Tensor: _add_relu_Tensor =>
        "_add_relu_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)";
    _add_relu__Scalar: _add_relu_Scalar =>
        "_add_relu_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)";
    _add_relu_out: _add_relu_Tensor Castable =>
        "_add_relu.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
    _add_relu_Scalar_out: _add_relu_Scalar =>
        "_add_relu.Scalar_out(Tensor self, Scalar other, Scalar alpha=1, *, Tensor(a!) out) -> Tensor(a!)";
    floor_divide_Scalar_out: floor_divide_Scalar =>
        "floor_divide.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    floor_divide_out: floor_divide Castable =>
        "floor_divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    fmod_Scalar_out: fmod_Scalar Castable =>
        "fmod.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    ldexp_out: ldexp_Tensor Castable => "ldexp.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    pow_Scalar_out: pow_Scalar Castable =>
        "pow.Scalar_out(Scalar self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)";
    remainder_Scalar_Tensor_out: remainder_Scalar_Tensor =>
        "remainder.Scalar_Tensor_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    remainder_Scalar_out: remainder_Scalar Castable =>
        "remainder.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    copysign_Scalar_out: copysign_Scalar Castable =>
        "copysign.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    xlogy_OutScalar_Other: xlogy_Scalar_Other Castable =>
        "xlogy.OutScalar_Other(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    xlogy_OutScalar_Self: xlogy_Scalar_Self Castable =>
        "xlogy.OutScalar_Self(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    float_power_Scalar_out: float_power_Scalar =>
        "float_power.Scalar_out(Scalar self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)";
    float_power_Tensor_Scalar_out: float_power_Tensor_Scalar =>
        "float_power.Tensor_Scalar_out(Tensor self, Scalar exponent, *, Tensor(a!) out) -> Tensor(a!)";
    float_power_Tensor_Tensor_out: float_power_Tensor_Tensor =>
        "float_power.Tensor_Tensor_out(Tensor self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)";
    isin_Scalar_Tensor_out: isin_Scalar_Tensor =>
        "isin.Scalar_Tensor_out(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor(a!) out) -> Tensor(a!)";
    isin_Tensor_Scalar_out: isin_Tensor_Scalar =>
        "isin.Tensor_Scalar_out(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False, Tensor(a!) out) -> Tensor(a!)";
    isin_Tensor_Tensor_out: isin_Tensor_Tensor =>
        "isin.Tensor_Tensor_out(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor(a!) out) -> Tensor(a!)";
}
