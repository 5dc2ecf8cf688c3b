//! Operators that summarise or order elements: products, extremes with their places, deviations, norms, sorting.
//!
//! Reduced dimensions are gone in the result, or of size 1 with `keepdim`. No dimensions given means all of them.

use torch_library::torch_library;

torch_library! {
    /// Statistics and order, on top of what was declared before.
    #[methods(StatisticsMethods)]
    pub mod aten extends super::reduce::aten {
        /// The product of all elements; of whole numbers and booleans it is `int64`.
        ///
        /// PyTorch: `torch.prod`.
        #[variants(out)]
        prod(Tensor self, *, ScalarType? dtype=None) -> Tensor;
        /// The products over one dimension.
        ///
        /// PyTorch: `torch.prod`.
        #[variants(out = "int_out")]
        prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor;

        /// Whether an element is not zero.
        ///
        /// PyTorch: `torch.any`.
        any(Tensor self) -> Tensor;
        /// Whether an element is not zero, over one dimension.
        ///
        /// PyTorch: `torch.any`.
        any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor;
        /// Whether an element is not zero, over some dimensions.
        ///
        /// PyTorch: `torch.any`.
        #[variants(out)]
        any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor;
        /// Whether no element is zero.
        ///
        /// PyTorch: `torch.all`.
        all(Tensor self) -> Tensor;
        /// Whether no element is zero, over one dimension.
        ///
        /// PyTorch: `torch.all`.
        all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor;
        /// Whether no element is zero, over some dimensions.
        ///
        /// PyTorch: `torch.all`.
        #[variants(out)]
        all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor;
        /// How many elements are not zero, over some dimensions.
        ///
        /// PyTorch: `torch.count_nonzero`.
        count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor;
        /// How many elements are not zero, over one dimension or all.
        ///
        /// PyTorch: `torch.count_nonzero`.
        count_nonzero(Tensor self, int? dim=None) -> Tensor;

        /// The largest element.
        ///
        /// # Errors
        /// No elements.
        ///
        /// PyTorch: `torch.max`.
        max(Tensor self) -> Tensor;
        /// The largest elements over one dimension, and the index of the first of each.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let (values, indices) = aten::max_dim(&Tensor::from([[1, 5], [9, 2]]), 1)?;
        /// assert_eq!((values.to_vec::<i32>()?, indices.to_vec::<i64>()?), (vec![5, 9], vec![1, 0]));
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// PyTorch: `torch.max`.
        max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices);
        /// The larger of two elements; [`maximum`] under its older name.
        ///
        /// PyTorch: `torch.max`.
        max.other(Tensor self, Tensor other) -> Tensor;
        /// The smallest element.
        ///
        /// # Errors
        /// No elements.
        ///
        /// PyTorch: `torch.min`.
        min(Tensor self) -> Tensor;
        /// The smallest elements over one dimension, and the index of the first of each.
        ///
        /// PyTorch: `torch.min`.
        min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices);
        /// The smaller of two elements; [`minimum`] under its older name.
        ///
        /// PyTorch: `torch.min`.
        min.other(Tensor self, Tensor other) -> Tensor;

        /// The variance, dividing by the number of elements less `correction` (1 unless given).
        ///
        /// PyTorch: `torch.var`.
        var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor;
        /// The variance of all elements.
        ///
        /// PyTorch: `torch.var`.
        var(Tensor self, bool unbiased=True) -> Tensor;
        /// The variance over some dimensions.
        ///
        /// PyTorch: `torch.var`.
        var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor;
        /// The standard deviation, the root of [`var_correction`].
        ///
        /// PyTorch: `torch.std`.
        std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor;
        /// The standard deviation of all elements.
        ///
        /// PyTorch: `torch.std`.
        std(Tensor self, bool unbiased=True) -> Tensor;
        /// The standard deviation over some dimensions.
        ///
        /// PyTorch: `torch.std`.
        std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor;
        /// The variance and the mean.
        ///
        /// PyTorch: `torch.var_mean`.
        var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None,
            bool keepdim=False) -> (Tensor, Tensor);

        /// The slices along a dimension, those whose norm of order `p` is larger than `maxnorm` scaled down to it.
        ///
        /// # Errors
        /// Fewer than two dimensions, an order of 0 or less, a negative norm, complex ones, integers.
        ///
        /// PyTorch: `torch.renorm`.
        renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor;
        /// The norm of order `p` of the difference of two tensors, which broadcast.
        ///
        /// PyTorch: `torch.dist`.
        dist(Tensor self, Tensor other, Scalar p=2) -> Tensor;
        /// The norm of order `ord`: the `ord`-th root of the sum of that power; infinite orders are the extremes, 0
        /// counts.
        ///
        /// PyTorch: `torch.linalg.vector_norm`.
        linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *,
            ScalarType? dtype=None) -> Tensor;
        /// The norm of all elements.
        ///
        /// PyTorch: `torch.norm`.
        norm.Scalar(Tensor self, Scalar p=2) -> Tensor;
        /// The norm over some dimensions.
        ///
        /// PyTorch: `torch.norm`.
        norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor;
        /// The norm of all elements, computed in a type.
        ///
        /// PyTorch: `torch.norm`.
        norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor;
        /// The norm over some dimensions, computed in a type.
        ///
        /// PyTorch: `torch.norm`.
        norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor;
        /// The logarithm of the sum of exponentials, without overflow.
        ///
        /// PyTorch: `torch.logsumexp`.
        logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor;

        /// The sums of each element and those before it in a dimension.
        ///
        /// PyTorch: `torch.cumsum`.
        cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor;
        /// The elements along a dimension in order, and the indices they had; equals keep theirs, NaN counts as
        /// largest.
        ///
        /// PyTorch: `torch.sort`.
        sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices);
        /// The elements along a dimension in order, and the indices they had.
        ///
        /// PyTorch: `torch.sort`.
        sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices);
        /// The indices that put the elements along a dimension in order.
        ///
        /// PyTorch: `torch.argsort`.
        argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor;
        /// The `k` largest (or smallest) elements along a dimension in order, and their indices.
        ///
        /// # Errors
        /// A `k` beyond the size of the dimension.
        ///
        /// PyTorch: `torch.topk`.
        topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices);
        /// Whether two tensors have the same sizes and elements.
        ///
        /// PyTorch: `torch.equal`.
        equal(Tensor self, Tensor other) -> bool;
    }
}
