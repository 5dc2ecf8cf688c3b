//! Views: operators that show the same elements in another shape, and share the storage of their input.

use torch_library::torch_library;

torch_library! {
    /// Views.
    #[methods(ViewMethods)]
    #[overloads(function)]
    pub mod aten extends "aten" {
        /// A new tensor over the same storage, with the same sizes and strides.
        ///
        /// PyTorch: `aten::alias`.
        alias(Tensor(a) self) -> Tensor(a);

        /// A new tensor over the same storage, detached from the autograd graph.
        ///
        /// PyTorch: `Tensor.detach`.
        detach(Tensor(a) self) -> Tensor(a);

        /// Detaches the tensor itself from the autograd graph.
        ///
        /// PyTorch: `Tensor.detach_`.
        #[tags(inplace_view)]
        detach_(Tensor(a!) self) -> Tensor(a!);

        /// A view with any sizes and strides over the storage of the tensor; the offset is that of the tensor unless
        /// given.
        ///
        /// # Errors
        /// Elements outside of the storage.
        ///
        /// PyTorch: `torch.as_strided`.
        as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a);

        /// Gives the tensor itself other sizes and strides over its storage.
        ///
        /// PyTorch: `Tensor.as_strided_`.
        #[tags(inplace_view)]
        as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a!);

        /// A view of the same elements, in the same order, in another shape; one size may be `-1`, to be inferred.
        ///
        /// # Errors
        /// A shape with another number of elements, strides that do not allow such a view.
        ///
        /// PyTorch: `Tensor.view`.
        view(Tensor(a) self, SymInt[] size) -> Tensor(a);

        /// [`view`](fn@view) of a temporary that has no other users: autograd does not treat the result as a view.
        ///
        /// PyTorch: `aten::_unsafe_view`.
        _unsafe_view(Tensor self, SymInt[] size) -> Tensor;

        /// The tensor that `self` is a slice of, as a view of the memory of `self`: with the sizes, strides and
        /// offset of `src`, which are those of that tensor. The bounds of the slice have no effect.
        ///
        /// # Errors
        /// Elements outside of the storage.
        ///
        /// PyTorch: `aten::slice_inverse`.
        slice_inverse(Tensor(a) self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None,
            SymInt step=1) -> Tensor(a);
        /// A [`view`](fn@view) whose strides are already known.
        ///
        /// PyTorch: `aten::_reshape_alias`.
        _reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a);

        /// A view of the same bytes as elements of another dtype.
        ///
        /// # Errors
        /// A dtype of another element size, unless the last dimension is contiguous and its size can be converted.
        ///
        /// PyTorch: `Tensor.view`.
        view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a);

        /// The tensor in another shape: a [`view`](fn@view) where the strides allow one, else a copy.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
        /// assert_eq!(aten::reshape(&aten::t(&x)?, &[2, -1])?.to_vec::<i32>()?, [1, 4, 2, 5, 3, 6]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// PyTorch: `torch.reshape`.
        reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a);
        /// [`reshape`](fn@reshape) that always copies.
        ///
        /// PyTorch: `aten::_reshape_copy`.
        #[variants(function)]
        _reshape_copy(Tensor self, SymInt[] size) -> Tensor;
        /// [`reshape`](fn@reshape) to the sizes in a vector of `int64`.
        ///
        /// # Errors
        /// Another dtype or number of dimensions of `shape`; the errors of [`reshape`](fn@reshape).
        ///
        /// PyTorch: `torch._reshape_from_tensor`.
        #[variants(function)]
        _reshape_from_tensor(Tensor self, Tensor shape) -> Tensor;

        /// A view with the dimensions in another order.
        ///
        /// PyTorch: `torch.permute`.
        permute(Tensor(a) self, int[] dims) -> Tensor(a);

        /// A view with two dimensions swapped.
        ///
        /// PyTorch: `torch.transpose`.
        transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a);

        /// Swaps two dimensions of the tensor itself.
        ///
        /// PyTorch: `Tensor.transpose_`.
        #[tags(inplace_view)]
        transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!);

        /// The transpose of a matrix; a tensor with fewer dimensions stays as it is.
        ///
        /// # Errors
        /// More than two dimensions.
        ///
        /// PyTorch: `torch.t`.
        t(Tensor(a) self) -> Tensor(a);

        /// A view with a new dimension of size 1 at a position.
        ///
        /// PyTorch: `torch.unsqueeze`.
        unsqueeze(Tensor(a) self, int dim) -> Tensor(a);

        /// Inserts a dimension of size 1 into the tensor itself.
        ///
        /// PyTorch: `Tensor.unsqueeze_`.
        #[tags(inplace_view)]
        unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!);

        /// A view without the dimensions of size 1.
        ///
        /// PyTorch: `torch.squeeze`.
        squeeze(Tensor(a) self) -> Tensor(a);

        /// A view without a dimension, if it is of size 1.
        ///
        /// PyTorch: `torch.squeeze`.
        squeeze.dim(Tensor(a) self, int dim) -> Tensor(a);

        /// A view without those of the given dimensions that are of size 1.
        ///
        /// PyTorch: `torch.squeeze`.
        squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a);

        /// Removes the dimensions of size 1 from the tensor itself.
        ///
        /// PyTorch: `Tensor.squeeze_`.
        #[tags(inplace_view)]
        squeeze_(Tensor(a!) self) -> Tensor(a!);

        /// Removes a dimension from the tensor itself, if it is of size 1.
        ///
        /// PyTorch: `Tensor.squeeze_`.
        #[tags(inplace_view)]
        squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!);

        /// A view in which dimensions of size 1 are expanded to other sizes, and new dimensions added in front; `-1`
        /// keeps a size.
        ///
        /// # Errors
        /// Another size for a dimension that is not of size 1, fewer sizes than dimensions.
        ///
        /// PyTorch: `Tensor.expand`.
        expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a);

        /// A view in which dimensions of size 1 are expanded to the sizes of another tensor.
        ///
        /// PyTorch: `Tensor.expand_as`.
        expand_as(Tensor(a) self, Tensor other) -> Tensor(a);

        /// A view in the shape of another tensor.
        ///
        /// PyTorch: `Tensor.view_as`.
        view_as(Tensor(a) self, Tensor other) -> Tensor(a);

        /// The tensor in the shape of another one: a view where the strides allow one, else a copy.
        ///
        /// PyTorch: `Tensor.reshape_as`.
        reshape_as(Tensor(a) self, Tensor other) -> Tensor(a);

        /// A view of every `step`-th index of a dimension, from `start` up to but not including `end`.
        ///
        /// Negative bounds count from the end; bounds are clamped to the dimension.
        ///
        /// # Errors
        /// A `step` that is not positive, a tensor without dimensions.
        ///
        /// PyTorch: `x[start:end:step]`.
        slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a);

        /// A view of one index of a dimension, which is removed.
        ///
        /// # Errors
        /// An index out of range, a tensor without dimensions.
        ///
        /// PyTorch: `torch.select`.
        select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a);

        /// A view of `length` indices of a dimension, from `start` on.
        ///
        /// # Errors
        /// A range that is out of bounds, a tensor without dimensions.
        ///
        /// PyTorch: `torch.narrow`.
        narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a);

        /// Flattens adjacent dimensions into one: a view where the strides allow one, else a copy.
        ///
        /// PyTorch: `torch.flatten`.
        flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a);

        /// Views of at most `chunks` parts along a dimension, all of one size except the last.
        ///
        /// # Errors
        /// `chunks` less than 1, a tensor without dimensions.
        ///
        /// PyTorch: `torch.chunk`.
        chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[];

        /// Views of parts of size `split_size` along a dimension; the last may be smaller.
        ///
        /// # Errors
        /// A negative size, or 0 for a dimension that is not empty; a tensor without dimensions.
        ///
        /// PyTorch: `torch.split`.
        split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[];

        /// Views of parts of the given sizes along a dimension.
        ///
        /// # Errors
        /// Sizes that do not add up to that of the dimension, a negative one, a tensor without dimensions.
        ///
        /// PyTorch: `torch.split`.
        split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[];

        /// A view of the diagonal of two dimensions, which becomes the last dimension.
        ///
        /// PyTorch: `torch.diagonal`.
        diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a);
        /// The elements of [`diagonal`](fn@diagonal) as a contiguous copy.
        ///
        /// # Errors
        /// Dimensions out of range or equal.
        ///
        /// PyTorch: `torch.diagonal_copy`.
        diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor;
        /// Views of the slices at each index of a dimension, which is removed.
        ///
        /// PyTorch: `torch.unbind`.
        unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[];
        /// A view with a dimension moved to another position.
        ///
        /// PyTorch: `torch.movedim`.
        movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a);
        /// A copy in which the slice that [`select`](fn@select_int) would show is replaced by `src`.
        ///
        /// # Errors
        /// A `src` of other sizes than the slice.
        ///
        /// PyTorch: `torch.select_scatter`.
        select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor;

        /// A copy in which the part that [`slice`](fn@slice_Tensor) would show is replaced by `src`.
        ///
        /// # Errors
        /// A `src` of other sizes than the part.
        ///
        /// PyTorch: `torch.slice_scatter`.
        slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None,
            SymInt step=1) -> Tensor;

        /// A copy in which the [`diagonal`](fn@diagonal) is replaced by `src`.
        ///
        /// # Errors
        /// A `src` of other sizes than the diagonal.
        ///
        /// PyTorch: `torch.diagonal_scatter`.
        diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor;

        /// Fills the elements whose indices are all equal; with `wrap`, a matrix with more rows than columns gets
        /// another diagonal after each row that follows one.
        ///
        /// # Errors
        /// Fewer than two dimensions, more than two of different sizes, a number that the dtype does not hold.
        ///
        /// PyTorch: `Tensor.fill_diagonal_`.
        fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!);

        /// A copy in which the elements that [`as_strided`](fn@as_strided) would show are replaced by `src`.
        ///
        /// # Errors
        /// A `src` whose sizes are not `size`, elements outside of the storage.
        ///
        /// PyTorch: `torch.as_strided_scatter`.
        as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride,
            SymInt? storage_offset=None) -> Tensor;

        /// The complex conjugate as a lazy view: it is computed when the elements are needed. Real tensors stay as they
        /// are.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let x = Tensor::from([Complex64::new(1.0, 2.0)]);
        /// let y = aten::conj(&x)?;
        /// assert!(aten::is_conj(&y)? && y.shares_storage_with(&x));
        /// assert_eq!(y.to_vec::<Complex64>()?, [Complex64::new(1.0, -2.0)]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// PyTorch: `torch.conj`.
        conj(Tensor(a) self) -> Tensor(a);

        /// [`conj`](fn@conj) of a complex tensor.
        ///
        /// PyTorch: `aten::_conj`.
        _conj(Tensor(a) self) -> Tensor(a);

        /// The negative as a lazy view: it is computed when the elements are needed.
        ///
        /// PyTorch: `aten::_neg_view`.
        _neg_view(Tensor(a) self) -> Tensor(a);

        /// The tensor itself, or, if it is a lazy [`conj`](fn@conj), a copy with the conjugate computed.
        ///
        /// PyTorch: `torch.resolve_conj`.
        resolve_conj(Tensor(a) self) -> Tensor(a);

        /// The tensor itself, or, if it is a lazy negative, a copy with the negative computed.
        ///
        /// PyTorch: `torch.resolve_neg`.
        resolve_neg(Tensor(a) self) -> Tensor(a);

        /// Whether the tensor is a lazy conjugate of what is in its storage.
        ///
        /// PyTorch: `torch.is_conj`.
        is_conj(Tensor self) -> bool;

        /// Whether the tensor is a lazy negative of what is in its storage.
        ///
        /// PyTorch: `torch.is_neg`.
        is_neg(Tensor self) -> bool;

        /// The complex conjugate, computed at once; a real tensor is returned as it is, with the same storage.
        ///
        /// PyTorch: `torch.conj_physical`.
        conj_physical(Tensor self) -> Tensor;

        /// The complex conjugate of each element, in a new tensor.
        ///
        /// PyTorch: `torch._conj_physical`.
        #[tags(pointwise)]
        _conj_physical(Tensor self) -> Tensor;

        /// A view of the real parts; a real tensor stays as it is.
        ///
        /// PyTorch: `torch.real`.
        real(Tensor(a) self) -> Tensor(a);

        /// A view of the imaginary parts.
        ///
        /// # Errors
        /// A real dtype.
        ///
        /// PyTorch: `torch.imag`.
        imag(Tensor(a) self) -> Tensor(a);

        /// A view of complex numbers as pairs of real ones, in a new last dimension.
        ///
        /// # Errors
        /// A real dtype; a lazy conjugate, whose imaginary parts are not in memory.
        ///
        /// PyTorch: `torch.view_as_real`.
        view_as_real(Tensor(a) self) -> Tensor(a);

        /// A view of pairs of real numbers, in the last dimension, as complex numbers.
        ///
        /// # Errors
        /// A dtype other than `float16`, `float32` and `float64`, a last dimension of another size than two, strides
        /// that are not those of complex numbers.
        ///
        /// PyTorch: `torch.view_as_complex`.
        view_as_complex(Tensor(a) self) -> Tensor(a);

        /// A tensor of zeros that takes no memory; operators see ordinary zeros in its place.
        ///
        /// PyTorch: `torch._efficientzerotensor`.
        _efficientzerotensor(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// Whether a tensor is one of zeros that takes no memory.
        ///
        /// PyTorch: `torch._is_zerotensor`.
        _is_zerotensor(Tensor self) -> bool;

        /// A view of the sliding windows of a dimension, `step` apart; their elements are a new last dimension. The
        /// dimension itself then counts the windows.
        ///
        /// # Errors
        /// A `size` above that of the dimension, a `step` that is not positive.
        ///
        /// PyTorch: `Tensor.unfold`.
        unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a);
        /// Removes those of the given dimensions that are of size 1 from the tensor itself.
        ///
        /// PyTorch: `Tensor.squeeze_`.
        #[tags(inplace_view)]
        squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!);
        /// Transposes the matrix itself.
        ///
        /// # Errors
        /// More than two dimensions.
        ///
        /// PyTorch: `Tensor.t_`.
        #[tags(inplace_view)]
        t_(Tensor(a!) self) -> Tensor(a!);

        /// The gradient of the input of [`diagonal`](fn@diagonal): `grad_output` on the diagonal, and zeros elsewhere.
        ///
        /// # Errors
        /// A gradient that does not broadcast to the diagonal.
        ///
        /// PyTorch: `aten::diagonal_backward`.
        diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor;
        /// The gradient of the input of [`unfold`](fn@unfold): the sum over all windows.
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the windows.
        ///
        /// PyTorch: `aten::unfold_backward`.
        unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor;
        /// [`split_Tensor`](fn@split_Tensor), but autograd does not treat the parts as views. They share the storage
        /// all the same.
        ///
        /// # Errors
        /// The errors of [`split_Tensor`](fn@split_Tensor).
        ///
        /// PyTorch: `torch.unsafe_split`.
        #[variants(function)]
        unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[];
        /// [`split_with_sizes`](fn@split_with_sizes), but autograd does not treat the parts as views.
        ///
        /// # Errors
        /// The errors of [`split_with_sizes`](fn@split_with_sizes).
        ///
        /// PyTorch: `torch.unsafe_split_with_sizes`.
        #[variants(function)]
        unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[];
        /// [`chunk`](fn@chunk), but autograd does not treat the parts as views.
        ///
        /// # Errors
        /// The errors of [`chunk`](fn@chunk).
        ///
        /// PyTorch: `torch.unsafe_chunk`.
        #[variants(function)]
        unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[];
    }
}
