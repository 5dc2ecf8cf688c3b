//! The operators behind PyTorch's `linear_cross_entropy`, which defines them in Python.

use torch_library::torch_library;

torch_library! {
    /// Operators that PyTorch's `torch.nn` defines in Python.
    ///
    /// PyTorch: `torch.ops.torch_nn`.
    pub mod torch_nn {
        /// The mean or sum of the cross entropy of a linear layer's logits, `input · linear_weightᵀ + linear_bias`, and
        /// its gradients, in chunks of `batch_chunk_size` rows.
        ///
        /// `input` has the sizes `[N, F]`, `linear_weight` `[C, F]`, `linear_bias` and the weight of each class `[C]`.
        /// `target` has either classes, `int64[N]`, where `ignore_index` stands for none, or probabilities of the
        /// classes, `[N, C]`. Products of 16-bit floats are computed and added up in `acc_dtype`, which is `float32`;
        /// otherwise it is the dtype of `input`.
        ///
        /// The result is the loss, and its gradients with respect to `input`, `linear_weight` and `linear_bias` as far
        /// as the last three arguments ask for them; otherwise they are empty. `acc_policy` and `allow_retain_graph`
        /// change nothing: gradients are always added up in `acc_dtype`, and a graph may always be retained.
        ///
        /// # Errors
        /// Sizes or dtypes that do not match; a `reduction` other than `"mean"` and `"sum"`; label smoothing. In the
        /// backward pass: a gradient that was not asked for, or a second derivative.
        ///
        /// PyTorch: `torch.nn.functional.linear_cross_entropy` with `options`.
        _linear_cross_entropy_batch_chunked(
            Tensor input, Tensor linear_weight, Tensor target, Tensor? linear_bias, Tensor? weight, str reduction,
            SymInt ignore_index, float label_smoothing, SymInt batch_chunk_size, str acc_policy, ScalarType acc_dtype,
            bool allow_retain_graph, bool compute_input_grad, bool compute_linear_weight_grad,
            bool compute_linear_bias_grad
        ) -> (Tensor, Tensor, Tensor, Tensor);
        /// The cross entropy of each row, `[N]`. Gradients are computed in the backward pass, which computes the logits
        /// again. Arguments are those of
        /// [`_linear_cross_entropy_batch_chunked`](fn@_linear_cross_entropy_batch_chunked).
        ///
        /// # Errors
        /// Sizes or dtypes that do not match.
        ///
        /// PyTorch: `torch.nn.functional.linear_cross_entropy` with `options` and `reduction="none"`.
        _linear_cross_entropy_batch_chunked_no_reduction(
            Tensor input, Tensor linear_weight, Tensor target, Tensor? linear_bias, Tensor? weight,
            SymInt ignore_index, SymInt batch_chunk_size, str acc_policy, ScalarType acc_dtype
        ) -> Tensor;
    }
}
