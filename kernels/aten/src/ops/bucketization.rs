//! Look-ups of elements in sorted rows: their places, and their buckets.

use torch_library::torch_library;

torch_library! {
    /// Look-ups.
    #[methods(BucketizationMethods)]
    pub mod aten extends "aten" {
        /// The indices at which elements would be inserted into sorted rows: before equal elements, or after them with
        /// `right`. They are `int64`, or `int32` with `out_int32`.
        ///
        /// # Errors
        /// Rows of other sizes, a `side` that contradicts `right`, a `sorter` of other sizes or of another dtype than
        /// `int64`, boolean or complex dtypes.
        ///
        /// PyTorch: `torch.searchsorted`.
        searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False,
            str? side=None, Tensor? sorter=None) -> Tensor;
        /// The index at which a scalar would be inserted into a sorted vector.
        ///
        /// # Errors
        /// The errors of [`searchsorted_Tensor`](fn@searchsorted_Tensor).
        ///
        /// PyTorch: `torch.searchsorted`.
        searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False,
            str? side=None, Tensor? sorter=None) -> Tensor;
        /// Where the rows of a sparse matrix begin and end: for the row of each element, in ascending order, the
        /// number of elements before each of the `size` rows, and their total. It is `int64`, or `int32` with
        /// `out_int32`.
        ///
        /// # Errors
        /// Rows that are not a vector of integers, a negative `size`.
        ///
        /// PyTorch: `torch._convert_indices_from_coo_to_csr`.
        #[variants(out)]
        _convert_indices_from_coo_to_csr(Tensor self, int size, *, bool out_int32=False) -> Tensor;
        /// The row and the column of each element of a sparse matrix, whose rows begin and end at `crow_indices`; with
        /// `transpose`, the column and the row. For batches of matrices, the indices in the batch come first.
        ///
        /// # Errors
        /// Batches of different sizes, tensors that are not integers.
        ///
        /// PyTorch: `torch._convert_indices_from_csr_to_coo`.
        #[variants(out)]
        _convert_indices_from_csr_to_coo(Tensor crow_indices, Tensor col_indices, *, bool out_int32=False,
            bool transpose=False) -> Tensor;
        /// The index of the bucket of each element: the number of boundaries that are less than it, or at most it with
        /// `right`. It is `int64`, or `int32` with `out_int32`.
        ///
        /// # Errors
        /// Boundaries that are not a vector, complex dtypes.
        ///
        /// PyTorch: `torch.bucketize`.
        bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor;
        /// The index of the bucket of a scalar.
        ///
        /// # Errors
        /// The errors of [`bucketize_Tensor`](fn@bucketize_Tensor).
        ///
        /// PyTorch: `torch.bucketize`.
        bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor;
    }
}
