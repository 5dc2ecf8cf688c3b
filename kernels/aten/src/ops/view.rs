//! Operators that look at the same elements in another shape. Their results share memory with their input.

use torch_library::torch_library;

torch_library! {
    /// Views, on top of what was declared before.
    #[methods(ViewMethods)]
    #[overloads(function)]
    pub mod aten extends super::copy::aten {
        /// Another tensor over the same elements.
        ///
        /// PyTorch: `aten::alias`.
        alias(Tensor(a) self) -> Tensor(a);

        /// Another tensor over the same elements, of which autograd knows nothing.
        ///
        /// PyTorch: `Tensor.detach`.
        detach(Tensor(a) self) -> Tensor(a);

        /// Makes autograd forget where this tensor came from.
        ///
        /// PyTorch: `Tensor.detach_`.
        #[tags(inplace_view)]
        detach_(Tensor(a!) self) -> Tensor(a!);

        /// Any sizes and strides over the tensor's memory; the offset is the tensor's own unless given.
        ///
        /// # Errors
        /// Elements outside of the memory.
        ///
        /// PyTorch: `torch.as_strided`.
        as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a);

        /// Moves the tensor itself to other sizes and strides over its memory.
        ///
        /// PyTorch: `Tensor.as_strided_`.
        #[tags(inplace_view)]
        as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a!);

        /// The same elements, in the same order, in another shape; one size may be `-1`, to be worked out.
        ///
        /// # Errors
        /// A shape of another number of elements, strides that allow no such view.
        ///
        /// PyTorch: `Tensor.view`.
        view(Tensor(a) self, SymInt[] size) -> Tensor(a);

        /// As [`view`](fn@view), of a tensor that nobody else will look at: the result is no view to autograd.
        ///
        /// PyTorch: `aten::_unsafe_view`.
        _unsafe_view(Tensor self, SymInt[] size) -> Tensor;

        /// A [`view`](fn@view) whose strides are known already.
        ///
        /// PyTorch: `aten::_reshape_alias`.
        _reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a);

        /// The same bytes as elements of another type.
        ///
        /// # Errors
        /// A type of another size unless the last dimension is dense and can be divided.
        ///
        /// PyTorch: `Tensor.view`.
        view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a);

        /// The same elements in another shape: a [`view`](fn@view) where the strides allow one, else a copy.
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

        /// The dimensions in another order.
        ///
        /// PyTorch: `torch.permute`.
        permute(Tensor(a) self, int[] dims) -> Tensor(a);

        /// Two dimensions swapped.
        ///
        /// PyTorch: `torch.transpose`.
        transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a);

        /// Swaps two dimensions of the tensor itself.
        ///
        /// PyTorch: `Tensor.transpose_`.
        #[tags(inplace_view)]
        transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!);

        /// The transposed matrix; a tensor of fewer dimensions as it is.
        ///
        /// # Errors
        /// More than two dimensions.
        ///
        /// PyTorch: `torch.t`.
        t(Tensor(a) self) -> Tensor(a);

        /// A new dimension of size 1 at a position.
        ///
        /// PyTorch: `torch.unsqueeze`.
        unsqueeze(Tensor(a) self, int dim) -> Tensor(a);

        /// Gives the tensor itself a new dimension of size 1.
        ///
        /// PyTorch: `Tensor.unsqueeze_`.
        #[tags(inplace_view)]
        unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!);

        /// Without the dimensions of size 1.
        ///
        /// PyTorch: `torch.squeeze`.
        squeeze(Tensor(a) self) -> Tensor(a);

        /// Without a dimension, if it is of size 1.
        ///
        /// PyTorch: `torch.squeeze`.
        squeeze.dim(Tensor(a) self, int dim) -> Tensor(a);

        /// Without those of some dimensions that are of size 1.
        ///
        /// PyTorch: `torch.squeeze`.
        squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a);

        /// Takes the dimensions of size 1 from the tensor itself.
        ///
        /// PyTorch: `Tensor.squeeze_`.
        #[tags(inplace_view)]
        squeeze_(Tensor(a!) self) -> Tensor(a!);

        /// Takes a dimension from the tensor itself, if it is of size 1.
        ///
        /// PyTorch: `Tensor.squeeze_`.
        #[tags(inplace_view)]
        squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!);

        /// Dimensions of size 1 repeated to other sizes, and new ones in front; `-1` keeps a size.
        ///
        /// PyTorch: `Tensor.expand`.
        expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a);

        /// Dimensions of size 1 repeated to the sizes of another tensor.
        ///
        /// PyTorch: `Tensor.expand_as`.
        expand_as(Tensor(a) self, Tensor other) -> Tensor(a);

        /// The same elements in the shape of another tensor.
        ///
        /// PyTorch: `Tensor.view_as`.
        view_as(Tensor(a) self, Tensor other) -> Tensor(a);

        /// The same elements in the shape of another tensor, copied if need be.
        ///
        /// PyTorch: `Tensor.reshape_as`.
        reshape_as(Tensor(a) self, Tensor other) -> Tensor(a);

        /// Every `step`-th index of a dimension, from `start` up to but not including `end`.
        ///
        /// Bounds count from the back if negative, and are cut to the dimension.
        ///
        /// PyTorch: `x[start:end:step]`.
        slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a);

        /// One index of a dimension, which is gone in the result.
        ///
        /// PyTorch: `torch.select`.
        select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a);

        /// `length` indices of a dimension, from `start`.
        ///
        /// PyTorch: `torch.narrow`.
        narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a);

        /// Some neighbouring dimensions as one.
        ///
        /// PyTorch: `torch.flatten`.
        flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a);

        /// At most so many parts along a dimension, all of one size but the last.
        ///
        /// PyTorch: `torch.chunk`.
        chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[];

        /// Parts of a size along a dimension; the last may be smaller.
        ///
        /// PyTorch: `torch.split`.
        split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[];

        /// Parts of given sizes along a dimension.
        ///
        /// PyTorch: `torch.split`.
        split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[];

        /// The elements on a diagonal of two dimensions, which come last as one.
        ///
        /// PyTorch: `torch.diagonal`.
        diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a);
        /// [`diagonal`](fn@diagonal) in memory of its own, row-major.
        ///
        /// # Errors
        /// Dimensions that are not there, or twice the same.
        ///
        /// PyTorch: `torch.diagonal_copy`.
        diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor;
        /// A slice for each index of a dimension.
        ///
        /// PyTorch: `torch.unbind`.
        unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[];
        /// One dimension at another place.
        ///
        /// PyTorch: `torch.movedim`.
        movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a);
        /// A copy of a tensor in which the slice that [`select`](fn@select_int) would show is another.
        ///
        /// # Errors
        /// A slice of other sizes.
        ///
        /// PyTorch: `torch.select_scatter`.
        select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor;

        /// A copy of a tensor in which the part that [`slice`](fn@slice_Tensor) would show is another.
        ///
        /// # Errors
        /// A part of other sizes.
        ///
        /// PyTorch: `torch.slice_scatter`.
        slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None,
            SymInt step=1) -> Tensor;

        /// A copy of a tensor in which the [`diagonal`](fn@diagonal) is another.
        ///
        /// # Errors
        /// A diagonal of other sizes.
        ///
        /// PyTorch: `torch.diagonal_scatter`.
        diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor;

        /// A copy of a tensor in which the elements that [`as_strided`](fn@as_strided) would show are others.
        ///
        /// # Errors
        /// As many elements of other sizes, places outside of the memory.
        ///
        /// PyTorch: `torch.as_strided_scatter`.
        as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride,
            SymInt? storage_offset=None) -> Tensor;

        /// The complex conjugate, which is computed when somebody needs it; real numbers as they are.
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

        /// As [`conj`](fn@conj), of complex numbers only.
        ///
        /// PyTorch: `aten::_conj`.
        _conj(Tensor(a) self) -> Tensor(a);

        /// The negative, which is computed when somebody needs it.
        ///
        /// PyTorch: `aten::_neg_view`.
        _neg_view(Tensor(a) self) -> Tensor(a);

        /// The tensor itself, or a copy of what a lazy [`conj`](fn@conj) stands for.
        ///
        /// PyTorch: `torch.resolve_conj`.
        resolve_conj(Tensor(a) self) -> Tensor(a);

        /// The tensor itself, or a copy of what a lazy negative stands for.
        ///
        /// PyTorch: `torch.resolve_neg`.
        resolve_neg(Tensor(a) self) -> Tensor(a);

        /// Whether the elements are the conjugates of those in memory.
        ///
        /// PyTorch: `torch.is_conj`.
        is_conj(Tensor self) -> bool;

        /// Whether the elements are the negatives of those in memory.
        ///
        /// PyTorch: `torch.is_neg`.
        is_neg(Tensor self) -> bool;

        /// The complex conjugate, computed at once; real numbers as they are, in the same memory.
        ///
        /// PyTorch: `torch.conj_physical`.
        conj_physical(Tensor self) -> Tensor;

        /// The conjugate of each element, in memory of its own.
        ///
        /// PyTorch: `torch._conj_physical`.
        #[tags(pointwise)]
        _conj_physical(Tensor self) -> Tensor;

        /// The real parts, in the same memory; real numbers as they are.
        ///
        /// PyTorch: `torch.real`.
        real(Tensor(a) self) -> Tensor(a);

        /// The imaginary parts, in the same memory.
        ///
        /// # Errors
        /// Real numbers, which have none.
        ///
        /// PyTorch: `torch.imag`.
        imag(Tensor(a) self) -> Tensor(a);

        /// Complex numbers as pairs of real ones, in the last dimension.
        ///
        /// # Errors
        /// Real numbers; a lazy conjugate, whose imaginary parts are not in memory.
        ///
        /// PyTorch: `torch.view_as_real`.
        view_as_real(Tensor(a) self) -> Tensor(a);

        /// Complex numbers of their real and imaginary parts, which broadcast.
        ///
        /// # Errors
        /// Parts of two types, or of others than `float16`, `float32` and `float64`.
        ///
        /// PyTorch: `torch.complex`.
        complex(Tensor real, Tensor imag) -> Tensor;
        /// Complex numbers of their magnitudes and angles, which broadcast.
        ///
        /// # Errors
        /// Those of two types, or of others than `float16`, `float32` and `float64`.
        ///
        /// PyTorch: `torch.polar`.
        polar(Tensor abs, Tensor angle) -> Tensor;
        /// Pairs of real numbers, in the last dimension, as complex ones.
        ///
        /// # Errors
        /// A last dimension of another size than two, or strides between which no complex number lies.
        ///
        /// PyTorch: `torch.view_as_complex`.
        view_as_complex(Tensor(a) self) -> Tensor(a);

        /// Zeros that take no memory; operators get zeros that do.
        ///
        /// PyTorch: `torch._efficientzerotensor`.
        _efficientzerotensor(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None) -> Tensor;

        /// Whether a tensor is of zeros that take no memory.
        ///
        /// PyTorch: `torch._is_zerotensor`.
        _is_zerotensor(Tensor self) -> bool;

        /// Windows of a dimension, `step` apart; what lies in them is a new last dimension.
        ///
        /// PyTorch: `Tensor.unfold`.
        unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a);
        /// Drops these dimensions where they are of size 1.
        ///
        /// PyTorch: `Tensor.squeeze_`.
        #[tags(inplace_view)]
        squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!);
        /// Swaps the two dimensions of a matrix.
        ///
        /// # Errors
        /// More than two dimensions.
        ///
        /// PyTorch: `Tensor.t_`.
        #[tags(inplace_view)]
        t_(Tensor(a!) self) -> Tensor(a!);

        /// A gradient of a [`diagonal`](fn@diagonal), put into zeros of the sizes of its input.
        ///
        /// # Errors
        /// A gradient that does not broadcast to the diagonal.
        ///
        /// PyTorch: `aten::diagonal_backward`.
        diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor;
        /// A gradient of windows of `unfold`, summed into the sizes of its input.
        ///
        /// # Errors
        /// A gradient of other sizes than the windows have.
        ///
        /// PyTorch: `aten::unfold_backward`.
        unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor;
    }
}
