//! Sizes of tensors that change in place, tensors from nowhere, and numbers taken out of tensors.

use torch_library::torch_library;

torch_library! {
    /// Sizes and numbers, on top of what was declared before.
    pub mod aten extends super::segment::aten {
        /// Gives a tensor other sizes, and more memory where it takes more; elements stay where they lie.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let mut x = Tensor::from([1, 2, 3, 4, 5]);
        /// aten::resize_(&mut x, &[2, 2])?;
        /// assert_eq!(x.to_string(), "tensor([[1, 2],\n        [3, 4]], dtype=torch.int32)");
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// A tensor that requires grad, negative sizes, a memory format that the sizes do not have.
        ///
        /// PyTorch: `Tensor.resize_`.
        #[tags(inplace_view)]
        resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!);
        /// What [`resize_`](fn@resize_) would make of a copy.
        ///
        /// # Errors
        /// Those of that.
        ///
        /// PyTorch: `aten::resize`.
        #[variants(function)]
        resize(Tensor self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor;
        /// As [`resize_`](fn@resize_), to the sizes of another tensor; with `preserve_format` to its memory format,
        /// too.
        ///
        /// # Errors
        /// Those of that.
        ///
        /// PyTorch: `Tensor.resize_as_`.
        #[tags(inplace_view)]
        resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!);
        /// What [`resize_as_`](fn@resize_as_) would make of a copy.
        ///
        /// # Errors
        /// Those of that.
        ///
        /// PyTorch: `aten::resize_as`.
        resize_as(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor;
        /// The tensor itself: where layers see one that was made outside of them.
        ///
        /// PyTorch: `aten::lift`.
        lift(Tensor self) -> Tensor;
        /// The tensor itself: where layers see one that was just made, as constants of exported programs are.
        ///
        /// PyTorch: `aten::lift_fresh`.
        lift_fresh(Tensor(a) self) -> Tensor(a);
        /// A tensor whose elements are unspecified (here: zero), and whose dimensions lie in memory in this order.
        ///
        /// # Errors
        /// An order that is none of the dimensions, negative sizes.
        ///
        /// PyTorch: `torch.empty_permuted`.
        empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// The only element.
        ///
        /// # Errors
        /// More or less than one element, memory that the host does not reach.
        ///
        /// PyTorch: `Tensor.item`.
        #[tags(data_dependent_output)]
        #[variants(function)] // tensors have a method of this name
        item(Tensor self) -> Scalar;
        /// The first element.
        ///
        /// # Errors
        /// No elements, memory that the host does not reach.
        ///
        /// PyTorch: `aten::_local_scalar_dense`.
        #[tags(data_dependent_output)]
        _local_scalar_dense(Tensor self) -> Scalar;
        /// Whether the only element is other than zero.
        ///
        /// # Errors
        /// More or less than one element, memory that the host does not reach.
        ///
        /// PyTorch: `torch.is_nonzero`.
        is_nonzero(Tensor self) -> bool;
        /// Whether results of one type may be written to tensors of another.
        ///
        /// PyTorch: `torch.can_cast`.
        can_cast(ScalarType from_, ScalarType to) -> bool;
    }
}
