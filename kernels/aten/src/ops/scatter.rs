//! Operators that write or add elements at places that an index or a mask gives.

use torch_library::torch_library;

torch_library! {
    /// Writing by index, on top of what was declared before.
    #[methods(ScatterMethods)]
    #[overloads(function)]
    pub mod aten extends super::index::aten {
        /// The tensor with a number where the mask is true; both broadcast.
        ///
        /// # Errors
        /// A mask that is not of booleans, a number that the type cannot hold.
        ///
        /// PyTorch: `torch.masked_fill`.
        #[tags(pointwise)]
        masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor;
        /// The tensor with the one element of `value` where the mask is true; tensor and mask broadcast.
        ///
        /// PyTorch: `torch.masked_fill`.
        #[tags(pointwise)]
        masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor;
        /// Writes a number where the mask, which broadcasts to the tensor, is true.
        ///
        /// # Errors
        /// As [`masked_fill_Scalar`], and a mask of more dimensions.
        ///
        /// PyTorch: `Tensor.masked_fill_`.
        #[tags(pointwise)]
        masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!);
        /// Writes the one element of `value` where the mask is true.
        ///
        /// PyTorch: `Tensor.masked_fill_`.
        #[tags(pointwise)]
        masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!);

        /// A copy with elements of `src` written where the index says in dimension `dim`: of three dimensions and
        /// `dim` 1, `out[i, index[i, j, k], k] = src[i, j, k]`.
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
        /// An index out of range or of another type than `int64`, one with more places than `self` or `src` have.
        ///
        /// PyTorch: `torch.scatter`.
        scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor;
        /// A copy with one value written where the index says.
        ///
        /// PyTorch: `torch.scatter`.
        scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor;
        /// Writes elements where the index says.
        ///
        /// PyTorch: `Tensor.scatter_`.
        scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!);
        /// Writes one value where the index says.
        ///
        /// PyTorch: `Tensor.scatter_`.
        scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!);
        /// A copy with numbers at indices into the flat tensor: those of `source`, or, with `accumulate`, these
        /// added to what was there.
        ///
        /// # Errors
        /// An index out of range, or of another type than `int64`; a source of another number of elements than the
        /// index, or of another type.
        ///
        /// PyTorch: `torch.put`.
        put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor;
        /// Writes `source` to the places of an index into all elements, one after the other; adds it with `accumulate`.
        ///
        /// PyTorch: `Tensor.put_`.
        put_(Tensor(a!) self, Tensor index, Tensor source, bool accumulate=False) -> Tensor(a!);
        /// A copy with elements of `src` added where the index says.
        ///
        /// PyTorch: `torch.scatter_add`.
        scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor;
        /// Adds elements where the index says.
        ///
        /// PyTorch: `Tensor.scatter_add_`.
        scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!);

        /// A copy to whose slices at the places of a vector of indices those of `alpha * source` are added.
        ///
        /// # Errors
        /// An index out of range, a source of other sizes than the slices.
        ///
        /// PyTorch: `torch.index_add`.
        index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor;
        /// Adds slices of `alpha * source` to those at the places of a vector of indices.
        ///
        /// PyTorch: `Tensor.index_add_`.
        index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!);

        /// A copy with `values`, which broadcast, at the places where [`index_Tensor`] reads; added with `accumulate`.
        ///
        /// PyTorch: `torch.index_put`.
        index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor;
        /// Writes `values`, which broadcast, to the places where [`index_Tensor`] reads; adds them with `accumulate`.
        ///
        /// Of several values for one place, any may stay unless they are added.
        ///
        /// PyTorch: `Tensor.index_put_`, `x[indices] = values`.
        index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!);

        /// The gradient of the weight of [`embedding`]: rows of zeros to which those of `grad_output` are added.
        ///
        /// The row `padding_idx` gets none; with `scale_grad_by_freq`, a row's gradient is divided by how often it
        /// was looked up.
        ///
        /// PyTorch: `aten::embedding_dense_backward`.
        embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx,
            bool scale_grad_by_freq) -> Tensor;

        /// The gradient of a tensor of which [`select_int`] took one index: zeros, but for that index.
        ///
        /// PyTorch: `aten::select_backward`.
        select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor;
        /// The gradient of a tensor of which [`slice_Tensor`] took a part: zeros, but for that part.
        ///
        /// PyTorch: `aten::slice_backward`.
        slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end,
            SymInt step) -> Tensor;

        /// A copy with slices of `source` written at the places of a vector of indices.
        ///
        /// PyTorch: `torch.index_copy`.
        index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor;

        /// A copy with elements of `src` joined with those where the index says in dimension `dim`, as
        /// [`scatter_src`](fn@scatter_src) writes them: by `"sum"`, `"prod"`, `"mean"`, `"amax"` or `"amin"`. Without
        /// `include_self` they are joined with each other only.
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
        /// As [`scatter_src`](fn@scatter_src); another `reduce`.
        ///
        /// PyTorch: `torch.scatter_reduce`.
        scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *,
            bool include_self=True) -> Tensor;
        /// Joins elements of `src` with those where the index says; see [`scatter_reduce_two`](fn@scatter_reduce_two).
        ///
        /// PyTorch: `Tensor.scatter_reduce_`.
        scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *,
            bool include_self=True) -> Tensor(a!);
        /// A copy with slices of `source` joined with those at the places of a vector of indices: by `"prod"`,
        /// `"mean"`, `"amax"` or `"amin"`. Without `include_self` they are joined with each other only.
        ///
        /// # Errors
        /// As [`index_add`](fn@index_add); another `reduce`.
        ///
        /// PyTorch: `torch.index_reduce`.
        index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *,
            bool include_self=True) -> Tensor;
        /// Joins slices of `source` with those at the places of a vector of indices; see
        /// [`index_reduce`](fn@index_reduce).
        ///
        /// PyTorch: `Tensor.index_reduce_`.
        index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor source, str reduce, *,
            bool include_self=True) -> Tensor(a!);
        /// A copy with elements of `src` added to those where the index says, or multiplied with them: `reduce` is
        /// `"add"` or `"multiply"`.
        ///
        /// # Errors
        /// As [`scatter_src`](fn@scatter_src); another `reduce`.
        ///
        /// PyTorch: `torch.scatter`.
        scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor;
        /// As [`scatter_reduce`](fn@scatter_reduce), with one value.
        ///
        /// # Errors
        /// As [`scatter_reduce`](fn@scatter_reduce).
        ///
        /// PyTorch: `torch.scatter`.
        scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor;

        /// The gradient of the source of `masked_scatter`: what the mask picks, and zeros for what was not needed.
        ///
        /// # Errors
        /// Sizes that have fewer elements than the mask picks.
        ///
        /// PyTorch: `aten::masked_scatter_backward`.
        masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor;
        /// What indices pick where a mask is true, else a number; there, indices may be any.
        ///
        /// # Errors
        /// Indices that are not int32 or int64, a mask that does not fit to what is picked.
        ///
        /// PyTorch: `aten::_unsafe_masked_index`.
        _unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor;
        /// Values added where indices say and a mask is true; elsewhere, indices may be any.
        ///
        /// # Errors
        /// As [`_unsafe_masked_index`](fn@_unsafe_masked_index).
        ///
        /// PyTorch: `aten::_unsafe_masked_index_put_accumulate`.
        _unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor;
    }
}
