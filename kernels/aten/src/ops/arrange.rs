//! Operators that put elements elsewhere: repeated, turned, joined, spread, picked.
//!
//! All are made of other operators, so their derivatives and batching rules are those of the parts.

use torch_library::torch_library;

torch_library! {
    /// Rearranging, on top of what was declared before.
    #[methods(ArrangeMethods)]
    pub mod aten extends super::optimizer::aten {
        /// The tensor so many times along each dimension; further dimensions come first.
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
        /// Fewer numbers than dimensions, negative ones.
        ///
        /// PyTorch: `Tensor.repeat`.
        repeat(Tensor self, SymInt[] repeats) -> Tensor;
        /// The tensor so many times along each of the last dimensions.
        ///
        /// # Errors
        /// Negative numbers.
        ///
        /// PyTorch: `torch.tile`.
        tile(Tensor self, SymInt[] dims) -> Tensor;
        /// Each index of a dimension, or of the flat tensor, so many times in a row.
        ///
        /// # Errors
        /// A negative number.
        ///
        /// PyTorch: `torch.repeat_interleave`.
        repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor;
        /// Each index of a dimension, or of the flat tensor, as often as `repeats` says for it.
        ///
        /// # Errors
        /// As [`repeat_interleave_Tensor`](fn@repeat_interleave_Tensor); another number of repeats than of indices.
        ///
        /// PyTorch: `torch.repeat_interleave`.
        #[tags(dynamic_output_shape)]
        repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *,
            SymInt? output_size=None) -> Tensor;
        /// Each index of a vector as often as the vector says there.
        ///
        /// # Errors
        /// Negative numbers, another type than `int32` and `int64`, more than one dimension.
        ///
        /// PyTorch: `torch.repeat_interleave`.
        #[tags(dynamic_output_shape)]
        repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor;

        /// The indices of some dimensions in reverse order.
        ///
        /// # Errors
        /// A dimension out of range, or named twice.
        ///
        /// PyTorch: `torch.flip`.
        flip(Tensor self, int[] dims) -> Tensor;
        /// The columns in reverse order.
        ///
        /// # Errors
        /// Fewer than two dimensions.
        ///
        /// PyTorch: `torch.fliplr`.
        fliplr(Tensor self) -> Tensor;
        /// The rows in reverse order.
        ///
        /// # Errors
        /// No dimensions.
        ///
        /// PyTorch: `torch.flipud`.
        flipud(Tensor self) -> Tensor;
        /// Elements moved along dimensions, or in the flat tensor; what leaves at one end comes in at the other.
        ///
        /// # Errors
        /// Another number of shifts than of dimensions.
        ///
        /// PyTorch: `torch.roll`.
        roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor;
        /// Turned by `k` right angles in the plane of two dimensions, from the first to the second.
        ///
        /// # Errors
        /// Not two different dimensions.
        ///
        /// PyTorch: `torch.rot90`.
        rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor;

        /// Vectors as the coordinates of a grid, the first along the first dimension.
        ///
        /// # Errors
        /// Tensors of more than one dimension, none at all, of several types.
        ///
        /// PyTorch: `torch.meshgrid`.
        meshgrid(Tensor[] tensors) -> Tensor[];
        /// Vectors as the coordinates of a grid; with `"xy"` the first two dimensions are swapped.
        ///
        /// # Errors
        /// As [`meshgrid`](fn@meshgrid); another word than `"ij"` and `"xy"`.
        ///
        /// PyTorch: `torch.meshgrid`.
        meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[];
        /// Every choice of one element of each vector, as rows.
        ///
        /// # Errors
        /// As [`meshgrid`](fn@meshgrid).
        ///
        /// PyTorch: `torch.cartesian_prod`.
        cartesian_prod(Tensor[] tensors) -> Tensor;
        /// Tensors repeated to the sizes that they have together.
        ///
        /// # Errors
        /// Sizes that do not broadcast.
        ///
        /// PyTorch: `torch.broadcast_tensors`.
        broadcast_tensors(Tensor[] tensors) -> Tensor[];
        /// Dimensions of size 1 repeated to other sizes.
        ///
        /// # Errors
        /// Sizes that do not fit.
        ///
        /// PyTorch: `torch.broadcast_to`.
        broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a);

        /// With at least one dimension.
        ///
        /// PyTorch: `torch.atleast_1d`.
        atleast_1d(Tensor self) -> Tensor;
        /// With at least two dimensions; a vector becomes a row.
        ///
        /// PyTorch: `torch.atleast_2d`.
        atleast_2d(Tensor self) -> Tensor;
        /// With at least three dimensions; a vector becomes the middle one.
        ///
        /// PyTorch: `torch.atleast_3d`.
        atleast_3d(Tensor self) -> Tensor;
        /// Tensors side by side: vectors one behind the other, others along the second dimension.
        ///
        /// # Errors
        /// As [`cat`](fn@cat).
        ///
        /// PyTorch: `torch.hstack`.
        hstack(Tensor[] tensors) -> Tensor;
        /// Tensors one below the other; vectors as rows.
        ///
        /// # Errors
        /// As [`cat`](fn@cat).
        ///
        /// PyTorch: `torch.vstack`.
        vstack(Tensor[] tensors) -> Tensor;
        /// Tensors along the third dimension.
        ///
        /// # Errors
        /// As [`cat`](fn@cat).
        ///
        /// PyTorch: `torch.dstack`.
        dstack(Tensor[] tensors) -> Tensor;
        /// Tensors side by side; vectors as columns.
        ///
        /// # Errors
        /// As [`cat`](fn@cat).
        ///
        /// PyTorch: `torch.column_stack`.
        column_stack(Tensor[] tensors) -> Tensor;
        /// Matrices along the diagonal of a larger one, which is zero elsewhere.
        ///
        /// # Errors
        /// Tensors of more than two dimensions.
        ///
        /// PyTorch: `torch.block_diag`.
        block_diag(Tensor[] tensors) -> Tensor;

        /// Two dimensions swapped.
        ///
        /// PyTorch: `torch.swapaxes`.
        swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a);
        /// One dimension at another place.
        ///
        /// PyTorch: `torch.moveaxis`.
        moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a);
        /// Some dimensions at other places.
        ///
        /// # Errors
        /// Other numbers of places than of dimensions, one of them twice.
        ///
        /// PyTorch: `torch.moveaxis`.
        moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a);
        /// Some dimensions at other places; the others stay in order.
        ///
        /// # Errors
        /// Other numbers of places than of dimensions, one of them twice.
        ///
        /// PyTorch: `torch.movedim`.
        movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a);
        /// The matrices of the last two dimensions, transposed; a number as it is.
        ///
        /// # Errors
        /// A vector.
        ///
        /// PyTorch: `Tensor.mT`.
        mT(Tensor(a) self) -> Tensor(a);
        /// As [`mT`](fn@mT), conjugated.
        ///
        /// PyTorch: `Tensor.mH`.
        mH(Tensor(a) self) -> Tensor(a);
        /// As [`mH`](fn@mH).
        ///
        /// PyTorch: `torch.adjoint`.
        adjoint(Tensor(a) self) -> Tensor(a);
        /// As [`mH`](fn@mH), for one matrix.
        ///
        /// # Errors
        /// Another number of dimensions than two or none.
        ///
        /// PyTorch: `Tensor.H`.
        matrix_H(Tensor(a) self) -> Tensor(a);
        /// The dimensions in reverse order.
        ///
        /// PyTorch: `Tensor.T`.
        numpy_T(Tensor(a) self) -> Tensor(a);
        /// All elements in one dimension, copied if need be.
        ///
        /// PyTorch: `torch.ravel`.
        ravel(Tensor(a) self) -> Tensor(a);
        /// One dimension as several; one size may be `-1`.
        ///
        /// # Errors
        /// Sizes that do not make up the dimension.
        ///
        /// PyTorch: `torch.unflatten`.
        unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a);
        /// Two dimensions swapped.
        ///
        /// PyTorch: `torch.swapdims`.
        swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a);
        /// So many equal parts along the second dimension, or the only one.
        ///
        /// # Errors
        /// No dimensions, parts that are not equal.
        ///
        /// PyTorch: `torch.hsplit`.
        hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[];
        /// Parts along the second dimension, or the only one, cut before the given indices.
        ///
        /// # Errors
        /// No dimensions.
        ///
        /// PyTorch: `torch.hsplit`.
        hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[];
        /// So many equal parts along the first dimension.
        ///
        /// # Errors
        /// Fewer than two dimensions, parts that are not equal.
        ///
        /// PyTorch: `torch.vsplit`.
        vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[];
        /// Parts along the first dimension, cut before the given indices.
        ///
        /// # Errors
        /// Fewer than two dimensions.
        ///
        /// PyTorch: `torch.vsplit`.
        vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[];
        /// So many equal parts along the third dimension.
        ///
        /// # Errors
        /// Fewer than three dimensions, parts that are not equal.
        ///
        /// PyTorch: `torch.dsplit`.
        dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[];
        /// Parts along the third dimension, cut before the given indices.
        ///
        /// # Errors
        /// Fewer than three dimensions.
        ///
        /// PyTorch: `torch.dsplit`.
        dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[];
        /// So many parts along a dimension, the first of which may be larger by one.
        ///
        /// # Errors
        /// No parts, no dimensions.
        ///
        /// PyTorch: `torch.tensor_split`.
        tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[];
        /// Parts along a dimension, cut before the given indices.
        ///
        /// # Errors
        /// No dimensions.
        ///
        /// PyTorch: `torch.tensor_split`.
        tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[];

        /// A vector on a diagonal of a matrix that is zero elsewhere; of a matrix, a copy of a diagonal.
        ///
        /// # Errors
        /// Another number of dimensions than one and two.
        ///
        /// PyTorch: `torch.diag`.
        diag(Tensor self, int diagonal=0) -> Tensor;
        /// The last dimension on a diagonal of two dimensions, zero elsewhere.
        ///
        /// # Errors
        /// Not two different dimensions, a tensor without dimensions.
        ///
        /// PyTorch: `torch.diag_embed`.
        diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor;
        /// All elements on a diagonal of a matrix that is zero elsewhere.
        ///
        /// PyTorch: `torch.diagflat`.
        diagflat(Tensor self, int offset=0) -> Tensor;

        /// The elements at indices into the flat tensor.
        ///
        /// # Errors
        /// An index out of range, or of another type than `int64`.
        ///
        /// PyTorch: `torch.take`.
        take(Tensor self, Tensor index) -> Tensor;
        /// The elements at indices along a dimension, or into the flat tensor; the other dimensions broadcast.
        ///
        /// # Errors
        /// As [`gather`](fn@gather).
        ///
        /// PyTorch: `torch.take_along_dim`.
        take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor;
        /// The elements of `source`, one after the other, where a condition holds; elsewhere those that were there.
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
        /// Sizes that do not broadcast, a condition that is not of booleans, a source of another type or of too few
        /// elements.
        ///
        /// PyTorch: `torch.masked_scatter`.
        masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor;
        /// The elements where a condition holds, as a vector.
        ///
        /// # Errors
        /// Sizes that do not broadcast, a condition that is not of booleans.
        ///
        /// PyTorch: `torch.masked_select`.
        #[tags(dynamic_output_shape)]
        masked_select(Tensor self, Tensor mask) -> Tensor;
        /// Where elements are not zero: a row of indices for each.
        ///
        /// PyTorch: `torch.argwhere`.
        #[tags(dynamic_output_shape)]
        argwhere(Tensor self) -> Tensor;
        /// A copy with a number at some indices of a dimension.
        ///
        /// # Errors
        /// As [`index_copy`](fn@index_copy).
        ///
        /// PyTorch: `torch.index_fill`.
        index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor;
        /// A row for each element: 1 at the place that the element says, 0 elsewhere.
        ///
        /// Without a number of classes, one more than the largest element.
        ///
        /// # Errors
        /// Negative elements, elements not below `num_classes`, another type than `int64`.
        ///
        /// PyTorch: `torch.nn.functional.one_hot`.
        #[tags(dynamic_output_shape)]
        one_hot(Tensor self, int num_classes=-1) -> Tensor;

        /// Channels as pixels: `[c r², h, w]` becomes `[c, h r, w r]`.
        ///
        /// # Errors
        /// Fewer than three dimensions, channels that `r²` does not divide.
        ///
        /// PyTorch: `torch.nn.functional.pixel_shuffle`.
        pixel_shuffle(Tensor self, int upscale_factor) -> Tensor;
        /// Pixels as channels: `[c, h r, w r]` becomes `[c r², h, w]`.
        ///
        /// # Errors
        /// Fewer than three dimensions, sizes that `r` does not divide.
        ///
        /// PyTorch: `torch.nn.functional.pixel_unshuffle`.
        pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor;
        /// Channels dealt out to groups: the first of each group, then the second of each.
        ///
        /// # Errors
        /// Fewer than three dimensions, channels that the groups do not divide.
        ///
        /// PyTorch: `torch.nn.functional.channel_shuffle`.
        channel_shuffle(Tensor self, SymInt groups) -> Tensor;
        /// A copy with the one element of `value` in the slices at the places of a vector of indices.
        ///
        /// # Errors
        /// As [`index_fill_int_Scalar`](fn@index_fill_int_Scalar); a value with dimensions.
        ///
        /// PyTorch: `torch.index_fill`.
        index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor;
        /// So many indices of a dimension, from the one number in `start` on: a view.
        ///
        /// # Errors
        /// A start with several elements; indices that are not there.
        ///
        /// PyTorch: `torch.narrow`.
        narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a);
        /// [`split_with_sizes`](fn@split_with_sizes) under another name.
        ///
        /// PyTorch: `torch.split`.
        split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[];
        /// As [`tensor_split_sections`](fn@tensor_split_sections) with a tensor without dimensions, as
        /// [`tensor_split_indices`](fn@tensor_split_indices) with a vector.
        ///
        /// # Errors
        /// A tensor of more dimensions.
        ///
        /// PyTorch: `torch.tensor_split`.
        tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections,
            int dim=0) -> Tensor(a)[];
        /// Where the elements are that are not zero: a vector of indices for each dimension.
        ///
        /// PyTorch: `torch.nonzero` with `as_tuple=True`.
        #[tags(dynamic_output_shape)]
        nonzero_numpy(Tensor self) -> Tensor[];
        /// [`nonzero_numpy`](fn@nonzero_numpy) under another name.
        ///
        /// PyTorch: `torch.where`.
        #[tags(dynamic_output_shape)]
        where(Tensor condition) -> Tensor[];
        /// [`atleast_1d`](fn@atleast_1d) of each tensor.
        ///
        /// PyTorch: `torch.atleast_1d`.
        atleast_1d.Sequence(Tensor[] tensors) -> Tensor[];
        /// [`atleast_2d`](fn@atleast_2d) of each tensor.
        ///
        /// PyTorch: `torch.atleast_2d`.
        atleast_2d.Sequence(Tensor[] tensors) -> Tensor[];
        /// [`atleast_3d`](fn@atleast_3d) of each tensor.
        ///
        /// PyTorch: `torch.atleast_3d`.
        atleast_3d.Sequence(Tensor[] tensors) -> Tensor[];
        /// [`transpose_`](fn@transpose_) under another name.
        ///
        /// PyTorch: `Tensor.swapaxes_`.
        #[tags(inplace_view)]
        swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!);
        /// [`transpose_`](fn@transpose_) under another name.
        ///
        /// PyTorch: `Tensor.swapdims_`.
        #[tags(inplace_view)]
        swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!);
    }
}
