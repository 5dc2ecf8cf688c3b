//! Operators that concatenate tensors, and those that read elements by index.

use torch_library::torch_library;

torch_library! {
    /// Concatenation and indexing.
    #[methods(IndexMethods)]
    #[overloads(function)]
    pub mod aten extends "aten" {
        /// Concatenates tensors along a dimension; tensors of sizes `[0]` are skipped.
        ///
        /// # Errors
        /// No tensors, tensors without dimensions, sizes that differ in another dimension.
        ///
        /// PyTorch: `torch.cat`.
        cat(Tensor[] tensors, int dim=0) -> Tensor;

        /// Concatenates tensors along a new dimension.
        ///
        /// # Errors
        /// No tensors, different sizes.
        ///
        /// PyTorch: `torch.stack`.
        stack(Tensor[] tensors, int dim=0) -> Tensor;

        /// [`stack`](fn@stack), where a backend has a kernel of its own for it.
        ///
        /// PyTorch: `aten::_stack`.
        _stack(Tensor[] tensors, int dim=0) -> Tensor;

        /// Gathers elements by their index along a dimension: `out[i][j] = self[index[i][j]][j]` for dimension 0 of
        /// two.
        ///
        /// # Errors
        /// An index of another dtype than `int64` and `int32`, with another number of dimensions, or larger than `self`
        /// in another dimension; an index out of range; in the backward pass, `sparse_grad`, since there are no sparse
        /// tensors.
        ///
        /// PyTorch: `torch.gather`.
        gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor;

        /// Selects slices along a dimension by their index. In that dimension, the result has the size of the index.
        ///
        /// # Errors
        /// An index that is not a vector, or of another dtype than `int64` and `int32`; an index out of range.
        ///
        /// PyTorch: `torch.index_select`.
        index_select(Tensor self, int dim, Tensor index) -> Tensor;

        /// The elements at the given indices into the flattened tensor.
        ///
        /// # Errors
        /// An index out of range, or of another dtype than `int64`.
        ///
        /// PyTorch: `torch.take`.
        take(Tensor self, Tensor index) -> Tensor;

        /// Looks up rows of a matrix by their index. The result has the sizes of `indices`, followed by the length of a
        /// row. `padding_idx` and `scale_grad_by_freq` only affect the gradient.
        ///
        /// # Errors
        /// A weight that is not a matrix; indices out of range, or of another dtype than `int64` and `int32`; in the
        /// backward pass, `sparse`, since there are no sparse tensors.
        ///
        /// PyTorch: `torch.nn.functional.embedding`.
        embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False,
            bool sparse=False) -> Tensor;
        /// A copy of a matrix in which the rows at the indices are scaled down where their norm of order `norm_type`
        /// exceeds `max_norm`.
        ///
        /// # Errors
        /// An input that is not a matrix or of an integer dtype, indices that are not integers or out of range, an
        /// order that is not positive, a negative norm.
        ///
        /// PyTorch: `aten::embedding_renorm`.
        embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor;
        /// [`embedding_renorm`](fn@embedding_renorm) in place.
        ///
        /// # Errors
        /// An input that is not a matrix or of an integer dtype, indices that are not integers or out of range, an
        /// order that is not positive, a negative norm.
        ///
        /// PyTorch: `aten::embedding_renorm_`.
        embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!);
        /// The sum (mode 0), mean (1) or maximum (2) of the rows of `weight` in each bag; a bag starts at each offset
        /// into `indices`. The other results are the bag of each index, the sizes of the bags and, in mode 2, the rows
        /// that the maxima come from.
        ///
        /// # Errors
        /// Indices or offsets that are not integer vectors, a first offset other than 0, offsets that decrease, a
        /// weight that is not floating-point, `per_sample_weights` in another mode than the sum.
        ///
        /// PyTorch: `torch.nn.functional.embedding_bag`.
        embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0,
            bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor,
            Tensor, Tensor, Tensor);
        /// [`embedding_bag`](fn@embedding_bag), in which the row `padding_idx` does not count.
        ///
        /// # Errors
        /// The errors of [`embedding_bag`](fn@embedding_bag).
        ///
        /// PyTorch: `torch.nn.functional.embedding_bag`.
        embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq,
            int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset,
            int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor);
        /// The form of [`embedding_bag`](fn@embedding_bag) for inputs that require a gradient: it also returns what the
        /// gradient needs.
        ///
        /// # Errors
        /// The errors of [`embedding_bag`](fn@embedding_bag).
        ///
        /// PyTorch: `aten::_embedding_bag`.
        _embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0,
            bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False,
            int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor);
        /// The form of [`embedding_bag`](fn@embedding_bag) for inputs that require no gradient.
        ///
        /// # Errors
        /// The errors of [`embedding_bag`](fn@embedding_bag).
        ///
        /// PyTorch: `aten::_embedding_bag_forward_only`.
        _embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets,
            bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None,
            bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor);
        /// The gradient of the weight of [`embedding_bag`](fn@embedding_bag), from the gradient of its first result and
        /// from its other results.
        ///
        /// PyTorch: `aten::_embedding_bag_backward`.
        _embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor bag_size,
            Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, bool sparse,
            Tensor? per_sample_weights, int padding_idx=-1) -> Tensor;
        /// [`_embedding_bag_backward`](fn@_embedding_bag_backward), for the bag of each index in `offset2bag` instead
        /// of offsets.
        ///
        /// PyTorch: `aten::_embedding_bag_dense_backward`.
        #[variants(out)]
        _embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size,
            Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode,
            Tensor? per_sample_weights, int padding_idx=-1) -> Tensor;
        /// The gradient of the `per_sample_weights` of [`embedding_bag`](fn@embedding_bag).
        ///
        /// PyTorch: `aten::_embedding_bag_per_sample_weights_backward`.
        #[variants(out)]
        _embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets,
            Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor;

        /// The indices of the elements that are not zero, one row for each, in row-major order. The result is `int64`,
        /// of sizes `[count, dimensions]`.
        ///
        /// PyTorch: `torch.nonzero`.
        #[tags(dynamic_output_shape)]
        nonzero(Tensor self) -> Tensor;
        /// The indices of the first `size` elements that are not zero, as rows; missing rows are filled with
        /// `fill_value`.
        ///
        /// # Errors
        /// A negative size.
        ///
        /// PyTorch: `torch.nonzero_static`.
        #[variants(function)]
        nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor;

        /// Indexes the first dimensions of a tensor by tensors of indices, one for each dimension, which broadcast.
        ///
        /// A dimension whose index is `None` is kept whole. A boolean mask stands for the indices of its true elements,
        /// and covers as many dimensions as it has. The broadcast dimensions of the indices replace the indexed
        /// dimensions where these are adjacent; otherwise they come first.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let x = Tensor::from([[1, 2], [3, 4], [5, 6]]);
        /// let indices = [Some(Tensor::from([2i64, 0])), Some(Tensor::from([1i64, -1]))];
        /// assert_eq!(aten::index_Tensor(&x, &indices)?.to_vec::<i32>()?, [6, 2]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// More indices than dimensions, an index out of range or of another dtype than `int64`, `int32`, `bool` and
        /// `uint8` (a mask, too), a mask whose sizes are not those of the dimensions, indices that do not broadcast.
        ///
        /// PyTorch: `x[indices]`.
        #[tags(dynamic_output_shape)]
        index.Tensor(Tensor self, Tensor?[] indices) -> Tensor;
        /// The rows of a matrix that a boolean mask keeps, and for each row its index among those, or -1.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let (weight, mask) = (Tensor::from([[1, 2], [3, 4], [5, 6]]), Tensor::from([true, false, true]));
        /// let (rows, indices) = aten::_rowwise_prune(&weight, &mask, DType::Int64)?;
        /// assert_eq!((rows.to_vec::<i32>()?, indices.to_vec::<i64>()?), (vec![1, 2, 5, 6], vec![0, -1, 1]));
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// A weight that is no matrix, a mask that is not a boolean vector with an element for each row, a dtype of
        /// indices other than `int32` and `int64`.
        ///
        /// PyTorch: `torch._rowwise_prune`.
        #[tags(dynamic_output_shape)]
        _rowwise_prune(Tensor weight, Tensor mask, ScalarType compressed_indices_dtype) -> (Tensor, Tensor);
    }
}
