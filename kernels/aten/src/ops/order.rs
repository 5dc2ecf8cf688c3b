//! Order statistics: sorting, medians, quantiles, cumulative sums and extremes, distinct elements, binary search.

use torch_library::torch_library;

torch_library! {
    /// Order statistics, on top of the operators declared before.
    #[methods(OrderMethods)]
    pub mod aten extends super::bucketization::aten {
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
        /// The `k`-th smallest element along a dimension, with `k` counted from 1, and its index.
        ///
        /// # Errors
        /// A `k` that is not between 1 and the size of the dimension, a boolean or complex dtype.
        ///
        /// PyTorch: `torch.kthvalue`.
        kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices);
        /// The median of all elements: the smaller of the two in the middle, or NaN if any element is NaN or there are
        /// none.
        ///
        /// # Errors
        /// Boolean and complex dtypes.
        ///
        /// PyTorch: `torch.median`.
        median(Tensor self) -> Tensor;
        /// The medians along a dimension, and their indices.
        ///
        /// # Errors
        /// A reduction over no elements, a boolean or complex dtype.
        ///
        /// PyTorch: `torch.median`.
        median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices);
        /// The median of all elements that are not NaN; NaN if there are none.
        ///
        /// # Errors
        /// Boolean and complex dtypes.
        ///
        /// PyTorch: `torch.nanmedian`.
        nanmedian(Tensor self) -> Tensor;
        /// The medians along a dimension of the elements that are not NaN, and their indices.
        ///
        /// # Errors
        /// A reduction over no elements, a boolean or complex dtype.
        ///
        /// PyTorch: `torch.nanmedian`.
        nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices);
        /// The most frequent element along a dimension, the smallest if there are several, and the last index at which
        /// it occurs.
        ///
        /// # Errors
        /// A reduction over no elements, a complex dtype.
        ///
        /// PyTorch: `torch.mode`.
        mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices);
        /// The quantiles `q`, from 0 to 1, along a dimension or of all elements. If `q` is a vector, the quantiles are
        /// the first dimension of the result.
        ///
        /// # Errors
        /// Dtypes other than `float32` and `float64`, a `q` of another dtype, outside of `[0, 1]` or of more than one
        /// dimension, a tensor without elements, an `interpolation` other than `"linear"`, `"lower"`, `"higher"`,
        /// `"midpoint"` and `"nearest"`.
        ///
        /// PyTorch: `torch.quantile`.
        quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor;
        /// [`quantile`](fn@quantile) for a scalar `q`.
        ///
        /// # Errors
        /// The errors of [`quantile`](fn@quantile).
        ///
        /// PyTorch: `torch.quantile`.
        quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *,
            str interpolation="linear") -> Tensor;
        /// [`quantile`](fn@quantile) of the elements that are not NaN.
        ///
        /// # Errors
        /// The errors of [`quantile`](fn@quantile).
        ///
        /// PyTorch: `torch.nanquantile`.
        nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor;
        /// [`nanquantile`](fn@nanquantile) for a scalar `q`.
        ///
        /// # Errors
        /// The errors of [`quantile`](fn@quantile).
        ///
        /// PyTorch: `torch.nanquantile`.
        nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *,
            str interpolation="linear") -> Tensor;
        /// The tensor sorted along its first dimension.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.msort`.
        msort(Tensor self) -> Tensor;
        /// The indices that sort the elements along a dimension; equal elements keep their order.
        ///
        /// # Errors
        /// A dimension out of range, a complex dtype.
        ///
        /// PyTorch: `torch.argsort`.
        argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor;
        /// Sorts the elements along a dimension, and returns them with their previous indices. Equal elements keep
        /// their order; NaN counts as the largest.
        ///
        /// # Errors
        /// A dimension out of range, a complex dtype.
        ///
        /// PyTorch: `torch.sort`.
        sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices);
        /// Sorts the elements along a dimension, and returns them with their previous indices.
        ///
        /// PyTorch: `torch.sort`.
        sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices);
        /// The indices that sort the elements along a dimension.
        ///
        /// PyTorch: `torch.argsort`.
        argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor;
        /// The `k` largest (or smallest) elements along a dimension, in order, and their indices. The indices are
        /// `int64`.
        ///
        /// # Errors
        /// A `k` that is negative or above the size of the dimension, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.topk`.
        topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices);
    }
}
