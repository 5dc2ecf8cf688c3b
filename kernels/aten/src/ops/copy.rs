//! Operators that copy elements, between tensors, dtypes, devices and memory formats.

use torch_library::torch_library;

torch_library! {
    /// Copies.
    #[methods(CopyMethods)]
    pub mod aten extends "aten" {
        /// Copies the elements of `src`, which broadcasts to the sizes of `self`, and converts them to the dtype of
        /// `self`.
        ///
        /// # Errors
        /// A `src` that does not broadcast to `self`, a `self` whose elements share memory.
        ///
        /// PyTorch: `Tensor.copy_`.
        copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!);

        /// The functional form of [`copy_`](fn@copy_): a new tensor with the sizes, dtype and strides of `self`.
        ///
        /// PyTorch: `aten::copy`.
        #[variants(function)] // the method `copy` is that of `clone`
        copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor;

        /// A copy with its own storage. The method is called `copy`, since Rust's `clone` copies the handle.
        ///
        /// # Errors
        /// A memory format for another number of dimensions.
        ///
        /// PyTorch: `torch.clone`.
        clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor;

        /// [`clone`](fn@clone), which some backends put off until one of the two tensors is written to.
        ///
        /// PyTorch: `aten::_lazy_clone`.
        #[variants(function)]
        _lazy_clone(Tensor self) -> Tensor;

        /// The tensor itself if it is contiguous in the memory format, else a contiguous copy.
        ///
        /// PyTorch: `Tensor.contiguous`.
        contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a);

        /// Whether the elements lie in row-major order without gaps.
        ///
        /// PyTorch: `Tensor.is_contiguous`.
        #[variants(function)] // tensors have a method of this name
        is_contiguous(Tensor self) -> bool;

        /// Whether the elements lie in the order of a memory format, without gaps.
        ///
        /// PyTorch: `Tensor.is_contiguous`.
        is_contiguous.memory_format(Tensor self, MemoryFormat memory_format) -> bool;

        /// A copy in another dtype, on another device or in another memory format.
        ///
        /// PyTorch: `aten::_to_copy`, the part of `Tensor.to` that computes.
        _to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor;

        /// The tensor itself if it has the dtype already, else a copy converted to it.
        ///
        /// PyTorch: `Tensor.to`.
        to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False,
            MemoryFormat? memory_format=None) -> Tensor(a);
        /// The tensor itself if it has the device and the dtype already, else a copy converted to them.
        ///
        /// PyTorch: `Tensor.to`.
        to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False,
            MemoryFormat? memory_format=None) -> Tensor(a);
        /// The tensor converted to the device and dtype of `other`.
        ///
        /// PyTorch: `Tensor.to`.
        to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False,
            MemoryFormat? memory_format=None) -> Tensor(a);
        /// The tensor itself if it has these options already, else a copy converted to them.
        ///
        /// PyTorch: `Tensor.to`.
        to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, bool non_blocking=False, bool copy=False,
            MemoryFormat? memory_format=None) -> Tensor(a);
        /// The tensor converted to the dtype and device of `other`.
        ///
        /// PyTorch: `Tensor.type_as`.
        type_as(Tensor self, Tensor other) -> Tensor;

        /// [`to_dtype`](fn@to_dtype) with `uint8`.
        ///
        /// PyTorch: `aten::_cast_Byte`.
        #[variants(function)]
        _cast_Byte(Tensor self, bool non_blocking=False) -> Tensor;
        /// [`to_dtype`](fn@to_dtype) with `int8`.
        ///
        /// PyTorch: `aten::_cast_Char`.
        #[variants(function)]
        _cast_Char(Tensor self, bool non_blocking=False) -> Tensor;
        /// [`to_dtype`](fn@to_dtype) with `float64`.
        ///
        /// PyTorch: `aten::_cast_Double`.
        #[variants(function)]
        _cast_Double(Tensor self, bool non_blocking=False) -> Tensor;
        /// [`to_dtype`](fn@to_dtype) with `float32`.
        ///
        /// PyTorch: `aten::_cast_Float`.
        #[variants(function)]
        _cast_Float(Tensor self, bool non_blocking=False) -> Tensor;
        /// [`to_dtype`](fn@to_dtype) with `float16`.
        ///
        /// PyTorch: `aten::_cast_Half`.
        #[variants(function)]
        _cast_Half(Tensor self, bool non_blocking=False) -> Tensor;
        /// [`to_dtype`](fn@to_dtype) with `int32`.
        ///
        /// PyTorch: `aten::_cast_Int`.
        #[variants(function)]
        _cast_Int(Tensor self, bool non_blocking=False) -> Tensor;
        /// [`to_dtype`](fn@to_dtype) with `int64`.
        ///
        /// PyTorch: `aten::_cast_Long`.
        #[variants(function)]
        _cast_Long(Tensor self, bool non_blocking=False) -> Tensor;
        /// [`to_dtype`](fn@to_dtype) with `int16`.
        ///
        /// PyTorch: `aten::_cast_Short`.
        #[variants(function)]
        _cast_Short(Tensor self, bool non_blocking=False) -> Tensor;
        /// The tensor converted to complex numbers of half precision.
        ///
        /// PyTorch: `Tensor.chalf`.
        #[variants(function)]
        chalf(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor;
    }
}
