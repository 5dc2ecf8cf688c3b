//! Operators that copy elements: between tensors, types and memory formats.

use torch_library::torch_library;

torch_library! {
    /// Copies, on top of what was declared before.
    #[methods(CopyMethods)]
    pub mod aten extends super::create::aten {
        /// Writes the elements of another tensor, which broadcasts to this one, converting them to its type.
        ///
        /// PyTorch: `Tensor.copy_`.
        copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!);

        /// What [`copy_`](fn@copy_) would make of a tensor, as a new one with the same strides.
        ///
        /// PyTorch: `aten::copy`.
        #[variants(function)] // `clone` is the method of this name
        copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor;

        /// A copy in memory of its own. The method is called `copy`, since `clone` copies the handle.
        ///
        /// PyTorch: `torch.clone`.
        clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor;

        /// The tensor itself if its elements lie in the memory format, else a copy of which that is true.
        ///
        /// PyTorch: `Tensor.contiguous`.
        contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a);

        /// Whether the elements lie in row-major order without gaps.
        ///
        /// PyTorch: `Tensor.is_contiguous`.
        is_contiguous(Tensor self) -> bool;

        /// Whether the elements lie in a memory format without gaps.
        ///
        /// PyTorch: `Tensor.is_contiguous`.
        is_contiguous.memory_format(Tensor self, MemoryFormat memory_format) -> bool;

        /// A copy of another type, device or memory format.
        ///
        /// PyTorch: `aten::_to_copy`, the part of `Tensor.to` that computes.
        _to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor;

        /// The tensor itself if it has the type already, else a copy that has.
        ///
        /// PyTorch: `Tensor.to`.
        to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False,
            MemoryFormat? memory_format=None) -> Tensor(a);
        /// The tensor on a device and of a type: itself if it is that already, else a copy.
        ///
        /// PyTorch: `Tensor.to`.
        to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False,
            MemoryFormat? memory_format=None) -> Tensor(a);
        /// The tensor on the device and of the type of another.
        ///
        /// PyTorch: `Tensor.to`.
        to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False,
            MemoryFormat? memory_format=None) -> Tensor(a);
        /// The tensor as these options say: itself if it is that already, else a copy.
        ///
        /// PyTorch: `Tensor.to`.
        to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, bool non_blocking=False, bool copy=False,
            MemoryFormat? memory_format=None) -> Tensor(a);
        /// The tensor in the type of another, on its device.
        ///
        /// PyTorch: `Tensor.type_as`.
        type_as(Tensor self, Tensor other) -> Tensor;
    }
}
