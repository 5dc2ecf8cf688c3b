//! Normalisation layers and dropout.

use torch_library::torch_library;

torch_library! {
    /// Normalisation.
    #[methods(NormMethods)]
    #[overloads(function)]
    #[kernels_in(torch_library_nn)]
    pub mod aten extends "aten" {
        /// Layer normalisation: normalises over the last dimensions to mean 0 and variance 1, then multiplies by
        /// `weight` and adds `bias`.
        ///
        /// # Errors
        /// An input whose last sizes are not `normalized_shape`, an empty `normalized_shape`, a weight or bias of other
        /// sizes, or of another dtype, except `float32` for inputs of half precision.
        ///
        /// PyTorch: `torch.nn.functional.layer_norm`.
        layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None,
            float eps=1e-05, bool cudnn_enable=True) -> Tensor;
        /// The operator behind [`layer_norm`](fn@layer_norm): the result, the means, and the reciprocals of the
        /// standard deviations.
        ///
        /// PyTorch: `aten::native_layer_norm`.
        native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias,
            float eps) -> (Tensor, Tensor, Tensor);

        /// Batch normalisation: normalises each channel (dimension 1) to mean 0 and variance 1, then multiplies by
        /// `weight` and adds `bias`.
        ///
        /// In training, the statistics are those of the batch, and the running statistics are updated with `momentum`;
        /// otherwise the running statistics are used.
        ///
        /// # Errors
        /// Fewer than two dimensions, no running statistics outside of training, parameters that do not have one
        /// element for each channel, or have another dtype, except `float32` for inputs of half precision.
        ///
        /// PyTorch: `torch.nn.functional.batch_norm`.
        batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
            bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor;
        /// Normalises each channel of each example by its own mean and variance, which also update the running
        /// statistics; without `use_input_stats`, by the running statistics.
        ///
        /// # Errors
        /// Fewer than two dimensions, a parameter that does not have one element for each channel, no running
        /// statistics without `use_input_stats`.
        ///
        /// PyTorch: `torch.nn.functional.instance_norm`.
        instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
            bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor;
        /// The operator behind [`batch_norm`](fn@batch_norm): the result, and the statistics of the batch (empty
        /// outside of training).
        ///
        /// PyTorch: `aten::native_batch_norm`.
        native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,
            bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor);
        /// The mean and the variance of each channel, and running statistics that are updated like those of
        /// [`native_batch_norm`](fn@native_batch_norm), if they are given.
        ///
        /// # Errors
        /// No elements, fewer than two dimensions, integer, boolean and complex dtypes, running statistics of another
        /// number of elements or dtype.
        ///
        /// PyTorch: `torch.batch_norm_update_stats`.
        batch_norm_update_stats(Tensor input, Tensor? running_mean, Tensor? running_var,
            float momentum) -> (Tensor, Tensor);
        /// [`native_batch_norm`](fn@native_batch_norm); also returns memory for the gradient, which has no elements
        /// here, and the number of the implementation, which is 0.
        ///
        /// PyTorch: `aten::_batch_norm_impl_index`.
        _batch_norm_impl_index(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean,
            Tensor? running_var, bool training, float momentum, float eps,
            bool cudnn_enabled) -> (Tensor, Tensor, Tensor, Tensor, int);

        /// The gradients of input, weight and bias of [`native_layer_norm`]; undefined tensors for those that
        /// `output_mask` does not ask for.
        ///
        /// PyTorch: `aten::native_layer_norm_backward`.
        native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean,
            Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor);
        /// The gradients of input, weight and bias of [`native_batch_norm`]; undefined tensors for those that
        /// `output_mask` does not ask for.
        ///
        /// # Errors
        /// No saved statistics in training, no running statistics outside of it.
        ///
        /// PyTorch: `aten::native_batch_norm_backward`.
        native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean,
            Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps,
            bool[3] output_mask) -> (Tensor, Tensor, Tensor);
        /// The gradient of [`_batch_norm_impl_index`](fn@_batch_norm_impl_index).
        ///
        /// # Errors
        /// The number of another implementation.
        ///
        /// PyTorch: `aten::_batch_norm_impl_index_backward`.
        _batch_norm_impl_index_backward(int impl_index, Tensor input, Tensor grad_output, Tensor? weight,
            Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_var_transform, bool train,
            float eps, bool[3] output_mask, Tensor reservedSpace) -> (Tensor, Tensor, Tensor);

        /// Group normalisation: normalises each of `num_groups` groups of channels of each example to mean 0 and
        /// variance 1.
        ///
        /// # Errors
        /// A number of channels that `num_groups` does not divide, parameters as for [`batch_norm`](fn@batch_norm).
        ///
        /// PyTorch: `torch.nn.functional.group_norm`.
        group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05,
            bool cudnn_enabled=True) -> Tensor;
        /// The operator behind [`group_norm`](fn@group_norm), for `N` examples of `C` channels of `HxW` elements: the
        /// result, the means, and the reciprocals of the standard deviations.
        ///
        /// # Errors
        /// An `N`, `C` or `HxW` that does not match the input, a number of channels that the groups do not divide.
        ///
        /// PyTorch: `aten::native_group_norm`.
        native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group,
            float eps) -> (Tensor, Tensor, Tensor);
        /// RMS normalisation: divides by the root mean square over the last dimensions, whose sizes are
        /// `normalized_shape`, and multiplies by the weight, which has these sizes. The result is contiguous and has
        /// the dtype of the input.
        ///
        /// # Errors
        /// A `normalized_shape` that is not the last sizes of the input, or not those of the weight; integer dtypes.
        ///
        /// PyTorch: `torch.nn.functional.rms_norm`.
        rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor;

        /// The norms of order `pow` over all dimensions but `dim`, which stays, as do the others with size 1; over all
        /// dimensions if `dim` is -1.
        ///
        /// # Errors
        /// A dimension out of range, dtypes that are neither floating-point nor complex.
        ///
        /// PyTorch: `torch.norm_except_dim`.
        norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor;
        /// Weight normalisation: the directions of `v` with the lengths `g`, `v * g / ‖v‖`, where norms are those of
        /// [`norm_except_dim`](fn@norm_except_dim).
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let (v, g) = (Tensor::from([[3.0, 4.0], [0.0, 2.0]]), Tensor::from([[10.0], [1.0]]));
        /// assert_eq!(aten::_weight_norm(&v, &g)?.to_vec::<f64>()?, [6.0, 8.0, 0.0, 1.0]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// A dimension out of range, lengths that do not broadcast to the norms, dtypes that are not floating-point.
        ///
        /// PyTorch: `torch._weight_norm`, in `torch.nn.utils.parametrizations.weight_norm`.
        _weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor;
        /// The operator behind [`_weight_norm`](fn@_weight_norm) for the first and the last dimension: the result, and
        /// the norms in the sizes of `g`, which are `float32` for 16-bit tensors.
        ///
        /// # Errors
        /// Another dimension, lengths that are not one for each norm, another dtype than that of `v`, or one that is
        /// not floating-point.
        ///
        /// PyTorch: `torch._weight_norm_interface`.
        _weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor);
        /// The gradients of `v` and `g` of [`_weight_norm_interface`](fn@_weight_norm_interface).
        ///
        /// # Errors
        /// Another dimension than the first and the last, sizes that do not match.
        ///
        /// PyTorch: `torch._weight_norm_interface_backward`.
        _weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms,
            int dim) -> (Tensor, Tensor);
        /// The gradients of [`_weight_norm_interface`](fn@_weight_norm_interface), made of operators that have all
        /// derivatives.
        ///
        /// # Errors
        /// A `dim` that is neither the first nor the last.
        ///
        /// PyTorch: `aten::_weight_norm_differentiable_backward`.
        _weight_norm_differentiable_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms,
            int dim) -> (Tensor, Tensor);

        /// In training, sets each element to zero with probability `p`, and divides the others by `1 - p`; otherwise
        /// returns the input.
        ///
        /// # Errors
        /// A probability outside of `[0, 1]`, integer dtypes in training.
        ///
        /// PyTorch: `torch.nn.functional.dropout`.
        dropout(Tensor input, float p, bool train) -> Tensor;
        /// [`dropout`](fn@dropout) in place.
        ///
        /// PyTorch: `torch.nn.functional.dropout` with `inplace=True`.
        #[tags(nondeterministic_seeded)]
        dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!);

        /// [`dropout`](fn@dropout) that keeps the mean 0 and variance 1 of its input: dropped elements get the value
        /// that `selu` approaches at minus infinity, then all are scaled and shifted.
        ///
        /// # Errors
        /// A probability outside of `[0, 1]`, integer dtypes in training.
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
        /// The errors of [`dropout`](fn@dropout); an input of fewer than two dimensions.
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
        /// The errors of [`alpha_dropout`](fn@alpha_dropout); an input of fewer than two dimensions.
        ///
        /// PyTorch: `torch.nn.functional.feature_alpha_dropout`.
        feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor;
        /// [`feature_alpha_dropout`](fn@feature_alpha_dropout) in place.
        ///
        /// PyTorch: `torch.nn.functional.feature_alpha_dropout` with `inplace=True`.
        #[tags(nondeterministic_seeded)]
        feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!);
        /// [`dropout`](fn@dropout), and a mask of the elements that it kept; it is in training unless `train` is false.
        ///
        /// # Errors
        /// In training, a probability outside of `[0, 1]` and integer dtypes.
        ///
        /// PyTorch: `torch.native_dropout`.
        #[tags(nondeterministic_seeded)]
        native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor);
        /// The gradient of the input of [`native_dropout`](fn@native_dropout).
        ///
        /// PyTorch: `aten::native_dropout_backward`.
        #[tags(pointwise)]
        native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor;

        /// [`rms_norm`](fn@rms_norm), and the reciprocals of the root mean squares that it multiplies by. The sizes are
        /// not checked: only the number of dimensions in `normalized_shape` counts, and none means all.
        ///
        /// # Errors
        /// Integer and boolean dtypes.
        ///
        /// PyTorch: `aten::_fused_rms_norm`.
        _fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor);
        /// The gradients of input and weight of [`_fused_rms_norm`](fn@_fused_rms_norm); undefined tensors for those
        /// that `output_mask` does not ask for, and for a weight that is missing.
        ///
        /// PyTorch: `aten::_fused_rms_norm_backward`, which it has for accelerators only.
        _fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, Tensor? weight,
            bool[2] output_mask) -> (Tensor, Tensor);

        /// [`native_batch_norm`](fn@native_batch_norm), whose schema says that it writes the running statistics.
        ///
        /// # Errors
        /// The errors of [`native_batch_norm`](fn@native_batch_norm).
        ///
        /// PyTorch: `aten::_native_batch_norm_legit`.
        _native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean,
            Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor);
        /// [`_native_batch_norm_legit`](fn@_native_batch_norm_legit) without running statistics.
        ///
        /// # Errors
        /// The errors of [`_native_batch_norm_legit`](fn@_native_batch_norm_legit); `training=False`.
        ///
        /// PyTorch: `aten::_native_batch_norm_legit`.
        _native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training,
            float momentum, float eps) -> (Tensor, Tensor, Tensor);
        /// [`_native_batch_norm_legit`](fn@_native_batch_norm_legit) outside of training.
        ///
        /// # Errors
        /// The errors of [`_native_batch_norm_legit`](fn@_native_batch_norm_legit).
        ///
        /// PyTorch: `aten::_native_batch_norm_legit_no_training`.
        _native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean,
            Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor);
        /// The functional form of [`_native_batch_norm_legit`](fn@_native_batch_norm_legit): it returns the updated
        /// running statistics, and writes to no argument.
        ///
        /// # Errors
        /// The errors of [`_native_batch_norm_legit`](fn@_native_batch_norm_legit).
        ///
        /// PyTorch: `aten::_native_batch_norm_legit_functional`.
        _native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean,
            Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor,
            Tensor running_mean_out, Tensor running_var_out);
        /// [`native_batch_norm`](fn@native_batch_norm) in training. The last result is what a backend reserves for the
        /// gradient: here, it is empty.
        ///
        /// # Errors
        /// The errors of [`native_batch_norm`](fn@native_batch_norm).
        ///
        /// PyTorch: `aten::_batch_norm_with_update`.
        _batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean,
            Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor);
        /// The functional form of [`_batch_norm_with_update`](fn@_batch_norm_with_update): it returns the updated
        /// running statistics, and writes to no argument.
        ///
        /// # Errors
        /// The errors of [`_batch_norm_with_update`](fn@_batch_norm_with_update).
        ///
        /// PyTorch: `aten::_batch_norm_with_update_functional`.
        _batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean,
            Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor,
            Tensor running_mean_out, Tensor running_var_out);
        /// [`native_batch_norm`](fn@native_batch_norm) outside of training. The last result is what a backend reserves
        /// for the gradient: here, it is empty.
        ///
        /// # Errors
        /// The errors of [`native_batch_norm`](fn@native_batch_norm); missing running statistics.
        ///
        /// PyTorch: `aten::_batch_norm_no_update`.
        _batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean,
            Tensor? running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor);
        /// The gradients of input, weight and bias of [`_batch_norm_with_update`](fn@_batch_norm_with_update), or, if
        /// `update` is false, of [`_batch_norm_no_update`](fn@_batch_norm_no_update); undefined tensors for those that
        /// `output_mask` does not ask for.
        ///
        /// # Errors
        /// The errors of [`native_batch_norm_backward`](fn@native_batch_norm_backward).
        ///
        /// PyTorch: `aten::batch_norm_backward`.
        batch_norm_backward(Tensor grad_out, Tensor input, Tensor weight, Tensor? running_mean,
            Tensor? running_var, Tensor? save_mean, Tensor? save_var, bool update, float eps,
            bool[3] output_mask, Tensor reserve) -> (Tensor, Tensor, Tensor);
        /// The gradients of input, weight and bias of [`native_group_norm`](fn@native_group_norm); undefined tensors
        /// for those that `output_mask` does not ask for.
        ///
        /// # Errors
        /// An `N`, `C` or `HxW` that does not match the input, means or reciprocal standard deviations of other sizes.
        ///
        /// PyTorch: `aten::native_group_norm_backward`.
        native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight,
            SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor);
    }
}
