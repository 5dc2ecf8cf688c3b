//! Operators that join tensors, and those that pick elements by index.

use torch_library::torch_library;

torch_library! {
    /// Joining and picking, on top of what was declared before.
    #[methods(IndexMethods)]
    #[overloads(function)]
    pub mod aten extends super::matmul::aten {
        /// Tensors one behind the other along a dimension; those of sizes `[0]` are left out.
        ///
        /// # Errors
        /// No tensors, tensors without dimensions, sizes that differ in another dimension.
        ///
        /// PyTorch: `torch.cat`.
        cat(Tensor[] tensors, int dim=0) -> Tensor;

        /// Tensors one behind the other along a new dimension.
        ///
        /// # Errors
        /// No tensors, different sizes.
        ///
        /// PyTorch: `torch.stack`.
        stack(Tensor[] tensors, int dim=0) -> Tensor;

        /// Elements by their index in a dimension: `out[i][j] = self[index[i][j]][j]` for dimension 0 of two.
        ///
        /// # Errors
        /// An index that is not `int64` or `int32`, has another number of dimensions or larger other sizes; an
        /// index out of range.
        ///
        /// PyTorch: `torch.gather`.
        gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor;

        /// Slices by their index in a dimension.
        ///
        /// # Errors
        /// An index that is not `int64` or `int32`, or is no vector; an index out of range.
        ///
        /// PyTorch: `torch.index_select`.
        index_select(Tensor self, int dim, Tensor index) -> Tensor;

        /// Rows of a matrix by their index.
        ///
        /// # Errors
        /// A weight that is no matrix; as [`index_select`](fn@index_select).
        ///
        /// PyTorch: `torch.nn.functional.embedding`.
        embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False,
            bool sparse=False) -> Tensor;
        /// A copy of a matrix whose rows at the indices have norms of order `norm_type` up to `max_norm`: longer
        /// ones are scaled down.
        ///
        /// # Errors
        /// What is no matrix, integers, indices that are no whole numbers or out of range, an order of 0 or less, a
        /// negative norm.
        ///
        /// PyTorch: `aten::embedding_renorm`.
        embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor;
        /// [`embedding_renorm`](fn@embedding_renorm) in place.
        ///
        /// # Errors
        /// What is no matrix, integers, indices that are no whole numbers or out of range, an order of 0 or less, a
        /// negative norm.
        ///
        /// PyTorch: `aten::embedding_renorm_`.
        embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!);

        /// Where a tensor is not zero: a row of indices for each such element, in row-major order.
        ///
        /// PyTorch: `torch.nonzero`.
        #[tags(dynamic_output_shape)]
        nonzero(Tensor self) -> Tensor;

        /// Elements at places that tensors of indices give, one for each dimension from the first on; those broadcast.
        ///
        /// A dimension without an index is kept whole. A mask stands for the indices of its true elements, in as
        /// many dimensions as it has. The dimensions of the indices come where those were that they replace, or
        /// first if these are not neighbours.
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
        /// More indices than dimensions, an index out of range or of another type, indices that do not broadcast.
        ///
        /// PyTorch: `x[indices]`.
        #[tags(dynamic_output_shape)]
        index.Tensor(Tensor self, Tensor?[] indices) -> Tensor;
    }
}
