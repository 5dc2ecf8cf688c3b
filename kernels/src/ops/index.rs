//! Operators that join tensors, and those that pick elements by index.

use torch_library::torch_library;

torch_library! {
    /// Joining and picking, on top of what was declared before.
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
        /// An index that is not `int64` or `int32`, has another number of dimensions or larger other sizes; an index out
        /// of range.
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
        embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor;
    }
}
