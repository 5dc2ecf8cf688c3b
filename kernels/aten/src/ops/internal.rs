//! Internal operators: those that PyTorch's other operators call, and gradients as functions that have derivatives.

use torch_library::torch_library;

torch_library! {
    /// Internal operators, on top of the operators declared before.
    pub mod aten extends super::metadata::aten {
        /// [`stack`](fn@stack), where a backend has a kernel of its own for it.
        ///
        /// PyTorch: `aten::_stack`.
        _stack(Tensor[] tensors, int dim=0) -> Tensor;
        /// [`logcumsumexp`](fn@logcumsumexp) below its derivative.
        ///
        /// PyTorch: `aten::_logcumsumexp`.
        _logcumsumexp(Tensor self, int dim) -> Tensor;
        /// [`cummax`](fn@cummax), written to two tensors of the input's sizes.
        ///
        /// # Errors
        /// The errors of [`cummax`](fn@cummax); tensors of other sizes, or of other dtypes than the results.
        ///
        /// PyTorch: `aten::_cummax_helper`.
        _cummax_helper(Tensor self, Tensor(a!) values, Tensor(b!) indices, int dim) -> ();
        /// [`cummin`](fn@cummin), written to two tensors of the input's sizes.
        ///
        /// # Errors
        /// The errors of [`cummin`](fn@cummin); tensors of other sizes, or of other dtypes than the results.
        ///
        /// PyTorch: `aten::_cummin_helper`.
        _cummin_helper(Tensor self, Tensor(a!) values, Tensor(b!) indices, int dim) -> ();
        /// [`clone`](fn@clone), which some backends put off until one of the two tensors is written to.
        ///
        /// PyTorch: `aten::_lazy_clone`.
        _lazy_clone(Tensor self) -> Tensor;
        /// [`reshape`](fn@reshape) that always copies.
        ///
        /// PyTorch: `aten::_reshape_copy`.
        _reshape_copy(Tensor self, SymInt[] size) -> Tensor;
        /// [`reshape`](fn@reshape) to the sizes in a vector of `int64`.
        ///
        /// # Errors
        /// Another dtype or number of dimensions of `shape`; the errors of [`reshape`](fn@reshape).
        ///
        /// PyTorch: `torch._reshape_from_tensor`.
        _reshape_from_tensor(Tensor self, Tensor shape) -> Tensor;
        /// The sizes as a vector of `int64`.
        ///
        /// PyTorch: `torch._shape_as_tensor`.
        _shape_as_tensor(Tensor self) -> Tensor;
        /// The indices along a dimension: the numbers from 0 up to its size.
        ///
        /// # Errors
        /// A dimension out of range.
        ///
        /// PyTorch: `torch._dim_arange`.
        _dim_arange(Tensor like, int dim) -> Tensor;
        /// [`pad`](fn@pad) with `"circular"`.
        ///
        /// PyTorch: `aten::_pad_circular`.
        _pad_circular(Tensor self, SymInt[] pad) -> Tensor;
        /// [`pad`](fn@pad) with the mode as a number: 0 reflects, 1 replicates, 2 is circular, 3 pads with `value`.
        ///
        /// # Errors
        /// Another mode; the errors of [`pad`](fn@pad).
        ///
        /// PyTorch: `aten::_pad_enum`.
        _pad_enum(Tensor self, SymInt[] pad, int mode, float? value=None) -> Tensor;
        /// The sum of `self` and `alpha` times `other`, or zero where that is not positive.
        ///
        /// # Errors
        /// A result of another dtype than `float32`, `float64`, `int8`, `int32` and `int64`.
        ///
        /// PyTorch: `aten::_add_relu`.
        _add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor;
        /// [`_add_relu_Tensor`](fn@_add_relu_Tensor) with a number.
        ///
        /// PyTorch: `aten::_add_relu`.
        _add_relu.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor;
        /// Sums of the slices of `input` along its first dimension, times the numbers in the rows of `coefficients`: a
        /// slice of the result for each row.
        ///
        /// # Errors
        /// Coefficients that are not a matrix with a column for each slice, no elements, different dtypes.
        ///
        /// PyTorch: `torch._compute_linear_combination`.
        _compute_linear_combination(Tensor input, Tensor coefficients) -> Tensor;
        /// [`cholesky_solve`](fn@cholesky_solve) for matrices of one batch.
        ///
        /// # Errors
        /// Different batch sizes; the errors of [`cholesky_solve`](fn@cholesky_solve).
        ///
        /// PyTorch: `torch._cholesky_solve_helper`.
        _cholesky_solve_helper(Tensor self, Tensor A, bool upper) -> Tensor;
        /// The elements of all tensors as one vector, one tensor after the other.
        ///
        /// # Errors
        /// No tensors.
        ///
        /// PyTorch: `aten::flatten_dense_tensors`.
        flatten_dense_tensors(Tensor[] tensors) -> Tensor;
        /// The parts of a vector that [`flatten_dense_tensors`](fn@flatten_dense_tensors) makes of tensors of these
        /// sizes, as views.
        ///
        /// # Errors
        /// Fewer elements than the tensors have.
        ///
        /// PyTorch: `aten::unflatten_dense_tensors`.
        unflatten_dense_tensors(Tensor flat, Tensor[] tensors) -> Tensor[];
        /// The gradient of [`gelu`](fn@gelu), made of operators that have all derivatives.
        ///
        /// PyTorch: `aten::infinitely_differentiable_gelu_backward`.
        infinitely_differentiable_gelu_backward(Tensor grad, Tensor self) -> Tensor;
        /// The gradients of [`_weight_norm_interface`](fn@_weight_norm_interface), made of operators that have all
        /// derivatives.
        ///
        /// # Errors
        /// A `dim` that is neither the first nor the last.
        ///
        /// PyTorch: `aten::_weight_norm_differentiable_backward`.
        _weight_norm_differentiable_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, Tensor saved_norms,
            int dim) -> (Tensor, Tensor);
        /// The gradients of input, weight and bias of [`conv_tbc`](fn@conv_tbc), from that of its result.
        ///
        /// # Errors
        /// Tensors that do not have three dimensions, sizes that do not match.
        ///
        /// PyTorch: `aten::conv_tbc_backward`.
        conv_tbc_backward(Tensor self, Tensor input, Tensor weight, Tensor bias,
            int pad) -> (Tensor, Tensor, Tensor);
        /// [`native_batch_norm`](fn@native_batch_norm); also returns memory for the gradient, which has no elements
        /// here, and the number of the implementation, which is 0.
        ///
        /// PyTorch: `aten::_batch_norm_impl_index`.
        _batch_norm_impl_index(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean,
            Tensor? running_var, bool training, float momentum, float eps,
            bool cudnn_enabled) -> (Tensor, Tensor, Tensor, Tensor, int);
        /// The gradient of [`_batch_norm_impl_index`](fn@_batch_norm_impl_index).
        ///
        /// # Errors
        /// The number of another implementation.
        ///
        /// PyTorch: `aten::_batch_norm_impl_index_backward`.
        _batch_norm_impl_index_backward(int impl_index, Tensor input, Tensor grad_output, Tensor? weight,
            Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_var_transform, bool train,
            float eps, bool[3] output_mask, Tensor reservedSpace) -> (Tensor, Tensor, Tensor);
    }
}
