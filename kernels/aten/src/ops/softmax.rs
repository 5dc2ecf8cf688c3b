//! Softmax and its logarithm.

use torch_library::torch_library;

torch_library! {
    /// Softmax.
    #[methods(SoftmaxMethods)]
    #[overloads(function)]
    #[kernels_in(torch_library_nn)]
    pub mod aten extends "aten" {
        /// The softmax along a dimension: exponentials, divided by their sum. The input is converted to `dtype` first,
        /// if it is given.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.softmax`.
        softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor;
        /// The operator behind [`softmax_int`](fn@softmax_int).
        ///
        /// PyTorch: `aten::_softmax`.
        _softmax(Tensor self, int dim, bool half_to_float) -> Tensor;
        /// The logarithm of the softmax, more precise than both steps one after the other.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.log_softmax`.
        log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor;
        /// The operator behind [`log_softmax_int`](fn@log_softmax_int).
        ///
        /// PyTorch: `aten::_log_softmax`.
        _log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor;
        /// The gradient of the input of [`_softmax`], from its result.
        ///
        /// PyTorch: `aten::_softmax_backward_data`.
        _softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor;
        /// The gradient of the input of [`_log_softmax`], from its result.
        ///
        /// PyTorch: `aten::_log_softmax_backward_data`.
        _log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor;
        /// [`softmax_int`](fn@softmax_int), with zeros where a whole row is minus infinity.
        ///
        /// # Errors
        /// Dtypes that are not floating-point.
        ///
        /// PyTorch: `aten::_safe_softmax`.
        _safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor;
    }
}
