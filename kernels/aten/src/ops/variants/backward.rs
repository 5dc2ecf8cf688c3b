//! The out and in-place variants of backward operators, and of the operators of networks that return more than a
//! result.
#![expect(unreachable_pub, reason = "what extends this namespace exports it")]

use torch_library::prelude::*;
use torch_library::{DispatchKeySet, OperatorHandle, Stack};

use crate::ops::autogen::{Rule, Variant, variants};

variants! {
    super::bits::aten;
    _batch_norm_no_update_out: _batch_norm_no_update =>
        "_batch_norm_no_update.out(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, float momentum, float eps, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2, Tensor(d!) out3) -> (Tensor(a!), Tensor(b!), Tensor(c!), Tensor(d!))";
    _batch_norm_with_update_out: _batch_norm_with_update =>
        "_batch_norm_with_update.out(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float eps, *, Tensor(d!) out, Tensor(e!) save_mean, Tensor(f!) save_invstd, Tensor(g!) reserve) -> (Tensor(d!), Tensor(e!), Tensor(f!), Tensor(g!))";
    binary_cross_entropy_backward_grad_input: binary_cross_entropy_backward =>
        "binary_cross_entropy_backward.grad_input(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, *, Tensor(a!) grad_input) -> Tensor(a!)";
    _cdist_backward_out: _cdist_backward =>
        "_cdist_backward.out(Tensor grad_output, Tensor x1, Tensor x2, float p, Tensor cdist, *, Tensor(a!) out) -> Tensor(a!)";
    _ctc_loss_backward_out: _ctc_loss_backward =>
        "_ctc_loss_backward.out(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False, *, Tensor(a!) out) -> Tensor(a!)";
    diagonal_backward_out: diagonal_backward =>
        "diagonal_backward.out(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2, *, Tensor(a!) out) -> Tensor(a!)";
    elu_backward_grad_input: elu_backward =>
        "elu_backward.grad_input(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor self_or_result, *, Tensor(a!) grad_input) -> Tensor(a!)";
    embedding_dense_backward_out: embedding_dense_backward =>
        "embedding_dense_backward.out(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq, *, Tensor(a!) out) -> Tensor(a!)";
    fractional_max_pool2d_backward_grad_input: fractional_max_pool2d_backward =>
        "fractional_max_pool2d_backward.grad_input(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] output_size, Tensor indices, *, Tensor(a!) grad_input) -> Tensor(a!)";
    fractional_max_pool2d_output: fractional_max_pool2d =>
        "fractional_max_pool2d.output(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples, *, Tensor(a!) output, Tensor(b!) indices) -> (Tensor(a!), Tensor(b!))";
    fractional_max_pool3d_backward_grad_input: fractional_max_pool3d_backward =>
        "fractional_max_pool3d_backward.grad_input(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] output_size, Tensor indices, *, Tensor(a!) grad_input) -> Tensor(a!)";
    fractional_max_pool3d_output: fractional_max_pool3d =>
        "fractional_max_pool3d.output(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples, *, Tensor(a!) output, Tensor(b!) indices) -> (Tensor(a!), Tensor(b!))";
    glu_backward_grad_input: glu_backward =>
        "glu_backward.grad_input(Tensor grad_output, Tensor self, int dim, *, Tensor(a!) grad_input) -> Tensor(a!)";
    hardshrink_backward_grad_input: hardshrink_backward =>
        "hardshrink_backward.grad_input(Tensor grad_out, Tensor self, Scalar lambd, *, Tensor(a!) grad_input) -> Tensor(a!)";
    hardsigmoid_backward_grad_input: hardsigmoid_backward =>
        "hardsigmoid_backward.grad_input(Tensor grad_output, Tensor self, *, Tensor(a!) grad_input) -> Tensor(a!)";
    hardswish_backward_out: hardswish_backward =>
        "hardswish_backward.out(Tensor grad_output, Tensor self, *, Tensor(a!) out) -> Tensor(a!)";
    huber_loss_backward_out: huber_loss_backward =>
        "huber_loss_backward.out(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta, *, Tensor(a!) grad_input) -> Tensor(a!)";
    #[tags(pointwise)]
    __iand___Scalar: bitwise_and_Scalar => "__iand__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    #[tags(pointwise)]
    __iand___Tensor: bitwise_and_Tensor => "__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    #[tags(pointwise)]
    __ilshift___Scalar: bitwise_left_shift_Tensor_Scalar =>
        "__ilshift__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    #[tags(pointwise)]
    __ilshift___Tensor: bitwise_left_shift_Tensor => "__ilshift__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    #[tags(pointwise)]
    __ior___Scalar: bitwise_or_Scalar => "__ior__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    #[tags(pointwise)]
    __ior___Tensor: bitwise_or_Tensor => "__ior__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    #[tags(pointwise)]
    __irshift___Scalar: bitwise_right_shift_Tensor_Scalar =>
        "__irshift__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    #[tags(pointwise)]
    __irshift___Tensor: bitwise_right_shift_Tensor => "__irshift__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    #[tags(pointwise)]
    __ixor___Scalar: bitwise_xor_Scalar => "__ixor__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)";
    #[tags(pointwise)]
    __ixor___Tensor: bitwise_xor_Tensor => "__ixor__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)";
    leaky_relu_backward_grad_input: leaky_relu_backward =>
        "leaky_relu_backward.grad_input(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result, *, Tensor(a!) grad_input) -> Tensor(a!)";
    log_sigmoid_backward_grad_input: log_sigmoid_backward =>
        "log_sigmoid_backward.grad_input(Tensor grad_output, Tensor self, Tensor buffer, *, Tensor(a!) grad_input) -> Tensor(a!)";
    log_sigmoid_forward_output: log_sigmoid_forward =>
        "log_sigmoid_forward.output(Tensor self, *, Tensor(a!) output, Tensor(b!) buffer) -> (Tensor(a!), Tensor(b!))";
    _log_softmax_backward_data_out: _log_softmax_backward_data =>
        "_log_softmax_backward_data.out(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype, *, Tensor(a!) out) -> Tensor(a!)";
    logit_backward_grad_input: logit_backward =>
        "logit_backward.grad_input(Tensor grad_output, Tensor self, float? eps=None, *, Tensor(a!) grad_input) -> Tensor(a!)";
    __lshift___Scalar_out: __lshift___Scalar =>
        "__lshift__.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    __lshift___Tensor_out: __lshift___Tensor =>
        "__lshift__.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    max_unpool2d_out: max_unpool2d RelaidImages =>
        "max_unpool2d.out(Tensor self, Tensor indices, SymInt[2] output_size, *, Tensor(a!) out) -> Tensor(a!)";
    max_unpool3d_out: max_unpool3d Dense =>
        "max_unpool3d.out(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding, *, Tensor(a!) out) -> Tensor(a!)";
    mse_loss_backward_grad_input: mse_loss_backward =>
        "mse_loss_backward.grad_input(Tensor grad_output, Tensor self, Tensor target, int reduction, *, Tensor(a!) grad_input) -> Tensor(a!)";
    multi_margin_loss_backward_grad_input: multi_margin_loss_backward =>
        "multi_margin_loss_backward.grad_input(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin, Tensor? weight=None, int reduction=Mean, *, Tensor(a!) grad_input) -> Tensor(a!)";
    multilabel_margin_loss_backward_grad_input: multilabel_margin_loss_backward =>
        "multilabel_margin_loss_backward.grad_input(Tensor grad_output, Tensor self, Tensor target, int reduction, Tensor is_target, *, Tensor(a!) grad_input) -> Tensor(a!)";
    multilabel_margin_loss_forward_output: multilabel_margin_loss_forward =>
        "multilabel_margin_loss_forward.output(Tensor self, Tensor target, int reduction, *, Tensor(a!) output, Tensor(b!) is_target) -> (Tensor(a!), Tensor(b!))";
    multilabel_margin_loss_out: multilabel_margin_loss =>
        "multilabel_margin_loss.out(Tensor self, Tensor target, int reduction=1, *, Tensor(a!) out) -> Tensor(a!)";
    native_batch_norm_backward_out: native_batch_norm_backward =>
        "native_batch_norm_backward.out(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), Tensor(c!))";
    _native_batch_norm_legit_no_stats_out: _native_batch_norm_legit_no_stats =>
        "_native_batch_norm_legit.no_stats_out(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps, *, Tensor(a!) out, Tensor(b!) save_mean, Tensor(c!) save_invstd) -> (Tensor(a!), Tensor(b!), Tensor(c!))";
    _native_batch_norm_legit_no_training_out: _native_batch_norm_legit_no_training =>
        "_native_batch_norm_legit_no_training.out(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), Tensor(c!))";
    _native_batch_norm_legit_out: _native_batch_norm_legit =>
        "_native_batch_norm_legit.out(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, bool training, float momentum, float eps, *, Tensor(d!) out, Tensor(e!) save_mean, Tensor(f!) save_invstd) -> (Tensor(d!), Tensor(e!), Tensor(f!))";
    native_dropout_backward_out: native_dropout_backward =>
        "native_dropout_backward.out(Tensor grad_output, Tensor mask, float scale, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    native_dropout_out: native_dropout =>
        "native_dropout.out(Tensor input, float p, bool? train, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))";
    native_group_norm_backward_out: native_group_norm_backward =>
        "native_group_norm_backward.out(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), Tensor(c!))";
    native_layer_norm_backward_out: native_layer_norm_backward =>
        "native_layer_norm_backward.out(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), Tensor(c!))";
    nll_loss2d_backward_grad_input: nll_loss2d_backward =>
        "nll_loss2d_backward.grad_input(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight, *, Tensor(a!) grad_input) -> Tensor(a!)";
    nll_loss_backward_grad_input: nll_loss_backward =>
        "nll_loss_backward.grad_input(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor total_weight, *, Tensor(a!) grad_input) -> Tensor(a!)";
    _pdist_backward_out: _pdist_backward =>
        "_pdist_backward.out(Tensor grad_output, Tensor self, float p, Tensor pdist, *, Tensor(a!) out) -> Tensor(a!)";
    _pdist_forward_out: _pdist_forward =>
        "_pdist_forward.out(Tensor self, float p=2., *, Tensor(a!) out) -> Tensor(a!)";
    rrelu_with_noise_backward_out: rrelu_with_noise_backward =>
        "rrelu_with_noise_backward.out(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, bool training, bool self_is_result, *, Tensor(a!) out) -> Tensor(a!)";
    #[tags(nondeterministic_seeded)]
    rrelu_with_noise_out: rrelu_with_noise =>
        "rrelu_with_noise.out(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None, *, Tensor(a!) out) -> Tensor(a!)";
    __rshift___Scalar_out: __rshift___Scalar =>
        "__rshift__.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)";
    __rshift___Tensor_out: __rshift___Tensor =>
        "__rshift__.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
    select_backward_out: select_backward =>
        "select_backward.out(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index, *, Tensor(a!) out) -> Tensor(a!)";
    slice_backward_out: slice_backward =>
        "slice_backward.out(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt step, *, Tensor(a!) out) -> Tensor(a!)";
    smooth_l1_loss_backward_grad_input: smooth_l1_loss_backward =>
        "smooth_l1_loss_backward.grad_input(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta, *, Tensor(a!) grad_input) -> Tensor(a!)";
    soft_margin_loss_backward_grad_input: soft_margin_loss_backward =>
        "soft_margin_loss_backward.grad_input(Tensor grad_output, Tensor self, Tensor target, int reduction, *, Tensor(a!) grad_input) -> Tensor(a!)";
    _softmax_backward_data_out: _softmax_backward_data =>
        "_softmax_backward_data.out(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype, *, Tensor(a!) grad_input) -> Tensor(a!)";
    softplus_backward_grad_input: softplus_backward =>
        "softplus_backward.grad_input(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold, *, Tensor(a!) grad_input) -> Tensor(a!)";
    softshrink_backward_grad_input: softshrink_backward =>
        "softshrink_backward.grad_input(Tensor grad_output, Tensor self, Scalar lambd, *, Tensor(a!) grad_input) -> Tensor(a!)";
    unfold_backward_out: unfold_backward =>
        "unfold_backward.out(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step, *, Tensor(a!) out) -> Tensor(a!)";
    _upsample_bicubic2d_aa_backward_grad_input: _upsample_bicubic2d_aa_backward =>
        "_upsample_bicubic2d_aa_backward.grad_input(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None, *, Tensor(a!) grad_input) -> Tensor(a!)";
    _upsample_bicubic2d_aa_out: _upsample_bicubic2d_aa =>
        "_upsample_bicubic2d_aa.out(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)";
    _upsample_bilinear2d_aa_backward_grad_input: _upsample_bilinear2d_aa_backward =>
        "_upsample_bilinear2d_aa_backward.grad_input(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None, *, Tensor(a!) grad_input) -> Tensor(a!)";
    _upsample_bilinear2d_aa_out: _upsample_bilinear2d_aa =>
        "_upsample_bilinear2d_aa.out(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)";
}
