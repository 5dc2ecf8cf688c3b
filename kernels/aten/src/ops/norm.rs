//! Operators that bring elements to a common scale.

use torch_library::torch_library;

torch_library! {
    /// Normalisation, on top of what was declared before.
    #[methods(NormMethods)]
    #[overloads(function)]
    #[kernels_in(torch_library_nn)]
    pub mod aten extends super::scatter::aten {
        /// Exponentials that sum to one along a dimension; converted to `dtype` first, if one is given.
        ///
        /// # Errors
        /// Types that are not floating point.
        ///
        /// PyTorch: `torch.softmax`.
        softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor;
        /// The part of [`softmax_int`](fn@softmax_int) that computes.
        ///
        /// PyTorch: `aten::_softmax`.
        _softmax(Tensor self, int dim, bool half_to_float) -> Tensor;
        /// The logarithm of the softmax, more exact than both steps one after the other.
        ///
        /// # Errors
        /// Types that are not floating point.
        ///
        /// PyTorch: `torch.log_softmax`.
        log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor;
        /// The part of [`log_softmax_int`](fn@log_softmax_int) that computes.
        ///
        /// PyTorch: `aten::_log_softmax`.
        _log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor;

        /// The last dimensions, together, with mean 0 and variance 1; then scaled by `weight` and moved by `bias`.
        ///
        /// # Errors
        /// A `normalized_shape` that the input does not end in, a weight or bias of other sizes.
        ///
        /// PyTorch: `torch.nn.functional.layer_norm`.
        layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None,
            float eps=1e-05, bool cudnn_enable=True) -> Tensor;
        /// The part of [`layer_norm`](fn@layer_norm) that computes: the result, the means, and one over the
        /// standard deviations.
        ///
        /// PyTorch: `aten::native_layer_norm`.
        native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias,
            float eps) -> (Tensor, Tensor, Tensor);

        /// Each channel (dimension 1) with mean 0 and variance 1; then scaled by `weight` and moved by `bias`.
        ///
        /// In training, the statistics are those of the batch, and move the running ones by `momentum`; else they
        /// are the running ones.
        ///
        /// # Errors
        /// No running statistics outside of training, vectors of another length than the channels.
        ///
        /// PyTorch: `torch.nn.functional.batch_norm`.
        batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
            bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor;
        /// The part of [`batch_norm`](fn@batch_norm) that computes: the result, and the statistics of the batch
        /// (none outside of training).
        ///
        /// PyTorch: `aten::native_batch_norm`.
        native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
            bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor);

        /// The gradient of the input of [`_softmax`], from its result.
        ///
        /// PyTorch: `aten::_softmax_backward_data`.
        _softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor;
        /// The gradient of the input of [`_log_softmax`], from its result.
        ///
        /// PyTorch: `aten::_log_softmax_backward_data`.
        _log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor;

        /// The gradients of input, weight and bias of [`native_layer_norm`]; none (undefined) for each that
        /// `output_mask` does not want.
        ///
        /// PyTorch: `aten::native_layer_norm_backward`.
        native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean,
            Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor);
        /// The gradients of input, weight and bias of [`native_batch_norm`]; none (undefined) for each that
        /// `output_mask` does not want.
        ///
        /// # Errors
        /// In training without the saved statistics, outside of it without the running ones.
        ///
        /// PyTorch: `aten::native_batch_norm_backward`.
        native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean,
            Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps,
            bool[3] output_mask) -> (Tensor, Tensor, Tensor);

        /// Normalises each of so many groups of channels of each item by its mean and variance.
        ///
        /// # Errors
        /// Channels that do not make up so many groups.
        ///
        /// PyTorch: `torch.nn.functional.group_norm`.
        group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05,
            bool cudnn_enabled=True) -> Tensor;
        /// The part of [`group_norm`](fn@group_norm) that computes, for `N` items of `C` channels of `HxW`
        /// elements; with the means, and one over the deviations.
        ///
        /// # Errors
        /// Numbers that do not make the sizes of the input, channels that do not make the groups.
        ///
        /// PyTorch: `aten::native_group_norm`.
        native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group,
            float eps) -> (Tensor, Tensor, Tensor);
        /// Divides by the root of the mean of the squares over the last dimensions, whose sizes are given, and
        /// multiplies with the weight, which has these sizes; the result is contiguous and of the input's type.
        ///
        /// # Errors
        /// Sizes that are not the last of the input's, or not the weight's; integers.
        ///
        /// PyTorch: `torch.nn.functional.rms_norm`.
        rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor;

        /// Sets each element to zero with probability `p` and scales the others, in training; else nothing changes.
        ///
        /// # Errors
        /// A probability that is not between 0 and 1.
        ///
        /// PyTorch: `torch.nn.functional.dropout`.
        dropout(Tensor input, float p, bool train) -> Tensor;
        /// [`dropout`](fn@dropout) in place.
        ///
        /// PyTorch: `torch.nn.functional.dropout` with `inplace=True`.
        #[tags(nondeterministic_seeded)]
        dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!);

        /// [`dropout`](fn@dropout) that keeps mean and variance of inputs of mean 0 and variance 1: what is dropped
        /// gets the value that `selu` ends at, and all is scaled and moved.
        ///
        /// # Errors
        /// A probability that is not between 0 and 1.
        ///
        /// PyTorch: `torch.nn.functional.alpha_dropout`.
        alpha_dropout(Tensor input, float p, bool train) -> Tensor;
        /// [`alpha_dropout`](fn@alpha_dropout) in place.
        ///
        /// PyTorch: `torch.nn.functional.alpha_dropout` with `inplace=True`.
        #[tags(nondeterministic_seeded)]
        alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!);
        /// [`dropout`](fn@dropout) of whole channels.
        ///
        /// # Errors
        /// As there; inputs of fewer than two dimensions.
        ///
        /// PyTorch: `torch.feature_dropout`.
        feature_dropout(Tensor input, float p, bool train) -> Tensor;
        /// [`feature_dropout`](fn@feature_dropout) in place.
        ///
        /// PyTorch: `torch.feature_dropout_`.
        #[tags(nondeterministic_seeded)]
        feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!);
        /// [`alpha_dropout`](fn@alpha_dropout) of whole channels.
        ///
        /// # Errors
        /// As there; inputs of fewer than two dimensions.
        ///
        /// PyTorch: `torch.nn.functional.feature_alpha_dropout`.
        feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor;
        /// [`feature_alpha_dropout`](fn@feature_alpha_dropout) in place.
        ///
        /// PyTorch: `torch.nn.functional.feature_alpha_dropout` with `inplace=True`.
        #[tags(nondeterministic_seeded)]
        feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!);
        /// [`dropout`](fn@dropout) and which elements it kept; in training unless `train` is false.
        ///
        /// # Errors
        /// A probability that is not between 0 and 1, integers in training.
        ///
        /// PyTorch: `torch.native_dropout`.
        #[tags(nondeterministic_seeded)]
        native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor);
        /// The gradient of the input of [`native_dropout`](fn@native_dropout).
        ///
        /// PyTorch: `aten::native_dropout_backward`.
        #[tags(pointwise)]
        native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor;

        /// [`softmax_int`](fn@softmax_int), with zeros where all of a row is minus infinity.
        ///
        /// # Errors
        /// Types that are not floating point.
        ///
        /// PyTorch: `aten::_safe_softmax`.
        _safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor;

        /// [`native_batch_norm`](fn@native_batch_norm) that says in its schema that it moves the running statistics.
        ///
        /// # Errors
        /// As there.
        ///
        /// PyTorch: `aten::_native_batch_norm_legit`.
        _native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean,
            Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor);
        /// As [`_native_batch_norm_legit`](fn@_native_batch_norm_legit), without running statistics.
        ///
        /// # Errors
        /// As there; outside of training.
        ///
        /// PyTorch: `aten::_native_batch_norm_legit`.
        _native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training,
            float momentum, float eps) -> (Tensor, Tensor, Tensor);
        /// [`_native_batch_norm_legit`](fn@_native_batch_norm_legit) outside of training.
        ///
        /// # Errors
        /// As there.
        ///
        /// PyTorch: `aten::_native_batch_norm_legit_no_training`.
        _native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean,
            Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor);
        /// [`_native_batch_norm_legit`](fn@_native_batch_norm_legit) that returns the moved statistics, and writes
        /// to no argument.
        ///
        /// # Errors
        /// As there.
        ///
        /// PyTorch: `aten::_native_batch_norm_legit_functional`.
        _native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean,
            Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor,
            Tensor running_mean_out, Tensor running_var_out);
        /// [`native_batch_norm`](fn@native_batch_norm) in training, and what a backend would keep for the gradient:
        /// here nothing.
        ///
        /// # Errors
        /// As there.
        ///
        /// PyTorch: `aten::_batch_norm_with_update`.
        _batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean,
            Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor);
        /// [`_batch_norm_with_update`](fn@_batch_norm_with_update) that returns the moved statistics, and writes to
        /// no argument.
        ///
        /// # Errors
        /// As there.
        ///
        /// PyTorch: `aten::_batch_norm_with_update_functional`.
        _batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean,
            Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor,
            Tensor running_mean_out, Tensor running_var_out);
        /// [`native_batch_norm`](fn@native_batch_norm) outside of training, and what a backend would keep for the
        /// gradient: here nothing.
        ///
        /// # Errors
        /// As there; running statistics that are missing.
        ///
        /// PyTorch: `aten::_batch_norm_no_update`.
        _batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean,
            Tensor? running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor);
        /// The gradients of input, weight and bias of [`_batch_norm_with_update`](fn@_batch_norm_with_update), or
        /// without `update` of [`_batch_norm_no_update`](fn@_batch_norm_no_update); none (undefined) for each that
        /// `output_mask` does not want.
        ///
        /// # Errors
        /// As [`native_batch_norm_backward`](fn@native_batch_norm_backward).
        ///
        /// PyTorch: `aten::batch_norm_backward`.
        batch_norm_backward(Tensor grad_out, Tensor input, Tensor weight, Tensor? running_mean,
            Tensor? running_var, Tensor? save_mean, Tensor? save_var, bool update, float eps,
            bool[3] output_mask, Tensor reserve) -> (Tensor, Tensor, Tensor);
        /// The gradients of input, weight and bias of [`native_group_norm`](fn@native_group_norm); none (undefined)
        /// for each that `output_mask` does not want.
        ///
        /// # Errors
        /// Numbers that do not make the sizes of the input, or of the means and deviations.
        ///
        /// PyTorch: `aten::native_group_norm_backward`.
        native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight,
            SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor);
    }
}
