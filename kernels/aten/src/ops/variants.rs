//! The out variants and in-place variants that are derived from a functional operator.
//!
//! `out` is resized to the result; if it has these sizes already, it keeps its memory and strides. Errors are those of
//! the functional operator, and a result that cannot be written to its target: of a dtype that does not cast to the
//! target's, on another device, or if the target overlaps itself or an input. Autograd rejects `out` variants, as they
//! have no derivative. An in-place operator that is not listed here has a kernel of its own.

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

mod backward;
mod binary;
mod bits;
mod exported;
mod factor;
mod fourier;
mod index;
mod linalg;
mod lists;
mod order;
mod pieces;
mod polynomial;
mod segment;
mod special;
mod storage;
mod view_copy;
mod window;

variants! {
    backward::aten, VariantMethods;
    absolute_out: absolute => "absolute.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    addmm_: addmm =>
        "addmm_(Tensor(a!) self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)";
    addmv_: addmv => "addmv_(Tensor(a!) self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)";
    addr_: addr => "addr_(Tensor(a!) self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)";
    all_all_out: all Truth => "all.all_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    all_out: all_dim Truth => "all.out(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    any_all_out: any Truth => "any.all_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    any_out: any_dim Truth => "any.out(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    arange_out: arange OfAnySizes => "arange.out(Scalar end, *, Tensor(a!) out) -> Tensor(a!)";
    range_out: range_step OfAnySizes =>
        "range.out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> Tensor(a!)";
    range_out_: range OfAnySizes => "range.out_(Scalar start, Scalar end, *, Tensor(a!) out) -> Tensor(a!)";
    arange_start_out: arange_start_step OfAnySizes =>
        "arange.start_out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> Tensor(a!)";
    arccos_out: arccos => "arccos.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arccos_: arccos => "arccos_(Tensor(a!) self) -> Tensor(a!)";
    arccosh_out: arccosh => "arccosh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arccosh_: arccosh => "arccosh_(Tensor(a!) self) -> Tensor(a!)";
    arcsin_out: arcsin => "arcsin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arcsin_: arcsin => "arcsin_(Tensor(a!) self) -> Tensor(a!)";
    arcsinh_out: arcsinh => "arcsinh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arcsinh_: arcsinh => "arcsinh_(Tensor(a!) self) -> Tensor(a!)";
    arctan_out: arctan => "arctan.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arctan_: arctan => "arctan_(Tensor(a!) self) -> Tensor(a!)";
    arctan2_out: arctan2 => "arctan2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    arctan2_: arctan2 => "arctan2_(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    arctanh_out: arctanh => "arctanh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    arctanh_: arctanh => "arctanh_(Tensor(a!) self) -> Tensor(a!)";
    as_strided_scatter_out: as_strided_scatter =>
        "as_strided_scatter.out(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None, *, Tensor(a!) out) -> Tensor(a!)";
    baddbmm_: baddbmm =>
        "baddbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    bernoulli_Tensor_out: bernoulli_Tensor =>
        "bernoulli.Tensor_out(Tensor self, Tensor p, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    bernoulli_float_out: bernoulli_p =>
        "bernoulli.float_out(Tensor self, float p=0.5, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    binary_cross_entropy_out: binary_cross_entropy =>
        "binary_cross_entropy.out(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, *, Tensor(a!) out) -> Tensor(a!)";
    binary_cross_entropy_with_logits_out: binary_cross_entropy_with_logits =>
        "binary_cross_entropy_with_logits.out(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    binomial_out: binomial =>
        "binomial.out(Tensor count, Tensor prob, Generator? generator=None, *, Tensor(a!) out) -> Tensor(a!)";
    bitwise_and__Scalar: bitwise_and_Scalar => "bitwise_and_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    bitwise_left_shift__Tensor_Scalar: bitwise_left_shift_Tensor_Scalar =>
        "bitwise_left_shift_.Tensor_Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    bitwise_or__Scalar: bitwise_or_Scalar => "bitwise_or_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    bitwise_right_shift__Tensor_Scalar: bitwise_right_shift_Tensor_Scalar =>
        "bitwise_right_shift_.Tensor_Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    bitwise_xor__Scalar: bitwise_xor_Scalar => "bitwise_xor_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    block_diag_out: block_diag => "block_diag.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    cauchy_out: cauchy =>
        "cauchy.out(Tensor self, float median=0., float sigma=1., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    _cdist_forward_out: _cdist_forward =>
        "_cdist_forward.out(Tensor x1, Tensor x2, float p, int? compute_mode, *, Tensor(a!) out) -> Tensor(a!)";
    celu_out: celu => "celu.out(Tensor self, Scalar alpha=1., *, Tensor(a!) out) -> Tensor(a!)";
    celu_: celu => "celu_(Tensor(a!) self, Scalar alpha=1.) -> Tensor(a!)";
    clip_Tensor_out: clip_Tensor =>
        "clip.Tensor_out(Tensor self, Tensor? min=None, Tensor? max=None, *, Tensor(a!) out) -> Tensor(a!)";
    clip_out: clip => "clip.out(Tensor self, Scalar? min=None, Scalar? max=None, *, Tensor(a!) out) -> Tensor(a!)";
    clip__Tensor: clip_Tensor => "clip_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)";
    clone_out: clone => "clone.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    column_stack_out: column_stack Castable => "column_stack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)";
    complex_out: complex Exact => "complex.out(Tensor real, Tensor imag, *, Tensor(a!) out) -> Tensor(a!)";
    concat_out: concat => "concat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)";
    concatenate_out: concatenate => "concatenate.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)";
    conj_physical_: _conj_physical => "conj_physical_(Tensor(a!) self) -> Tensor(a!)";
    conj_physical_out: _conj_physical Exact => "conj_physical.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    copy_out: copy => "copy.out(Tensor self, Tensor src, bool non_blocking=False, *, Tensor(a!) out) -> Tensor(a!)";
    copysign_Scalar_out: copysign_Scalar =>
        "copysign.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    copysign__Scalar: copysign_Scalar => "copysign_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    count_nonzero_dim_IntList_out: count_nonzero_dim_IntList =>
        "count_nonzero.dim_IntList_out(Tensor self, int[] dim, *, Tensor(a!) out) -> Tensor(a!)";
    count_nonzero_out: count_nonzero =>
        "count_nonzero.out(Tensor self, int? dim=None, *, Tensor(a!) out) -> Tensor(a!)";
    cross_out: cross => "cross.out(Tensor self, Tensor other, int? dim=None, *, Tensor(a!) out) -> Tensor(a!)";
    _ctc_loss_Tensor_out: _ctc_loss_Tensor =>
        "_ctc_loss.Tensor_out(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, bool zero_infinity=False, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))";
    _ctc_loss_out: _ctc_loss =>
        "_ctc_loss.out(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, bool zero_infinity=False, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))";
    cumprod_: cumprod InTypeOfOut Exact =>
        "cumprod_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)";
    cumsum_out: cumsum InTypeOfOut =>
        "cumsum.out(Tensor self, int dim, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
    cumsum_: cumsum InTypeOfOut Exact => "cumsum_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)";
    diag_out: diag => "diag.out(Tensor self, int diagonal=0, *, Tensor(a!) out) -> Tensor(a!)";
    diag_embed_out: diag_embed =>
        "diag_embed.out(Tensor self, int offset=0, int dim1=-2, int dim2=-1, *, Tensor(a!) out) -> Tensor(a!)";
    diagonal_copy_out: diagonal_copy =>
        "diagonal_copy.out(Tensor self, int offset=0, int dim1=0, int dim2=1, *, Tensor(a!) out) -> Tensor(a!)";
    diagonal_scatter_out: diagonal_scatter =>
        "diagonal_scatter.out(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1, *, Tensor(a!) out) -> Tensor(a!)";
    dist_out: dist => "dist.out(Tensor self, Tensor other, Scalar p=2, *, Tensor(a!) out) -> Tensor(a!)";
    div__Scalar_mode: div_Scalar_mode =>
        "div_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)";
    divide_out: divide_Tensor Castable => "divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    divide_out_mode: divide_Tensor_mode Castable =>
        "divide.out_mode(Tensor self, Tensor other, *, str? rounding_mode, Tensor(a!) out) -> Tensor(a!)";
    divide__Scalar_mode: divide_Scalar_mode =>
        "divide_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)";
    divide__Tensor_mode: divide_Tensor_mode =>
        "divide_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)";
    dstack_out: dstack Castable => "dstack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)";
    empty_out: empty_memory_format =>
        "empty.out(SymInt[] size, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    empty_like_out: empty_like =>
        "empty_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    empty_strided_out: empty_strided =>
        "empty_strided.out(SymInt[] size, SymInt[] stride, *, Tensor(a!) out) -> Tensor(a!)";
    eq__Scalar: eq_Scalar => "eq_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    _euclidean_dist_out: _euclidean_dist =>
        "_euclidean_dist.out(Tensor x1, Tensor x2, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    exponential_out: exponential =>
        "exponential.out(Tensor self, float lambd=1., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    eye_m_out: eye_m => "eye.m_out(SymInt n, SymInt m, *, Tensor(a!) out) -> Tensor(a!)";
    eye_out: eye => "eye.out(SymInt n, *, Tensor(a!) out) -> Tensor(a!)";
    fill_Scalar_out: fill_Scalar => "fill.Scalar_out(Tensor self, Scalar value, *, Tensor(a!) out) -> Tensor(a!)";
    fill_Tensor_out: fill_Tensor => "fill.Tensor_out(Tensor self, Tensor value, *, Tensor(a!) out) -> Tensor(a!)";
    fix_out: fix => "fix.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    flip_out: flip => "flip.out(Tensor self, int[] dims, *, Tensor(a!) out) -> Tensor(a!)";
    float_power_Scalar_out: float_power_Scalar =>
        "float_power.Scalar_out(Scalar self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)";
    float_power_Tensor_Scalar_out: float_power_Tensor_Scalar =>
        "float_power.Tensor_Scalar_out(Tensor self, Scalar exponent, *, Tensor(a!) out) -> Tensor(a!)";
    float_power_Tensor_Tensor_out: float_power_Tensor_Tensor =>
        "float_power.Tensor_Tensor_out(Tensor self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)";
    float_power__Scalar: float_power_Tensor_Scalar Exact =>
        "float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)";
    float_power__Tensor: float_power_Tensor_Tensor Exact =>
        "float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)";
    floor_divide_Scalar_out: floor_divide_Scalar =>
        "floor_divide.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    floor_divide_out: floor_divide Castable =>
        "floor_divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    floor_divide__Scalar: floor_divide_Scalar => "floor_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    floor_divide__Tensor: floor_divide => "floor_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    fmod_Scalar_out: fmod_Scalar Castable =>
        "fmod.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    fmod__Scalar: fmod_Scalar => "fmod_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    _foreach_norm_Scalar_out: _foreach_norm_Scalar =>
        "_foreach_norm.Scalar_out(Tensor[] self, Scalar ord=2, ScalarType? dtype=None, *, Tensor(a!)[] out) -> ()";
    _foreach_sqrt_out: _foreach_sqrt => "_foreach_sqrt.out(Tensor[] self, *, Tensor(a!)[] out) -> ()";
    _foreach_sqrt_: _foreach_sqrt => "_foreach_sqrt_(Tensor(a!)[] self) -> ()";
    full_out: full => "full.out(SymInt[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!)";
    full_like_out: full_like =>
        "full_like.out(Tensor self, Scalar fill_value, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    ge__Scalar: ge_Scalar => "ge_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    geometric_out: geometric =>
        "geometric.out(Tensor self, float p, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    glu_out: glu Castable => "glu.out(Tensor self, int dim=-1, *, Tensor(a!) out) -> Tensor(a!)";
    greater_Scalar_out: greater_Scalar =>
        "greater.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    greater_Tensor_out: greater_Tensor =>
        "greater.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    greater__Scalar: greater_Scalar => "greater_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    greater__Tensor: greater_Tensor => "greater_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    greater_equal_Scalar_out: greater_equal_Scalar =>
        "greater_equal.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    greater_equal_Tensor_out: greater_equal_Tensor =>
        "greater_equal.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    greater_equal__Scalar: greater_equal_Scalar => "greater_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    greater_equal__Tensor: greater_equal_Tensor => "greater_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    gt__Scalar: gt_Scalar => "gt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    hstack_out: hstack Castable => "hstack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)";
    huber_loss_out: huber_loss Castable =>
        "huber_loss.out(Tensor self, Tensor target, int reduction=1, float delta=1., *, Tensor(a!) out) -> Tensor(a!)";
    index_add_out: index_add ApartFromOthers =>
        "index_add.out(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
    index_copy_out: index_copy ApartFromOthers =>
        "index_copy.out(Tensor self, int dim, Tensor index, Tensor source, *, Tensor(a!) out) -> Tensor(a!)";
    index_copy_: index_copy ApartFromOthers =>
        "index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)";
    index_fill_int_Scalar_out: index_fill_int_Scalar ApartFromOthers =>
        "index_fill.int_Scalar_out(Tensor self, int dim, Tensor index, Scalar value, *, Tensor(a!) out) -> Tensor(a!)";
    index_fill__int_Scalar: index_fill_int_Scalar ApartFromOthers =>
        "index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)";
    index_fill__int_Tensor: index_fill_int_Tensor =>
        "index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)";
    index_fill_int_Tensor_out: index_fill_int_Tensor =>
        "index_fill.int_Tensor_out(Tensor self, int dim, Tensor index, Tensor value, *, Tensor(a!) out) -> Tensor(a!)";
    index_put_out: index_put ApartFromOthers =>
        "index_put.out(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False, *, Tensor(a!) out) -> Tensor(a!)";
    index_reduce_out: index_reduce ApartFromOthers =>
        "index_reduce.out(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True, Tensor(a!) out) -> Tensor(a!)";
    isinf_out: isinf Exact => "isinf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    ldexp_: ldexp_Tensor => "ldexp_(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    ldexp_out: ldexp_Tensor Castable => "ldexp.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    le__Scalar: le_Scalar => "le_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    less_Scalar_out: less_Scalar => "less.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    less_Tensor_out: less_Tensor => "less.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    less__Scalar: less_Scalar => "less_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    less__Tensor: less_Tensor => "less_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    less_equal_Scalar_out: less_equal_Scalar =>
        "less_equal.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    less_equal_Tensor_out: less_equal_Tensor =>
        "less_equal.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    less_equal__Scalar: less_equal_Scalar => "less_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    less_equal__Tensor: less_equal_Tensor => "less_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    linear_out: linear => "linear.out(Tensor input, Tensor weight, Tensor? bias=None, *, Tensor(a!) out) -> Tensor(a!)";
    linspace_Scalar_Tensor_out: linspace_Scalar_Tensor OfAnySizes =>
        "linspace.Scalar_Tensor_out(Scalar start, Tensor end, int steps, *, Tensor(a!) out) -> Tensor(a!)";
    linspace_Tensor_Scalar_out: linspace_Tensor_Scalar OfAnySizes =>
        "linspace.Tensor_Scalar_out(Tensor start, Scalar end, int steps, *, Tensor(a!) out) -> Tensor(a!)";
    linspace_Tensor_Tensor_out: linspace_Tensor_Tensor OfAnySizes =>
        "linspace.Tensor_Tensor_out(Tensor start, Tensor end, int steps, *, Tensor(a!) out) -> Tensor(a!)";
    linspace_out: linspace OfAnySizes =>
        "linspace.out(Scalar start, Scalar end, int steps, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    log_normal_out: log_normal =>
        "log_normal.out(Tensor self, float mean=1., float std=2., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    log_sigmoid_out: log_sigmoid => "log_sigmoid.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    _log_softmax_out: _log_softmax =>
        "_log_softmax.out(Tensor self, int dim, bool half_to_float, *, Tensor(a!) out) -> Tensor(a!)";
    log_softmax_int_out: log_softmax_int =>
        "log_softmax.int_out(Tensor self, int dim, ScalarType? dtype=None, *, Tensor(a!) out) -> Tensor(a!)";
    logit_: logit => "logit_(Tensor(a!) self, float? eps=None) -> Tensor(a!)";
    logspace_Scalar_Tensor_out: logspace_Scalar_Tensor OfAnySizes =>
        "logspace.Scalar_Tensor_out(Scalar start, Tensor end, int steps, float base=10., *, Tensor(a!) out) -> Tensor(a!)";
    logspace_Tensor_Scalar_out: logspace_Tensor_Scalar OfAnySizes =>
        "logspace.Tensor_Scalar_out(Tensor start, Scalar end, int steps, float base=10., *, Tensor(a!) out) -> Tensor(a!)";
    logspace_Tensor_Tensor_out: logspace_Tensor_Tensor OfAnySizes =>
        "logspace.Tensor_Tensor_out(Tensor start, Tensor end, int steps, float base=10., *, Tensor(a!) out) -> Tensor(a!)";
    logspace_out: logspace OfAnySizes =>
        "logspace.out(Scalar start, Scalar end, int steps, float base=10., *, Tensor(a!) out) -> Tensor(a!)";
    logsumexp_out: logsumexp Castable ComputedAsOut =>
        "logsumexp.out(Tensor self, int[1] dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    lt__Scalar: lt_Scalar => "lt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    masked_fill_Scalar_out: masked_fill_Scalar =>
        "masked_fill.Scalar_out(Tensor self, Tensor mask, Scalar value, *, Tensor(a!) out) -> Tensor(a!)";
    masked_fill_Tensor_out: masked_fill_Tensor =>
        "masked_fill.Tensor_out(Tensor self, Tensor mask, Tensor value, *, Tensor(a!) out) -> Tensor(a!)";
    masked_scatter_: masked_scatter => "masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)";
    masked_scatter_out: masked_scatter ApartFromOthers =>
        "masked_scatter.out(Tensor self, Tensor mask, Tensor source, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(dynamic_output_shape)]
    masked_select_out: masked_select Disjoint =>
        "masked_select.out(Tensor self, Tensor mask, *, Tensor(a!) out) -> Tensor(a!)";
    max_dim_max: max_dim =>
        "max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, Tensor(b!) max_values) -> (Tensor(a!) values, Tensor(b!) indices)";
    max_out: max_other Castable => "max.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    max_unary_out: max Castable => "max.unary_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    mean_dtype_out: mean InTypeOfOut Castable =>
        "mean.dtype_out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
    min_dim_min: min_dim =>
        "min.dim_min(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) min, Tensor(b!) min_indices) -> (Tensor(a!) values, Tensor(b!) indices)";
    min_out: min_other Castable => "min.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    min_unary_out: min Castable => "min.unary_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    mse_loss_out: mse_loss Castable =>
        "mse_loss.out(Tensor self, Tensor target, int reduction=1, *, Tensor(a!) out) -> Tensor(a!)";
    multi_margin_loss_out: multi_margin_loss =>
        "multi_margin_loss.out(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=Mean, *, Tensor(a!) out) -> Tensor(a!)";
    multinomial_out: multinomial =>
        "multinomial.out(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    multiply_out: multiply_Tensor Castable =>
        "multiply.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    mvlgamma_: mvlgamma => "mvlgamma_(Tensor(a!) self, int p) -> Tensor(a!)";
    mvlgamma_out: mvlgamma Castable => "mvlgamma.out(Tensor self, int p, *, Tensor(a!) out) -> Tensor(a!)";
    native_batch_norm_out: native_batch_norm =>
        "native_batch_norm.out(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, *, Tensor(a!) out, Tensor(b!) save_mean, Tensor(c!) save_invstd) -> (Tensor(a!), Tensor(b!), Tensor(c!))";
    native_group_norm_out: native_group_norm =>
        "native_group_norm.out(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), Tensor(c!))";
    _weight_norm_interface_out: _weight_norm_interface =>
        "_weight_norm_interface.out(Tensor v, Tensor g, int dim=0, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))";
    _weight_norm_interface_backward_out: _weight_norm_interface_backward =>
        "_weight_norm_interface_backward.out(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms, int dim, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))";
    native_layer_norm_out: native_layer_norm =>
        "native_layer_norm.out(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), Tensor(c!))";
    ne__Scalar: ne_Scalar => "ne_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    negative_out: negative => "negative.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    new_empty_out: new_empty => "new_empty.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    new_empty_strided_out: new_empty_strided =>
        "new_empty_strided.out(Tensor self, SymInt[] size, SymInt[] stride, *, Tensor(a!) out) -> Tensor(a!)";
    new_full_out: new_full =>
        "new_full.out(Tensor self, SymInt[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!)";
    new_ones_out: new_ones => "new_ones.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    new_zeros_out: new_zeros => "new_zeros.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    nll_loss_out: nll_loss =>
        "nll_loss.out(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100, *, Tensor(a!) out) -> Tensor(a!)";
    nll_loss2d_out: nll_loss2d =>
        "nll_loss2d.out(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100, *, Tensor(a!) out) -> Tensor(a!)";
    nll_loss2d_forward_output: nll_loss2d_forward =>
        "nll_loss2d_forward.output(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, *, Tensor(a!) output, Tensor(b!) total_weight) -> (Tensor(a!), Tensor(b!))";
    nll_loss_forward_output: nll_loss_forward =>
        "nll_loss_forward.output(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, *, Tensor(a!) output, Tensor(b!) total_weight) -> (Tensor(a!), Tensor(b!))";
    norm_Scalar_out: norm_Scalar => "norm.Scalar_out(Tensor self, Scalar p=2, *, Tensor(a!) out) -> Tensor(a!)";
    norm_out: norm_ScalarOpt_dim =>
        "norm.out(Tensor self, Scalar? p, int[1] dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    norm_dtype_out: norm_ScalarOpt_dim_dtype =>
        "norm.dtype_out(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype, Tensor(a!) out) -> Tensor(a!)";
    norm_ScalarOpt_dtype_out: norm_ScalarOpt_dtype =>
        "norm.ScalarOpt_dtype_out(Tensor self, Scalar? p, *, ScalarType dtype, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    normal_out: normal_functional =>
        "normal.out(Tensor self, float mean=0., float std=1., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    not_equal_Scalar_out: not_equal_Scalar =>
        "not_equal.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    not_equal_Tensor_out: not_equal_Tensor =>
        "not_equal.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    not_equal__Scalar: not_equal_Scalar => "not_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    not_equal__Tensor: not_equal_Tensor => "not_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    ones_out: ones => "ones.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    ones_like_out: ones_like =>
        "ones_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    outer_out: outer Castable => "outer.out(Tensor self, Tensor vec2, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    poisson_out: poisson => "poisson.out(Tensor self, Generator? generator=None, *, Tensor(a!) out) -> Tensor(a!)";
    polar_out: polar Exact => "polar.out(Tensor abs, Tensor angle, *, Tensor(a!) out) -> Tensor(a!)";
    polygamma_: polygamma => "polygamma_(Tensor(a!) self, int n) -> Tensor(a!)";
    pow_Scalar_out: pow_Scalar Castable =>
        "pow.Scalar_out(Scalar self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)";
    put_out: put =>
        "put.out(Tensor self, Tensor index, Tensor source, bool accumulate=False, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    rand_generator_out: rand_generator =>
        "rand.generator_out(SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    rand_like_generator_out: rand_like_generator =>
        "rand_like.generator_out(Tensor self, *, Generator? generator, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    rand_like_out: rand_like =>
        "rand_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    rand_out: rand => "rand.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_generator_out: randint_generator =>
        "randint.generator_out(SymInt high, SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_like_Tensor_generator_out: randint_like_Tensor_generator =>
        "randint_like.Tensor_generator_out(Tensor self, Tensor high, *, Generator? generator, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_like_Tensor_out: randint_like_Tensor =>
        "randint_like.Tensor_out(Tensor self, Tensor high, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_like_generator_out: randint_like_generator =>
        "randint_like.generator_out(Tensor self, SymInt high, *, Generator? generator, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_like_low_dtype_out: randint_like_low_dtype =>
        "randint_like.low_dtype_out(Tensor self, SymInt low, SymInt high, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_like_low_generator_dtype_out: randint_like_low_generator_dtype =>
        "randint_like.low_generator_dtype_out(Tensor self, SymInt low, SymInt high, *, Generator? generator, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_like_out: randint_like =>
        "randint_like.out(Tensor self, SymInt high, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_low_generator_out: randint_low_generator =>
        "randint.low_generator_out(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_low_out: randint_low =>
        "randint.low_out(SymInt low, SymInt high, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randint_out: randint => "randint.out(SymInt high, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randn_generator_out: randn_generator =>
        "randn.generator_out(SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randn_like_generator_out: randn_like_generator =>
        "randn_like.generator_out(Tensor self, *, Generator? generator, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randn_like_out: randn_like =>
        "randn_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randn_out: randn => "randn.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    random_from_out: random_from =>
        "random.from_out(Tensor self, int from, int? to, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    random_out: random => "random.out(Tensor self, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    random_to_out: random_to =>
        "random.to_out(Tensor self, int to, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randperm_generator_out: randperm_generator =>
        "randperm.generator_out(SymInt n, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    randperm_out: randperm => "randperm.out(SymInt n, *, Tensor(a!) out) -> Tensor(a!)";
    relu6_: relu6 => "relu6_(Tensor(a!) self) -> Tensor(a!)";
    remainder_Scalar_Tensor_out: remainder_Scalar_Tensor =>
        "remainder.Scalar_Tensor_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    remainder_Scalar_out: remainder_Scalar Castable =>
        "remainder.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    remainder__Scalar: remainder_Scalar => "remainder_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    renorm_out: renorm => "renorm.out(Tensor self, Scalar p, int dim, Scalar maxnorm, *, Tensor(a!) out) -> Tensor(a!)";
    renorm_: renorm => "renorm_(Tensor(a!) self, Scalar p, int dim, Scalar maxnorm) -> Tensor(a!)";
    repeat_out: repeat => "repeat.out(Tensor self, SymInt[] repeats, *, Tensor(a!) out) -> Tensor(a!)";
    repeat_interleave_Tensor_out: repeat_interleave_Tensor =>
        "repeat_interleave.Tensor_out(Tensor repeats, *, SymInt? output_size=None, Tensor(a!) out) -> Tensor(a!)";
    roll_out: roll => "roll.out(Tensor self, SymInt[1] shifts, int[1] dims=[], *, Tensor(a!) out) -> Tensor(a!)";
    rot90_out: rot90 => "rot90.out(Tensor self, int k=1, int[] dims=[0, 1], *, Tensor(a!) out) -> Tensor(a!)";
    row_stack_out: row_stack Castable => "row_stack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)";
    scalar_tensor_out: scalar_tensor => "scalar_tensor.out(Scalar s, *, Tensor(a!) out) -> Tensor(a!)";
    scatter__reduce: scatter_reduce =>
        "scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor(a!)";
    scatter__value_reduce: scatter_value_reduce =>
        "scatter_.value_reduce(Tensor(a!) self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor(a!)";
    scatter_src_out: scatter_src ApartFromOthers Disjoint =>
        "scatter.src_out(Tensor self, int dim, Tensor index, Tensor src, *, Tensor(a!) out) -> Tensor(a!)";
    scatter_value_out: scatter_value ApartFromOthers Disjoint =>
        "scatter.value_out(Tensor self, int dim, Tensor index, Scalar value, *, Tensor(a!) out) -> Tensor(a!)";
    scatter_add_out: scatter_add ApartFromOthers Disjoint =>
        "scatter_add.out(Tensor self, int dim, Tensor index, Tensor src, *, Tensor(a!) out) -> Tensor(a!)";
    scatter_reduce_out: scatter_reduce ApartFromOthers Disjoint =>
        "scatter.reduce_out(Tensor self, int dim, Tensor index, Tensor src, *, str reduce, Tensor(a!) out) -> Tensor(a!)";
    scatter_reduce_two_out: scatter_reduce_two ApartFromOthers Disjoint =>
        "scatter_reduce.two_out(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True, Tensor(a!) out) -> Tensor(a!)";
    scatter_value_reduce_out: scatter_value_reduce ApartFromOthers Disjoint =>
        "scatter.value_reduce_out(Tensor self, int dim, Tensor index, Scalar value, *, str reduce, Tensor(a!) out) -> Tensor(a!)";
    select_scatter_out: select_scatter =>
        "select_scatter.out(Tensor self, Tensor src, int dim, SymInt index, *, Tensor(a!) out) -> Tensor(a!)";
    selu_: selu => "selu_(Tensor(a!) self) -> Tensor(a!)";
    slice_scatter_out: slice_scatter =>
        "slice_scatter.out(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1, *, Tensor(a!) out) -> Tensor(a!)";
    smooth_l1_loss_out: smooth_l1_loss Castable =>
        "smooth_l1_loss.out(Tensor self, Tensor target, int reduction=1, float beta=1., *, Tensor(a!) out) -> Tensor(a!)";
    soft_margin_loss_out: soft_margin_loss Exact =>
        "soft_margin_loss.out(Tensor self, Tensor target, int reduction=1, *, Tensor(a!) out) -> Tensor(a!)";
    _softmax_out: _softmax => "_softmax.out(Tensor self, int dim, bool half_to_float, *, Tensor(a!) out) -> Tensor(a!)";
    softmax_int_out: softmax_int =>
        "softmax.int_out(Tensor self, int dim, ScalarType? dtype=None, *, Tensor(a!) out) -> Tensor(a!)";
    sort_values: sort =>
        "sort.values(Tensor self, int dim=-1, bool descending=False, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)";
    sort_values_stable: sort_stable =>
        "sort.values_stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)";
    std_correction_out: std_correction Castable RealOfReal ComputedAsOut =>
        "std.correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor(a!) out) -> Tensor(a!)";
    std_out: std_dim Castable RealOfReal ComputedAsOut =>
        "std.out(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    subtract_out: subtract_Tensor Castable =>
        "subtract.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)";
    sum_out: sum => "sum.out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)";
    take_out: take Disjoint => "take.out(Tensor self, Tensor index, *, Tensor(a!) out) -> Tensor(a!)";
    take_along_dim_out: take_along_dim =>
        "take_along_dim.out(Tensor self, Tensor indices, int? dim=None, *, Tensor(a!) out) -> Tensor(a!)";
    _to_copy_out: _to_copy =>
        "_to_copy.out(Tensor self, *, bool non_blocking=False, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
    topk_values: topk =>
        "topk.values(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)";
    tril_out: tril => "tril.out(Tensor self, SymInt diagonal=0, *, Tensor(a!) out) -> Tensor(a!)";
    tril_: tril => "tril_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)";
    tril_indices_out: tril_indices =>
        "tril_indices.out(int row, int col, int offset=0, *, Tensor(a!) out) -> Tensor(a!)";
    _trilinear_out: _trilinear =>
        "_trilinear.out(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int unroll_dim=1, *, Tensor(a!) out) -> Tensor(a!)";
    triu_out: triu => "triu.out(Tensor self, SymInt diagonal=0, *, Tensor(a!) out) -> Tensor(a!)";
    triu_: triu => "triu_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)";
    triu_indices_out: triu_indices =>
        "triu_indices.out(int row, int col, int offset=0, *, Tensor(a!) out) -> Tensor(a!)";
    true_divide_out: true_divide_Tensor Castable =>
        "true_divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    uniform_out: uniform =>
        "uniform.out(Tensor self, float from=0., float to=1., *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)";
    _unsafe_view_out: _unsafe_view => "_unsafe_view.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    var_correction_out: var_correction Castable RealOfReal ComputedAsOut =>
        "var.correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor(a!) out) -> Tensor(a!)";
    var_out: var_dim Castable RealOfReal ComputedAsOut =>
        "var.out(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)";
    var_mean_correction_out: var_mean_correction =>
        "var_mean.correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))";
    vstack_out: vstack Castable => "vstack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)";
    xlogy__Scalar_Other: xlogy_Scalar_Other => "xlogy_.Scalar_Other(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    zero_out: zero => "zero.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    zeros_out: zeros => "zeros.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)";
    zeros_like_out: zeros_like =>
        "zeros_like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)";
}
