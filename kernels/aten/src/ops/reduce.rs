//! Reductions: sums, means, products, extremes and their indices, variances, norms, `any` and `all`.
//!
//! Reduced dimensions are removed, or kept with size 1 if `keepdim` is true. If no dimensions are given, all are
//! reduced.

use torch_library::torch_library;

torch_library! {
    /// Reductions.
    #[methods(ReduceMethods)]
    pub mod aten extends "aten" {
        /// The sum of all elements; for integers and booleans it is an `int64`.
        ///
        /// PyTorch: `torch.sum`.
        sum(Tensor self, *, ScalarType? dtype=None) -> Tensor;
        /// The sums over some dimensions. For integers and booleans they are `int64`.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let x = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
        /// let rows = aten::sum_dim_IntList::with(&x, Some(&[1])).keepdim(true).call()?;
        /// assert_eq!((rows.sizes(), rows.to_vec::<f64>()?), (&[2, 1][..], vec![3.0, 7.0]));
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// PyTorch: `torch.sum`.
        #[variants(out = "IntList_out")]
        sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor;

        /// The sums over the dimensions that broadcasting expanded or added: the adjoint of `expand`.
        ///
        /// # Errors
        /// Sizes that do not broadcast to those of the tensor.
        ///
        /// PyTorch: `Tensor.sum_to_size`.
        sum_to_size(Tensor self, SymInt[] size) -> Tensor;

        /// The mean of all elements.
        ///
        /// # Errors
        /// Integer and boolean dtypes, unless a floating-point `dtype` is given.
        ///
        /// PyTorch: `torch.mean`.
        mean(Tensor self, *, ScalarType? dtype=None) -> Tensor;
        /// The means over some dimensions.
        ///
        /// # Errors
        /// The errors of [`mean`](fn@mean).
        ///
        /// PyTorch: `torch.mean`.
        #[variants(function)] // the method is in `methods`, with its options
        #[variants(out = "out")]
        mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor;

        /// The largest elements over some dimensions; NaN if there is one.
        ///
        /// # Errors
        /// A reduced dimension of size 0, a complex dtype.
        ///
        /// PyTorch: `torch.amax`.
        #[variants(function)] // the method is in `methods`, with its options
        #[variants(out)]
        amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor;
        /// The smallest elements over some dimensions; NaN if there is one.
        ///
        /// # Errors
        /// The errors of [`amax`](fn@amax).
        ///
        /// PyTorch: `torch.amin`.
        #[variants(function)] // the method is in `methods`, with its options
        #[variants(out)]
        amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor;
        /// The index of the largest element along a dimension, or in the flattened tensor; the first if there are
        /// several. The result is `int64`.
        ///
        /// # Errors
        /// A reduction over no elements, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.argmax`.
        #[variants(function)] // the method is in `methods`, with its options
        #[variants(out)]
        argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor;
        /// The index of the smallest element along a dimension, or in the flattened tensor; the first if there are
        /// several. The result is `int64`.
        ///
        /// # Errors
        /// The errors of [`argmax`](fn@argmax).
        ///
        /// PyTorch: `torch.argmin`.
        #[variants(out)]
        argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor;
        /// The product of all elements; for integers and booleans it is `int64`.
        ///
        /// PyTorch: `torch.prod`.
        #[variants(out)]
        prod(Tensor self, *, ScalarType? dtype=None) -> Tensor;
        /// The products over one dimension. For integers and booleans they are `int64`.
        ///
        /// PyTorch: `torch.prod`.
        #[variants(out = "int_out")]
        prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor;
        /// Whether any element is nonzero. The result is boolean, or `uint8` for `uint8`.
        ///
        /// PyTorch: `torch.any`.
        any(Tensor self) -> Tensor;
        /// Whether any element is nonzero, over one dimension.
        ///
        /// PyTorch: `torch.any`.
        any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor;
        /// Whether any element is nonzero, over some dimensions.
        ///
        /// PyTorch: `torch.any`.
        #[variants(out)]
        any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor;
        /// Whether all elements are nonzero. The result is boolean, or `uint8` for `uint8`.
        ///
        /// PyTorch: `torch.all`.
        all(Tensor self) -> Tensor;
        /// Whether all elements are true, for the assertions of exported programs.
        ///
        /// # Errors
        /// A dtype that is not boolean.
        ///
        /// PyTorch: `aten::_is_all_true`.
        _is_all_true(Tensor self) -> Tensor;
        /// Whether any element is true, for the assertions of exported programs.
        ///
        /// # Errors
        /// A dtype that is not boolean.
        ///
        /// PyTorch: `aten::_is_any_true`.
        _is_any_true(Tensor self) -> Tensor;
        /// Whether all elements are nonzero, over one dimension.
        ///
        /// PyTorch: `torch.all`.
        all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor;
        /// Whether all elements are nonzero, over some dimensions.
        ///
        /// PyTorch: `torch.all`.
        #[variants(out)]
        all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor;
        /// The number of nonzero elements, over some dimensions.
        ///
        /// PyTorch: `torch.count_nonzero`.
        count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor;
        /// The number of nonzero elements, over one dimension or all.
        ///
        /// PyTorch: `torch.count_nonzero`.
        count_nonzero(Tensor self, int? dim=None) -> Tensor;
        /// The largest element; NaN if there is one.
        ///
        /// # Errors
        /// A tensor without elements, a complex dtype.
        ///
        /// PyTorch: `torch.max`.
        max(Tensor self) -> Tensor;
        /// The largest elements over one dimension, and for each the first index at which it occurs.
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
        /// # Errors
        /// A reduction over no elements, a complex dtype.
        ///
        /// PyTorch: `torch.max`.
        max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices);
        /// The larger of two elements; an alias for [`maximum`].
        ///
        /// PyTorch: `torch.max`.
        max.other(Tensor self, Tensor other) -> Tensor;
        /// The smallest element; NaN if there is one.
        ///
        /// # Errors
        /// A tensor without elements, a complex dtype.
        ///
        /// PyTorch: `torch.min`.
        min(Tensor self) -> Tensor;
        /// The smallest elements over one dimension, and for each the first index at which it occurs.
        ///
        /// # Errors
        /// A reduction over no elements, a complex dtype.
        ///
        /// PyTorch: `torch.min`.
        min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices);
        /// The smaller of two elements; an alias for [`minimum`].
        ///
        /// PyTorch: `torch.min`.
        min.other(Tensor self, Tensor other) -> Tensor;
        /// The variance: the sum of squared deviations, divided by the number of elements minus `correction` (1 unless
        /// given).
        ///
        /// # Errors
        /// Integer and boolean dtypes.
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
        /// The standard deviation: the square root of [`var_correction`].
        ///
        /// # Errors
        /// Integer and boolean dtypes.
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
        /// The standard deviation and the mean of all elements.
        ///
        /// # Errors
        /// Integer and boolean dtypes.
        ///
        /// PyTorch: `torch.std_mean`.
        std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor);
        /// The standard deviations and means over some dimensions.
        ///
        /// # Errors
        /// Integer and boolean dtypes.
        ///
        /// PyTorch: `torch.std_mean`.
        std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor);
        /// The standard deviations and means over some dimensions, with a `correction` (1 unless given).
        ///
        /// # Errors
        /// Integer and boolean dtypes.
        ///
        /// PyTorch: `torch.std_mean`.
        std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None,
            bool keepdim=False) -> (Tensor, Tensor);
        /// The variance and the mean of all elements.
        ///
        /// # Errors
        /// Integer and boolean dtypes.
        ///
        /// PyTorch: `torch.var_mean`.
        var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor);
        /// The variances and means over some dimensions.
        ///
        /// # Errors
        /// Integer and boolean dtypes.
        ///
        /// PyTorch: `torch.var_mean`.
        var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor);
        /// The variance and the mean, with a `correction` as in [`var_correction`].
        ///
        /// PyTorch: `torch.var_mean`.
        var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None,
            bool keepdim=False) -> (Tensor, Tensor);
        /// A copy in which the slices along a dimension whose norm of order `p` exceeds `maxnorm` are scaled down to
        /// it.
        ///
        /// # Errors
        /// Fewer than two dimensions, an order that is not positive, a negative or complex `maxnorm`, integer dtypes.
        ///
        /// PyTorch: `torch.renorm`.
        renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor;
        /// The norm of order `p` of the difference of two tensors, which broadcast.
        ///
        /// # Errors
        /// Integer and boolean dtypes, sizes that do not broadcast.
        ///
        /// PyTorch: `torch.dist`.
        dist(Tensor self, Tensor other, Scalar p=2) -> Tensor;
        /// The vector norm of order `ord`: the `ord`-th root of the sum of the magnitudes to that power. Infinite
        /// orders give the largest or smallest magnitude, 0 the number of nonzero elements.
        ///
        /// # Errors
        /// Dtypes that are neither floating-point nor complex, a complex order, a `dtype` that the input cannot be
        /// converted to without loss; over no elements, a negative or infinite order.
        ///
        /// PyTorch: `torch.linalg.vector_norm`.
        linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *,
            ScalarType? dtype=None) -> Tensor;
        /// The sum of the magnitudes to the power of `ord`: a vector norm before its root is taken, so that parts of a
        /// vector can be added up. Unlike the norm of order 0, this counts zeros, too: 0 to the power of 0 is 1.
        ///
        /// # Errors
        /// Integer and boolean dtypes, unless `dtype` is another; a complex order.
        ///
        /// PyTorch: `aten::linalg__powsum`.
        linalg__powsum(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *,
            ScalarType? dtype=None) -> Tensor;
        /// The norm of order `p` of all elements.
        ///
        /// # Errors
        /// The errors of [`linalg_vector_norm`](fn@linalg_vector_norm).
        ///
        /// PyTorch: `torch.norm`.
        norm.Scalar(Tensor self, Scalar p=2) -> Tensor;
        /// The norm of order `p` over some dimensions.
        ///
        /// PyTorch: `torch.norm`.
        norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor;
        /// The norm of order `p` of all elements, computed in `dtype`.
        ///
        /// PyTorch: `torch.norm`.
        norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor;
        /// The norm of order `p` over some dimensions, computed in `dtype`.
        ///
        /// PyTorch: `torch.norm`.
        norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor;
        /// The logarithm of the sum of exponentials over some dimensions, without overflow.
        ///
        /// PyTorch: `torch.logsumexp`.
        logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor;
        /// Whether two tensors have the same sizes and elements.
        ///
        /// # Errors
        /// Elements that the host cannot access.
        ///
        /// PyTorch: `torch.equal`.
        equal(Tensor self, Tensor other) -> bool;

        /// A hash: the exclusive or of the bits of the elements, of floating-point ones as `float64`. Equal tensors
        /// have equal hashes.
        ///
        /// # Errors
        /// A complex dtype, a reduction over no elements, a `mode` other than 0.
        ///
        /// PyTorch: `torch.hash_tensor`.
        #[variants(function)]
        hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor;

        /// The sums of the elements that are not NaN.
        ///
        /// # Errors
        /// Complex dtypes.
        ///
        /// PyTorch: `torch.nansum`.
        nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor;
        /// The means of the elements that are not NaN.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.nanmean`.
        nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor;
        /// The smallest and the largest element along a dimension, or of all elements.
        ///
        /// # Errors
        /// A reduction over no elements, a complex dtype.
        ///
        /// PyTorch: `torch.aminmax`.
        aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max);
        /// [`aminmax`](fn@aminmax) of all elements, without a derivative.
        ///
        /// PyTorch: `torch._aminmax`, which is deprecated.
        _aminmax(Tensor self) -> (Tensor, Tensor);
        /// [`aminmax`](fn@aminmax) along a dimension, without a derivative.
        ///
        /// PyTorch: `torch._aminmax`, which is deprecated.
        _aminmax.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor);
        /// The differences between neighbours along a dimension, taken `n` times.
        ///
        /// # Errors
        /// A tensor without dimensions, a negative `n`.
        ///
        /// PyTorch: `torch.diff`.
        diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor;
    }
}
