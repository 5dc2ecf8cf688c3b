//! Resizing in place, tensors lifted into layers, and conversions of one element to a number.

use torch_library::torch_library;

torch_library! {
    /// Resizing and conversions to numbers.
    pub mod aten extends "aten" {
        /// Resizes the tensor in place. Its storage grows if it must; the elements keep their positions in the storage.
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
        /// A tensor that requires a gradient, negative sizes, a memory format that such sizes cannot have.
        ///
        /// PyTorch: `Tensor.resize_`.
        #[tags(inplace_view)]
        resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!);
        /// The functional form of [`resize_`](fn@resize_): resizes a copy.
        ///
        /// # Errors
        /// The errors of [`resize_`](fn@resize_).
        ///
        /// PyTorch: `aten::resize`.
        #[variants(function)]
        resize(Tensor self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor;
        /// [`resize_`](fn@resize_) to the sizes of `the_template`, and with `preserve_format` to its memory format,
        /// too.
        ///
        /// # Errors
        /// The errors of [`resize_`](fn@resize_).
        ///
        /// PyTorch: `Tensor.resize_as_`.
        #[tags(inplace_view)]
        resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!);
        /// The functional form of [`resize_as_`](fn@resize_as_): resizes a copy.
        ///
        /// # Errors
        /// The errors of [`resize_as_`](fn@resize_as_).
        ///
        /// PyTorch: `aten::resize_as`.
        resize_as(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor;
        /// The tensor itself: tells layers, such as functionalization, of a tensor that was created outside of them.
        ///
        /// PyTorch: `aten::lift`.
        lift(Tensor self) -> Tensor;
        /// The tensor itself: tells layers of a tensor that was just created, like a constant of an exported program.
        ///
        /// PyTorch: `aten::lift_fresh`.
        lift_fresh(Tensor(a) self) -> Tensor(a);
        /// A tensor with unspecified elements (here: zero), whose dimensions lie in memory in the order of
        /// `physical_layout`.
        ///
        /// # Errors
        /// A `physical_layout` that is not a permutation of the dimensions, negative sizes.
        ///
        /// PyTorch: `torch.empty_permuted`.
        empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;

        /// The elements of a file, in this machine's byte order, as a vector of `size` elements. The file is read when
        /// the operator is called: what is written to it later does not change the tensor, nor the other way round.
        ///
        /// # Errors
        /// A file that cannot be read or has fewer elements, a negative `size`, a device other than the CPU,
        /// `shared=True`: memory that other programs change is not safe to read.
        ///
        /// PyTorch: `torch.from_file`.
        from_file(str filename, bool? shared=None, int? size=0, *, ScalarType? dtype=None, Layout? layout=None,
            Device? device=None, bool? pin_memory=None) -> Tensor;
        /// The tensor without its history, on the same memory.
        ///
        /// PyTorch: `aten::data`, behind `Tensor.data`.
        #[variants(function)]
        data(Tensor self) -> Tensor;
        /// A dense tensor of these elements: the tensor itself, converted to `dtype` if that is another one.
        ///
        /// PyTorch: `Tensor.to_dense`.
        #[variants(function)]
        to_dense(Tensor self, ScalarType? dtype=None, *, bool? masked_grad=None) -> Tensor;
        /// The tensors in the memory of the host; those that are there already are returned themselves.
        ///
        /// PyTorch: `aten::_to_cpu`.
        _to_cpu(Tensor[] tensors) -> Tensor[];

        /// The only element of a tensor, as a number.
        ///
        /// # Errors
        /// A number of elements other than one, memory that the host cannot access.
        ///
        /// PyTorch: `Tensor.item`.
        #[tags(data_dependent_output)]
        #[variants(function)] // tensors have a method of this name
        item(Tensor self) -> Scalar;
        /// The first element of a tensor, as a number.
        ///
        /// # Errors
        /// A tensor without elements, memory that the host cannot access.
        ///
        /// PyTorch: `aten::_local_scalar_dense`.
        #[tags(data_dependent_output)]
        _local_scalar_dense(Tensor self) -> Scalar;
        /// Whether the only element of a tensor is nonzero.
        ///
        /// # Errors
        /// A number of elements other than one, memory that the host cannot access.
        ///
        /// PyTorch: `torch.is_nonzero`.
        is_nonzero(Tensor self) -> bool;
        /// Whether results of dtype `from_` may be written to tensors of dtype `to`.
        ///
        /// PyTorch: `torch.can_cast`.
        can_cast(ScalarType from_, ScalarType to) -> bool;
        /// The dtype that tensors of both promote to: `float32` for `int64` and `float32`, `int16` for `int8` and
        /// `uint8`.
        ///
        /// # Errors
        /// Two different dtypes of which one is an 8-bit float.
        ///
        /// PyTorch: `torch.promote_types`.
        promote_types(ScalarType type1, ScalarType type2) -> ScalarType;
        /// The dtype of arithmetic with two tensors. A tensor without dimensions counts only if it is of a higher
        /// category than the other: boolean, integer, floating-point and complex, in this order.
        ///
        /// # Errors
        /// Those of [`promote_types`](fn@promote_types).
        ///
        /// PyTorch: `torch.result_type`.
        result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType;
        /// The dtype of arithmetic with a tensor and a scalar.
        ///
        /// PyTorch: `torch.result_type`.
        result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType;
        /// The dtype of arithmetic with a scalar and a tensor.
        ///
        /// PyTorch: `torch.result_type`.
        result_type.Scalar_Tensor(Scalar scalar, Tensor tensor) -> ScalarType;
        /// The dtype of arithmetic with two scalars.
        ///
        /// PyTorch: `torch.result_type`.
        result_type.Scalar_Scalar(Scalar scalar1, Scalar scalar2) -> ScalarType;
    }
}
