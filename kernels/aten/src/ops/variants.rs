//! The out variants and in-place variants that are derived from a functional operator.
//!
//! `out` is resized to the result; if it has these sizes already, it keeps its memory and strides. Errors are those of
//! the functional operator, and a result that cannot be written to its target: of a dtype that does not cast to the
//! target's, on another device, or if the target overlaps itself or an input. Autograd rejects `out` variants, as they
//! have no derivative. An in-place operator that is not listed has a kernel of its own.
//!
//! The in-place variants that are methods of tensors are here, the others in a file for each family.
#![expect(unreachable_pub, reason = "`ops::aten` exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

pub(super) mod activation;
pub(super) mod alias;
pub(super) mod arrange;
pub(super) mod binary;
pub(super) mod bits;
pub(super) mod bucketization;
pub(super) mod convolution;
pub(super) mod copy;
pub(super) mod create;
pub(super) mod distance;
pub(super) mod factor;
pub(super) mod fake_quantize;
pub(super) mod foreach;
pub(super) mod fourier;
pub(super) mod grid_sampler;
pub(super) mod histogram;
pub(super) mod im2col;
pub(super) mod index;
pub(super) mod linalg;
pub(super) mod linear;
pub(super) mod loss;
pub(super) mod matmul;
pub(super) mod norm;
pub(super) mod optimizer;
pub(super) mod padding;
pub(super) mod pixel_shuffle;
pub(super) mod polynomial;
pub(super) mod pooling;
pub(super) mod random;
pub(super) mod recurrent;
pub(super) mod reduce;
pub(super) mod scan;
pub(super) mod scatter;
pub(super) mod segment;
pub(super) mod softmax;
pub(super) mod sorting;
pub(super) mod special;
pub(super) mod storage;
pub(super) mod transformer;
pub(super) mod unary;
pub(super) mod unique;
pub(super) mod upsample;
pub(super) mod view;
pub(super) mod view_copy;

variants! {
    [methods = VariantMethods]
    addmm_: addmm =>
        "addmm_(Tensor(a!) self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)";
    addmv_: addmv => "addmv_(Tensor(a!) self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)";
    addr_: addr => "addr_(Tensor(a!) self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)";
    arccos_: arccos => "arccos_(Tensor(a!) self) -> Tensor(a!)";
    arccosh_: arccosh => "arccosh_(Tensor(a!) self) -> Tensor(a!)";
    arcsin_: arcsin => "arcsin_(Tensor(a!) self) -> Tensor(a!)";
    arcsinh_: arcsinh => "arcsinh_(Tensor(a!) self) -> Tensor(a!)";
    arctan_: arctan => "arctan_(Tensor(a!) self) -> Tensor(a!)";
    arctan2_: arctan2 => "arctan2_(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    arctanh_: arctanh => "arctanh_(Tensor(a!) self) -> Tensor(a!)";
    baddbmm_: baddbmm =>
        "baddbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)";
    bitwise_and__Scalar: bitwise_and_Scalar => "bitwise_and_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    bitwise_left_shift__Tensor_Scalar: bitwise_left_shift_Tensor_Scalar =>
        "bitwise_left_shift_.Tensor_Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    bitwise_or__Scalar: bitwise_or_Scalar => "bitwise_or_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    bitwise_right_shift__Tensor_Scalar: bitwise_right_shift_Tensor_Scalar =>
        "bitwise_right_shift_.Tensor_Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    bitwise_xor__Scalar: bitwise_xor_Scalar => "bitwise_xor_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    celu_: celu => "celu_(Tensor(a!) self, Scalar alpha=1.) -> Tensor(a!)";
    clip__Tensor: clip_Tensor => "clip_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)";
    conj_physical_: _conj_physical KeepsReal => "conj_physical_(Tensor(a!) self) -> Tensor(a!)";
    copysign__Scalar: copysign_Scalar => "copysign_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    cumprod_: cumprod InTypeOfOut Exact =>
        "cumprod_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)";
    cumsum_: cumsum InTypeOfOut Exact => "cumsum_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)";
    div__Scalar_mode: div_Scalar_mode =>
        "div_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)";
    divide__Scalar_mode: divide_Scalar_mode =>
        "divide_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)";
    divide__Tensor_mode: divide_Tensor_mode =>
        "divide_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)";
    eq__Scalar: eq_Scalar => "eq_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    floor_divide__Scalar: floor_divide_Scalar => "floor_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    floor_divide__Tensor: floor_divide => "floor_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    fmod__Scalar: fmod_Scalar => "fmod_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    ge__Scalar: ge_Scalar => "ge_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    greater__Scalar: greater_Scalar => "greater_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    greater__Tensor: greater_Tensor => "greater_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    greater_equal__Scalar: greater_equal_Scalar => "greater_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    greater_equal__Tensor: greater_equal_Tensor => "greater_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    gt__Scalar: gt_Scalar => "gt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    index_copy_: index_copy ApartFromOthers =>
        "index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)";
    index_fill__int_Scalar: index_fill_int_Scalar ApartFromOthers =>
        "index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)";
    index_fill__int_Tensor: index_fill_int_Tensor =>
        "index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)";
    ldexp_: ldexp_Tensor => "ldexp_(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    le__Scalar: le_Scalar => "le_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    less__Scalar: less_Scalar => "less_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    less__Tensor: less_Tensor => "less_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    less_equal__Scalar: less_equal_Scalar => "less_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    less_equal__Tensor: less_equal_Tensor => "less_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    logit_: logit => "logit_(Tensor(a!) self, float? eps=None) -> Tensor(a!)";
    lt__Scalar: lt_Scalar => "lt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    masked_scatter_: masked_scatter => "masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)";
    mvlgamma_: mvlgamma => "mvlgamma_(Tensor(a!) self, int p) -> Tensor(a!)";
    ne__Scalar: ne_Scalar => "ne_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    not_equal__Scalar: not_equal_Scalar => "not_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    not_equal__Tensor: not_equal_Tensor => "not_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    polygamma_: polygamma => "polygamma_(Tensor(a!) self, int n) -> Tensor(a!)";
    relu6_: relu6 => "relu6_(Tensor(a!) self) -> Tensor(a!)";
    remainder__Scalar: remainder_Scalar => "remainder_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    renorm_: renorm => "renorm_(Tensor(a!) self, Scalar p, int dim, Scalar maxnorm) -> Tensor(a!)";
    scatter__reduce: scatter_reduce =>
        "scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor(a!)";
    scatter__value_reduce: scatter_value_reduce =>
        "scatter_.value_reduce(Tensor(a!) self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor(a!)";
    selu_: selu => "selu_(Tensor(a!) self) -> Tensor(a!)";
    tril_: tril => "tril_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)";
    triu_: triu => "triu_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)";
    xlogy__Scalar_Other: xlogy_Scalar_Other => "xlogy_.Scalar_Other(Tensor(a!) self, Scalar other) -> Tensor(a!)";
}
