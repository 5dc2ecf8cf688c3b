//! Operators that rearrange elements: repeat, flip, roll, join, split, embed in a diagonal, pick by index.
//!
//! All are compositions of other operators, so their derivatives and batching rules are those of the parts.

use torch_library::torch_library;

torch_library! {
    /// Rearranging.
    #[methods(ArrangeMethods)]
    pub mod aten extends "aten" {
        /// Repeats the tensor along each dimension. More repeats than dimensions add dimensions at the front.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let twice = aten::repeat(&Tensor::from([1, 2]), &[2, 2])?;
        /// assert_eq!(twice.to_vec::<i32>()?, [1, 2, 1, 2, 1, 2, 1, 2]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// Fewer repeats than dimensions, a negative repeat.
        ///
        /// PyTorch: `Tensor.repeat`.
        repeat(Tensor self, SymInt[] repeats) -> Tensor;
        /// Repeats the tensor along its last dimensions, as often as `dims` says.
        ///
        /// # Errors
        /// A negative repeat.
        ///
        /// PyTorch: `torch.tile`.
        tile(Tensor self, SymInt[] dims) -> Tensor;
        /// Repeats each slice along a dimension, or each element of the flattened tensor, `repeats` times in a row.
        ///
        /// # Errors
        /// A negative `repeats`; an `output_size` that is not the size of the result.
        ///
        /// PyTorch: `torch.repeat_interleave`.
        repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor;
        /// Repeats each slice along a dimension, or each element of the flattened tensor, as often as its entry of
        /// `repeats`.
        ///
        /// # Errors
        /// The errors of [`repeat_interleave_Tensor`](fn@repeat_interleave_Tensor); a number of repeats other than the
        /// size of the dimension.
        ///
        /// PyTorch: `torch.repeat_interleave`.
        #[tags(dynamic_output_shape)]
        repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *,
            SymInt? output_size=None) -> Tensor;
        /// Each index of the vector `repeats`, as often as the element at that index says.
        ///
        /// # Errors
        /// A negative repeat, another dtype than `int32` and `int64`, more than one dimension.
        ///
        /// PyTorch: `torch.repeat_interleave`.
        #[tags(dynamic_output_shape)]
        repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor;

        /// Reverses the order of the elements along some dimensions.
        ///
        /// # Errors
        /// A dimension out of range, or named twice.
        ///
        /// PyTorch: `torch.flip`.
        flip(Tensor self, int[] dims) -> Tensor;
        /// Reverses the order of the columns: flips the second dimension.
        ///
        /// # Errors
        /// Fewer than two dimensions.
        ///
        /// PyTorch: `torch.fliplr`.
        fliplr(Tensor self) -> Tensor;
        /// Reverses the order of the rows: flips the first dimension.
        ///
        /// # Errors
        /// A tensor without dimensions.
        ///
        /// PyTorch: `torch.flipud`.
        flipud(Tensor self) -> Tensor;
        /// Shifts elements along dimensions, or in the flattened tensor; elements beyond the last position reappear at
        /// the first.
        ///
        /// # Errors
        /// Numbers of shifts and of dimensions that differ, a dimension out of range.
        ///
        /// PyTorch: `torch.roll`.
        roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor;
        /// Rotates the tensor by `k` times 90 degrees in the plane of two dimensions, from the first towards the
        /// second.
        ///
        /// # Errors
        /// Dimensions that are not two different ones.
        ///
        /// PyTorch: `torch.rot90`.
        rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor;

        /// The coordinates of the grid that vectors span, one tensor for each vector; the first vector varies along
        /// dimension 0.
        ///
        /// # Errors
        /// No tensors, tensors of more than one dimension or of different dtypes.
        ///
        /// PyTorch: `torch.meshgrid`.
        meshgrid(Tensor[] tensors) -> Tensor[];
        /// The coordinates of the grid that vectors span; indexing by `"xy"` swaps the first two dimensions, `"ij"`
        /// does not.
        ///
        /// # Errors
        /// The errors of [`meshgrid`](fn@meshgrid); an `indexing` other than `"ij"` and `"xy"`.
        ///
        /// PyTorch: `torch.meshgrid`.
        meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[];
        /// The Cartesian product of vectors: every choice of one element of each vector, as the rows of a matrix.
        ///
        /// # Errors
        /// The errors of [`meshgrid`](fn@meshgrid); tensors without dimensions.
        ///
        /// PyTorch: `torch.cartesian_prod`.
        cartesian_prod(Tensor[] tensors) -> Tensor;
        /// Broadcasts tensors to their common sizes.
        ///
        /// # Errors
        /// Sizes that do not broadcast.
        ///
        /// PyTorch: `torch.broadcast_tensors`.
        broadcast_tensors(Tensor[] tensors) -> Tensor[];
        /// Broadcasts the tensor to `size`.
        ///
        /// # Errors
        /// A `size` that the tensor does not broadcast to.
        ///
        /// PyTorch: `torch.broadcast_to`.
        broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a);

        /// The tensor with at least one dimension.
        ///
        /// PyTorch: `torch.atleast_1d`.
        atleast_1d(Tensor self) -> Tensor;
        /// The tensor with at least two dimensions; a vector becomes a row.
        ///
        /// PyTorch: `torch.atleast_2d`.
        atleast_2d(Tensor self) -> Tensor;
        /// The tensor with at least three dimensions: a vector of `n` elements gets sizes `[1, n, 1]`, a matrix a last
        /// dimension.
        ///
        /// PyTorch: `torch.atleast_3d`.
        atleast_3d(Tensor self) -> Tensor;
        /// Concatenates tensors horizontally: along dimension 1, or along dimension 0 if the first is a vector.
        ///
        /// # Errors
        /// The errors of [`cat`](fn@crate::aten::cat).
        ///
        /// PyTorch: `torch.hstack`.
        hstack(Tensor[] tensors) -> Tensor;
        /// Concatenates tensors vertically, along dimension 0; vectors count as rows.
        ///
        /// # Errors
        /// The errors of [`cat`](fn@crate::aten::cat).
        ///
        /// PyTorch: `torch.vstack`.
        vstack(Tensor[] tensors) -> Tensor;
        /// Concatenates tensors along dimension 2, after [`atleast_3d`](fn@atleast_3d).
        ///
        /// # Errors
        /// The errors of [`cat`](fn@crate::aten::cat).
        ///
        /// PyTorch: `torch.dstack`.
        dstack(Tensor[] tensors) -> Tensor;
        /// Concatenates tensors along dimension 1; vectors count as columns.
        ///
        /// # Errors
        /// The errors of [`cat`](fn@crate::aten::cat).
        ///
        /// PyTorch: `torch.column_stack`.
        column_stack(Tensor[] tensors) -> Tensor;
        /// The elements of all tensors as one vector, one tensor after the other.
        ///
        /// # Errors
        /// No tensors.
        ///
        /// PyTorch: `aten::flatten_dense_tensors`.
        flatten_dense_tensors(Tensor[] tensors) -> Tensor;
        /// The parts of a vector that [`flatten_dense_tensors`](fn@flatten_dense_tensors) makes of tensors of these
        /// sizes, as views.
        ///
        /// # Errors
        /// Fewer elements than the tensors have.
        ///
        /// PyTorch: `aten::unflatten_dense_tensors`.
        unflatten_dense_tensors(Tensor flat, Tensor[] tensors) -> Tensor[];
        /// A block diagonal matrix of the given matrices, zero elsewhere.
        ///
        /// # Errors
        /// Tensors of more than two dimensions.
        ///
        /// PyTorch: `torch.block_diag`.
        block_diag(Tensor[] tensors) -> Tensor;

        /// Swaps two dimensions.
        ///
        /// PyTorch: `torch.swapaxes`.
        swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a);
        /// Moves a dimension to another position.
        ///
        /// PyTorch: `torch.moveaxis`.
        moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a);
        /// Moves some dimensions to other positions.
        ///
        /// # Errors
        /// `source` and `destination` of different lengths, a dimension named twice.
        ///
        /// PyTorch: `torch.moveaxis`.
        moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a);
        /// Moves some dimensions to other positions; the others keep their order.
        ///
        /// # Errors
        /// `source` and `destination` of different lengths, a dimension named twice.
        ///
        /// PyTorch: `torch.movedim`.
        movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a);
        /// The transpose of the matrices in the last two dimensions; a tensor without dimensions stays as it is.
        ///
        /// # Errors
        /// A tensor of one dimension.
        ///
        /// PyTorch: `Tensor.mT`.
        mT(Tensor(a) self) -> Tensor(a);
        /// The conjugate transpose of the matrices in the last two dimensions.
        ///
        /// # Errors
        /// A tensor of one dimension.
        ///
        /// PyTorch: `Tensor.mH`.
        mH(Tensor(a) self) -> Tensor(a);
        /// Alias for [`mH`](fn@mH).
        ///
        /// PyTorch: `torch.adjoint`.
        adjoint(Tensor(a) self) -> Tensor(a);
        /// The conjugate transpose of a matrix.
        ///
        /// # Errors
        /// A number of dimensions other than two and zero.
        ///
        /// PyTorch: `Tensor.H`.
        matrix_H(Tensor(a) self) -> Tensor(a);
        /// The dimensions in reverse order.
        ///
        /// PyTorch: `Tensor.T`.
        numpy_T(Tensor(a) self) -> Tensor(a);
        /// The elements as a vector: a view where the tensor is contiguous, else a copy.
        ///
        /// PyTorch: `torch.ravel`.
        ravel(Tensor(a) self) -> Tensor(a);
        /// Splits one dimension into several; one of the sizes may be `-1`, to be inferred.
        ///
        /// # Errors
        /// Sizes whose product is not the size of the dimension.
        ///
        /// PyTorch: `torch.unflatten`.
        unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a);
        /// Swaps two dimensions.
        ///
        /// PyTorch: `torch.swapdims`.
        swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a);
        /// Splits the tensor into `sections` equal parts along dimension 1, or along dimension 0 of a vector.
        ///
        /// # Errors
        /// A tensor without dimensions, a size that `sections` does not divide.
        ///
        /// PyTorch: `torch.hsplit`.
        hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[];
        /// Splits the tensor before the given indices along dimension 1, or along dimension 0 of a vector.
        ///
        /// # Errors
        /// A tensor without dimensions.
        ///
        /// PyTorch: `torch.hsplit`.
        hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[];
        /// Splits the tensor into `sections` equal parts along dimension 0.
        ///
        /// # Errors
        /// Fewer than two dimensions, a size that `sections` does not divide.
        ///
        /// PyTorch: `torch.vsplit`.
        vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[];
        /// Splits the tensor before the given indices along dimension 0.
        ///
        /// # Errors
        /// Fewer than two dimensions.
        ///
        /// PyTorch: `torch.vsplit`.
        vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[];
        /// Splits the tensor into `sections` equal parts along dimension 2.
        ///
        /// # Errors
        /// Fewer than three dimensions, a size that `sections` does not divide.
        ///
        /// PyTorch: `torch.dsplit`.
        dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[];
        /// Splits the tensor before the given indices along dimension 2.
        ///
        /// # Errors
        /// Fewer than three dimensions.
        ///
        /// PyTorch: `torch.dsplit`.
        dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[];
        /// Splits the tensor into `sections` parts along a dimension, the first of which may be larger by one.
        ///
        /// # Errors
        /// `sections` less than 1, a tensor without dimensions.
        ///
        /// PyTorch: `torch.tensor_split`.
        tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[];
        /// Splits the tensor before the given indices along a dimension.
        ///
        /// # Errors
        /// A tensor without dimensions.
        ///
        /// PyTorch: `torch.tensor_split`.
        tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[];

        /// A matrix with the vector `self` on a diagonal and zeros elsewhere; if `self` is a matrix, a copy of its
        /// diagonal.
        ///
        /// # Errors
        /// A number of dimensions other than one and two.
        ///
        /// PyTorch: `torch.diag`.
        diag(Tensor self, int diagonal=0) -> Tensor;
        /// Tensors whose diagonal over `dim1` and `dim2` is the last dimension of `self`, and zero elsewhere.
        ///
        /// # Errors
        /// `dim1` equal to `dim2`, a tensor without dimensions.
        ///
        /// PyTorch: `torch.diag_embed`.
        diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor;
        /// A matrix with all elements on a diagonal, and zeros elsewhere.
        ///
        /// PyTorch: `torch.diagflat`.
        diagflat(Tensor self, int offset=0) -> Tensor;

        /// The elements at indices along a dimension, or into the flattened tensor; the other dimensions broadcast.
        ///
        /// # Errors
        /// The errors of [`gather`](fn@crate::aten::gather); an index that is not `int64`.
        ///
        /// PyTorch: `torch.take_along_dim`.
        take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor;
        /// A copy of `self` in which the elements where `mask` is true are replaced, in order, by those of `source`.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let (x, mask) = (Tensor::from([1.0, 2.0, 3.0]), Tensor::from([true, false, true]));
        /// let y = aten::masked_scatter(&x, &mask, &Tensor::from([7.0, 8.0, 9.0]))?;
        /// assert_eq!(y.to_vec::<f64>()?, [7.0, 2.0, 8.0]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// Sizes that do not broadcast, a `mask` that is not boolean, a `source` of another dtype or with too few
        /// elements.
        ///
        /// PyTorch: `torch.masked_scatter`.
        masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor;
        /// The elements where `mask` is true, as a vector.
        ///
        /// # Errors
        /// Sizes that do not broadcast, a `mask` that is not boolean.
        ///
        /// PyTorch: `torch.masked_select`.
        #[tags(dynamic_output_shape)]
        masked_select(Tensor self, Tensor mask) -> Tensor;
        /// The indices of the elements that are not zero, one row for each.
        ///
        /// PyTorch: `torch.argwhere`.
        #[tags(dynamic_output_shape)]
        argwhere(Tensor self) -> Tensor;
        /// A copy with `value` in the slices at the given indices of a dimension.
        ///
        /// # Errors
        /// An index out of range, of more than one dimension or not of `int64`, a `value` that the dtype cannot hold.
        ///
        /// PyTorch: `torch.index_fill`.
        index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor;
        /// The one-hot encoding: a last dimension of classes, with 1 at the class that the element names and 0
        /// elsewhere.
        ///
        /// If `num_classes` is -1, it is one more than the largest element.
        ///
        /// # Errors
        /// Negative elements, elements that are not below `num_classes`, another dtype than `int64`, no elements if
        /// `num_classes` is -1.
        ///
        /// PyTorch: `torch.nn.functional.one_hot`.
        #[tags(dynamic_output_shape)]
        one_hot(Tensor self, int num_classes=-1) -> Tensor;
        /// A copy with the only element of `value` in the slices at the given indices of a dimension.
        ///
        /// # Errors
        /// The errors of [`index_fill_int_Scalar`](fn@index_fill_int_Scalar); a `value` with dimensions.
        ///
        /// PyTorch: `torch.index_fill`.
        index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor;
        /// A view of `length` indices of a dimension, from the element of `start` on.
        ///
        /// # Errors
        /// A `start` with dimensions or of a dtype that is not integer, a range that is out of bounds.
        ///
        /// PyTorch: `torch.narrow`.
        narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a);
        /// Alias for [`split_with_sizes`](fn@crate::aten::split_with_sizes).
        ///
        /// PyTorch: `torch.split`.
        split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[];
        /// [`tensor_split_sections`](fn@tensor_split_sections) for a tensor without dimensions,
        /// [`tensor_split_indices`](fn@tensor_split_indices) for a vector of indices.
        ///
        /// # Errors
        /// `tensor_indices_or_sections` of more than one dimension, or of another dtype than `int64`.
        ///
        /// PyTorch: `torch.tensor_split`.
        tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections,
            int dim=0) -> Tensor(a)[];
        /// Sequences, tensors that differ in their first size alone, as one tensor: shorter ones get `padding_value` at
        /// their end, or with `padding_side="left"` at their start. The result is `[longest, sequences, …]`, or
        /// `[sequences, longest, …]` with `batch_first`, and has the dtype of the first sequence.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let words = [Tensor::from([1i64, 2, 3]), Tensor::from([4i64])];
        /// let batch = aten::pad_sequence::with(&words).batch_first(true).padding_value(-1.0).call()?;
        /// assert_eq!((batch.sizes(), batch.to_vec::<i64>()?), (&[2, 3][..], vec![1, 2, 3, 4, -1, -1]));
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// No sequences, one without dimensions, other sizes after the first that do not broadcast to those of the
        /// first sequence, another `padding_side`.
        ///
        /// PyTorch: `torch.nn.utils.rnn.pad_sequence`.
        pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0.0,
            str padding_side="right") -> Tensor;
        /// The indices of the elements that are not zero, one vector for each dimension.
        ///
        /// PyTorch: `torch.nonzero` with `as_tuple=True`.
        #[tags(dynamic_output_shape)]
        nonzero_numpy(Tensor self) -> Tensor[];
        /// [`atleast_1d`](fn@atleast_1d) for each tensor.
        ///
        /// PyTorch: `torch.atleast_1d`.
        atleast_1d.Sequence(Tensor[] tensors) -> Tensor[];
        /// [`atleast_2d`](fn@atleast_2d) for each tensor.
        ///
        /// PyTorch: `torch.atleast_2d`.
        atleast_2d.Sequence(Tensor[] tensors) -> Tensor[];
        /// [`atleast_3d`](fn@atleast_3d) for each tensor.
        ///
        /// PyTorch: `torch.atleast_3d`.
        atleast_3d.Sequence(Tensor[] tensors) -> Tensor[];
        /// Alias for [`transpose_`](fn@crate::aten::transpose_).
        ///
        /// PyTorch: `Tensor.swapaxes_`.
        #[tags(inplace_view)]
        swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!);
        /// Alias for [`transpose_`](fn@crate::aten::transpose_).
        ///
        /// PyTorch: `Tensor.swapdims_`.
        #[tags(inplace_view)]
        swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!);
        /// Splits each tensor into `num_chunks` chunks along a dimension, padding the last with zeros, and concatenates
        /// the chunks of the same index. The chunks are a dimension of the result.
        ///
        /// # Errors
        /// No tensors, or tensors without elements, of different dtypes, or of different sizes before the dimension.
        ///
        /// PyTorch: `torch._chunk_cat`.
        #[variants(function)]
        _chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor;
        /// All combinations of `r` elements of a vector, as rows, in lexicographic order of their indices.
        ///
        /// # Errors
        /// An input that is not a vector, a negative `r`, more combinations than there is memory for.
        ///
        /// PyTorch: `torch.combinations`.
        #[variants(function)]
        combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor;
    }
}
