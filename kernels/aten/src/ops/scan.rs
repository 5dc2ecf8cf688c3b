//! Cumulative operators: sums, products and extremes of the elements so far.

use torch_library::torch_library;

torch_library! {
    /// Cumulative operators.
    #[methods(ScanMethods)]
    pub mod aten extends "aten" {
        /// The cumulative product along a dimension; integers and booleans give `int64`.
        ///
        /// # Errors
        /// A dimension out of range.
        ///
        /// PyTorch: `torch.cumprod`.
        cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor;
        /// The gradient of the input of [`cumprod`](fn@cumprod) along dimension `dim`, for its result `output`.
        ///
        /// PyTorch: `aten::cumprod_backward`.
        cumprod_backward(Tensor grad, Tensor input, int dim, Tensor output) -> Tensor;
        /// The cumulative sum along a dimension. For integers and booleans it is `int64`.
        ///
        /// PyTorch: `torch.cumsum`.
        cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor;
        /// The cumulative maximum along a dimension, and for each element the index of that maximum, the last one if
        /// there are several.
        ///
        /// # Errors
        /// A dimension out of range, a complex dtype.
        ///
        /// PyTorch: `torch.cummax`.
        cummax(Tensor self, int dim) -> (Tensor values, Tensor indices);
        /// [`cummax`](fn@cummax), written to two tensors of the input's sizes.
        ///
        /// # Errors
        /// The errors of [`cummax`](fn@cummax); tensors of other sizes, or of other dtypes than the results.
        ///
        /// PyTorch: `aten::_cummax_helper`.
        #[variants(function)]
        _cummax_helper(Tensor self, Tensor(a!) values, Tensor(b!) indices, int dim) -> ();
        /// The cumulative minimum along a dimension, and for each element the index of that minimum, the last one if
        /// there are several.
        ///
        /// # Errors
        /// A dimension out of range, a complex dtype.
        ///
        /// PyTorch: `torch.cummin`.
        cummin(Tensor self, int dim) -> (Tensor values, Tensor indices);
        /// [`cummin`](fn@cummin), written to two tensors of the input's sizes.
        ///
        /// # Errors
        /// The errors of [`cummin`](fn@cummin); tensors of other sizes, or of other dtypes than the results.
        ///
        /// PyTorch: `aten::_cummin_helper`.
        #[variants(function)]
        _cummin_helper(Tensor self, Tensor(a!) values, Tensor(b!) indices, int dim) -> ();
        /// The logarithm of the cumulative sum of exponentials along a dimension, without overflow.
        ///
        /// # Errors
        /// Integer and boolean dtypes.
        ///
        /// PyTorch: `torch.logcumsumexp`.
        logcumsumexp(Tensor self, int dim) -> Tensor;
        /// [`logcumsumexp`](fn@logcumsumexp) below its derivative.
        ///
        /// PyTorch: `aten::_logcumsumexp`.
        #[variants(function)]
        _logcumsumexp(Tensor self, int dim) -> Tensor;
    }
}
