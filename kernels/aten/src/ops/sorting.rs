//! Sorting, medians, quantiles and other elements by their rank.

use torch_library::torch_library;

torch_library! {
    /// Sorting.
    #[methods(SortingMethods)]
    pub mod aten extends "aten" {
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
        /// The indices that sort the elements along a dimension; with `stable`, equal elements keep their order.
        ///
        /// # Errors
        /// A dimension out of range, a complex dtype.
        ///
        /// PyTorch: `torch.argsort`.
        argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor;
        /// Sorts the elements along a dimension, and returns them with their previous indices. With `stable`, equal
        /// elements keep their order, otherwise they may be in any (in lines of up to 4 096 elements they are in that
        /// of PyTorch); NaN counts as the largest.
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
        /// The `k` largest (or smallest) elements along a dimension, and their indices, which are `int64`: in order, or
        /// without `sorted` in that in which PyTorch finds them.
        ///
        /// # Errors
        /// A `k` that is negative or above the size of the dimension, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.topk`.
        topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices);
    }
}
