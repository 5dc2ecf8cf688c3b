//! Operators that write or accumulate elements at positions given by an index or a mask.

use torch_library::torch_library;

torch_library! {
    /// Writing by index and by mask.
    #[methods(ScatterMethods)]
    #[overloads(function)]
    pub mod aten extends "aten" {
        /// A copy with `value` where `mask` is true; both tensors broadcast.
        ///
        /// # Errors
        /// A mask that is not boolean, a value that the dtype cannot hold.
        ///
        /// PyTorch: `torch.masked_fill`.
        #[tags(pointwise)]
        masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor;
        /// A copy with the only element of `value` where `mask` is true; tensor and mask broadcast.
        ///
        /// # Errors
        /// The errors of [`masked_fill_Scalar`](fn@masked_fill_Scalar); a `value` with dimensions.
        ///
        /// PyTorch: `torch.masked_fill`.
        #[tags(pointwise)]
        masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor;
        /// Writes `value` where `mask` is true; the mask broadcasts to the tensor.
        ///
        /// # Errors
        /// The errors of [`masked_fill_Scalar`]; a mask that does not broadcast to the tensor.
        ///
        /// PyTorch: `Tensor.masked_fill_`.
        #[tags(pointwise)]
        masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!);
        /// Writes the only element of `value` where `mask` is true.
        ///
        /// PyTorch: `Tensor.masked_fill_`.
        #[tags(pointwise)]
        masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!);

        /// A copy with the elements of `src` written to the positions that `index` gives along dimension `dim`: for
        /// three dimensions and `dim` 1, `out[i, index[i, j, k], k] = src[i, j, k]`.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let (x, index) = (Tensor::from([0.0, 0.0, 0.0]), Tensor::from([2i64, 0]));
        /// let out = aten::scatter_src(&x, 0, &index, &Tensor::from([1.0, 2.0]))?;
        /// assert_eq!(out.to_vec::<f64>()?, [2.0, 0.0, 1.0]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// An index out of range or of another dtype than `int64` and `int32`, one that is larger than `src`, or than
        /// `self` in another dimension than `dim`, a `src` of another dtype.
        ///
        /// PyTorch: `torch.scatter`.
        scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor;
        /// A copy with one value written to the positions that `index` gives.
        ///
        /// # Errors
        /// The errors of [`scatter_src`](fn@scatter_src); a value that the dtype cannot hold.
        ///
        /// PyTorch: `torch.scatter`.
        scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor;
        /// Writes the elements of `src` to the positions that `index` gives.
        ///
        /// PyTorch: `Tensor.scatter_`.
        scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!);
        /// Writes one value to the positions that `index` gives.
        ///
        /// PyTorch: `Tensor.scatter_`.
        scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!);
        /// A copy with the elements of `source` written to indices into the flattened tensor, or added there with
        /// `accumulate`.
        ///
        /// # Errors
        /// An index out of range or of another dtype than `int64`, a `source` of another dtype or with another number
        /// of elements than the index.
        ///
        /// PyTorch: `torch.put`.
        put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor;
        /// Writes the elements of `source` to indices into the flattened tensor, or adds them there with `accumulate`.
        ///
        /// PyTorch: `Tensor.put_`.
        put_(Tensor(a!) self, Tensor index, Tensor source, bool accumulate=False) -> Tensor(a!);
        /// A copy with the elements of `src` added at the positions that `index` gives.
        ///
        /// # Errors
        /// The errors of [`scatter_src`](fn@scatter_src).
        ///
        /// PyTorch: `torch.scatter_add`.
        scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor;
        /// Adds the elements of `src` at the positions that `index` gives.
        ///
        /// PyTorch: `Tensor.scatter_add_`.
        scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!);

        /// A copy in which the slices of `alpha * source` are added to the slices at a vector of indices.
        ///
        /// # Errors
        /// An index that is negative or out of range, not a vector, or of another dtype than `int64` and `int32`; a
        /// `source` of another dtype, or whose slices are not one for each index or have other sizes.
        ///
        /// PyTorch: `torch.index_add`.
        index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor;
        /// Adds the slices of `alpha * source` to the slices at a vector of indices.
        ///
        /// PyTorch: `Tensor.index_add_`.
        index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!);

        /// A copy with `values`, which broadcast, written to the positions that [`index_Tensor`] reads, or added with
        /// `accumulate`.
        ///
        /// # Errors
        /// The errors of [`index_Tensor`](fn@crate::aten::index_Tensor); `values` of another dtype, or that do not
        /// broadcast to the positions.
        ///
        /// PyTorch: `torch.index_put`.
        index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor;
        /// Writes `values`, which broadcast, to the positions that [`index_Tensor`] reads, or adds them with
        /// `accumulate`.
        ///
        /// If several values have the same position, any of them may remain, unless they are added.
        ///
        /// PyTorch: `Tensor.index_put_`, `x[indices] = values`.
        index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!);

        /// The gradient of the weight of [`embedding`]: zeros, to whose rows those of `grad_output` are added.
        ///
        /// The row `padding_idx` gets no gradient; with `scale_grad_by_freq`, the gradient of a row is divided by the
        /// number of its look-ups.
        ///
        /// PyTorch: `aten::embedding_dense_backward`.
        embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx,
            bool scale_grad_by_freq) -> Tensor;

        /// The gradient of the input of [`select_int`]: `grad_output` at the selected index, and zeros elsewhere.
        ///
        /// PyTorch: `aten::select_backward`.
        select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor;
        /// The gradient of the input of [`slice_Tensor`]: `grad_output` in the slice, and zeros elsewhere.
        ///
        /// PyTorch: `aten::slice_backward`.
        slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end,
            SymInt step) -> Tensor;

        /// A copy in which the slices at a vector of indices are replaced by those of `source`.
        ///
        /// # Errors
        /// An index that is negative or out of range, not a vector, or of another dtype than `int64`; a `source` of
        /// another dtype, or whose slices are not one for each index or have other sizes.
        ///
        /// PyTorch: `torch.index_copy`.
        index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor;

        /// A copy in which the elements of `src` are combined with those at the positions that `index` gives along
        /// dimension `dim`, as in [`scatter_src`](fn@scatter_src), by `"sum"`, `"prod"`, `"mean"`, `"amax"` or
        /// `"amin"`. Without `include_self`, the previous elements at these positions do not count.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let (x, index) = (Tensor::from([1.0, 2.0]), Tensor::from([0i64, 0, 1]));
        /// let largest = aten::scatter_reduce_two(&x, 0, &index, &Tensor::from([5.0, 3.0, 0.0]), "amax")?;
        /// assert_eq!(largest.to_vec::<f64>()?, [5.0, 2.0]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// The errors of [`scatter_src`](fn@scatter_src); another `reduce`, complex dtypes for `"amax"` and `"amin"`, a
        /// boolean one for `"mean"`.
        ///
        /// PyTorch: `torch.scatter_reduce`.
        scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *,
            bool include_self=True) -> Tensor;
        /// [`scatter_reduce_two`](fn@scatter_reduce_two) in place.
        ///
        /// PyTorch: `Tensor.scatter_reduce_`.
        scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *,
            bool include_self=True) -> Tensor(a!);
        /// A copy in which the slices of `source` are combined with the slices at a vector of indices, by `"prod"`,
        /// `"mean"`, `"amax"` or `"amin"`. Without `include_self`, the previous slices do not count.
        ///
        /// # Errors
        /// The errors of [`index_add`](fn@index_add); another `reduce`, boolean and complex dtypes.
        ///
        /// PyTorch: `torch.index_reduce`.
        index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *,
            bool include_self=True) -> Tensor;
        /// [`index_reduce`](fn@index_reduce) in place.
        ///
        /// PyTorch: `Tensor.index_reduce_`.
        index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor source, str reduce, *,
            bool include_self=True) -> Tensor(a!);
        /// A copy in which the elements at the positions that `index` gives are increased by those of `src`, or
        /// multiplied by them: `reduce` is `"add"` or `"multiply"`.
        ///
        /// # Errors
        /// The errors of [`scatter_src`](fn@scatter_src); another `reduce`.
        ///
        /// PyTorch: `torch.scatter`.
        scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor;
        /// [`scatter_reduce`](fn@scatter_reduce) with one value for all positions.
        ///
        /// # Errors
        /// The errors of [`scatter_reduce`](fn@scatter_reduce).
        ///
        /// PyTorch: `torch.scatter`.
        scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor;

        /// The gradient of the source of `masked_scatter`: the elements of `grad_output` where `mask` is true, followed
        /// by zeros for unused elements of the source.
        ///
        /// # Errors
        /// `sizes` with fewer elements than `mask` selects.
        ///
        /// PyTorch: `aten::masked_scatter_backward`.
        masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor;
        /// [`index_Tensor`](fn@crate::aten::index_Tensor) where `mask` is true, and `fill` elsewhere, where indices
        /// may be out of range.
        ///
        /// # Errors
        /// Indices that are not `int32` or `int64`, a mask that does not broadcast with the indices.
        ///
        /// PyTorch: `aten::_unsafe_masked_index`.
        _unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor;
        /// Adds `values` at the positions of [`index_Tensor`](fn@crate::aten::index_Tensor) where `mask` is true;
        /// elsewhere, indices may be out of range.
        ///
        /// # Errors
        /// The errors of [`_unsafe_masked_index`](fn@_unsafe_masked_index).
        ///
        /// PyTorch: `aten::_unsafe_masked_index_put_accumulate`.
        _unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor;
        /// [`index_Tensor`](fn@crate::aten::index_Tensor) without masks, so that the sizes of the result do not
        /// depend on data.
        ///
        /// # Errors
        /// An index that is not `int32` or `int64`; the errors of [`index_Tensor`](fn@crate::aten::index_Tensor).
        ///
        /// PyTorch: `aten::_unsafe_index.Tensor`.
        _unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor;
        /// [`index_put`](fn@index_put), as the gradient of [`_unsafe_index_Tensor`](fn@_unsafe_index_Tensor).
        ///
        /// PyTorch: `aten::_unsafe_index_put`.
        _unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor;
        /// [`index_put`](fn@index_put). Indices are checked even if `unsafe` says that this is not necessary.
        ///
        /// PyTorch: `aten::_index_put_impl`, `aten::_index_put_impl_`.
        #[variants(out, in_place)]
        _index_put_impl(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False,
            bool unsafe=False) -> Tensor;

        /// The gradient of the input of [`gather`]: zeros, to which `grad` is added at the positions of `index`.
        ///
        /// # Errors
        /// `sparse_grad`, since there are no sparse tensors; the errors of [`scatter_add`](fn@scatter_add).
        ///
        /// PyTorch: `aten::gather_backward`.
        gather_backward(Tensor grad, Tensor self, int dim, Tensor index, bool sparse_grad) -> Tensor;
        /// The gradient of the input of [`index_select`]: zeros, to whose slices at `index` those of `grad` are added.
        ///
        /// PyTorch: `aten::index_select_backward`.
        index_select_backward(Tensor grad, SymInt[] self_sizes, int dim, Tensor index) -> Tensor;
        /// The gradient of the input of [`masked_select`](fn@crate::aten::masked_select), as large as the input and
        /// the mask when they are broadcast: `grad` where the mask is true, and zeros elsewhere.
        ///
        /// PyTorch: `aten::masked_select_backward`.
        masked_select_backward(Tensor grad, Tensor input, Tensor mask) -> Tensor;
        /// The gradient of the weight of [`embedding`]; see
        /// [`embedding_dense_backward`](fn@embedding_dense_backward).
        ///
        /// # Errors
        /// `sparse`, since there are no sparse tensors.
        ///
        /// PyTorch: `aten::embedding_backward`.
        embedding_backward(Tensor grad, Tensor indices, SymInt num_weights, SymInt padding_idx,
            bool scale_grad_by_freq, bool sparse) -> Tensor;
        /// The gradient of the input of a reduction that selects elements by index, such as `max.dim`: `grad` at
        /// `indices` along dimension `dim`, and zeros elsewhere. The input has the given sizes.
        ///
        /// PyTorch: `aten::value_selecting_reduction_backward`.
        value_selecting_reduction_backward(Tensor grad, int dim, Tensor indices, SymInt[] sizes,
            bool keepdim) -> Tensor;
        /// The gradient of the input of [`cummax`](fn@crate::aten::cummax) and [`cummin`](fn@crate::aten::cummin):
        /// zeros, to which `grad` is added at `indices` along dimension `dim`.
        ///
        /// PyTorch: `aten::cummaxmin_backward`.
        cummaxmin_backward(Tensor grad, Tensor input, Tensor indices, int dim) -> Tensor;
        /// The gradient of the input of [`trace`](fn@crate::aten::trace), a matrix of the given sizes: `grad` on the
        /// diagonal, and zeros elsewhere.
        ///
        /// # Errors
        /// Sizes that are not those of a matrix, a `grad` with dimensions.
        ///
        /// PyTorch: `aten::trace_backward`.
        trace_backward(Tensor grad, SymInt[] sizes) -> Tensor;
    }
}
