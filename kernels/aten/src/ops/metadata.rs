//! Sizes, strides and other facts about a tensor as numbers, and facts about this library.

use torch_library::torch_library;

torch_library! {
    /// Facts about tensors.
    pub mod aten extends "aten" {
        /// The size of a dimension.
        ///
        /// # Errors
        /// A dimension out of range.
        ///
        /// PyTorch: `Tensor.size`.
        size.int(Tensor self, int dim) -> int;
        /// The stride of a dimension.
        ///
        /// # Errors
        /// A dimension out of range.
        ///
        /// PyTorch: `Tensor.stride`.
        stride.int(Tensor self, int dim) -> int;
        /// [`size_int`](fn@size_int) in exported programs whose sizes are not known beforehand.
        ///
        /// PyTorch: `aten::sym_size.int`.
        sym_size.int(Tensor self, int dim) -> SymInt;
        /// [`stride_int`](fn@stride_int) in exported programs whose sizes are not known beforehand.
        ///
        /// PyTorch: `aten::sym_stride.int`.
        sym_stride.int(Tensor self, int dim) -> SymInt;
        /// The sizes as a vector of `int64`.
        ///
        /// PyTorch: `torch._shape_as_tensor`.
        _shape_as_tensor(Tensor self) -> Tensor;
        /// [`numel`](fn@numel) in exported programs whose sizes are not known beforehand.
        ///
        /// PyTorch: `aten::sym_numel`.
        sym_numel(Tensor self) -> SymInt;
        /// [`storage_offset`](fn@storage_offset) in exported programs whose sizes are not known beforehand.
        ///
        /// PyTorch: `aten::sym_storage_offset`.
        sym_storage_offset(Tensor self) -> SymInt;
        /// The number of elements.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
        /// assert_eq!((aten::numel(&x)?, aten::dim(&x)?, aten::size_int(&x, -1)?), (6, 2, 3));
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// PyTorch: `torch.numel`.
        numel(Tensor self) -> int;
        /// The number of dimensions.
        ///
        /// PyTorch: `Tensor.dim`.
        dim(Tensor self) -> int;
        /// The number of dimensions: all of them are dense.
        ///
        /// PyTorch: `Tensor.dense_dim`.
        dense_dim(Tensor self) -> int;
        /// Whether two tensors have the same sizes.
        ///
        /// PyTorch: `torch.is_same_size`.
        is_same_size(Tensor self, Tensor other) -> bool;
        /// The position of the first element in the storage.
        ///
        /// PyTorch: `Tensor.storage_offset`.
        storage_offset(Tensor self) -> int;
        /// The index of the tensor's device, -1 on the CPU.
        ///
        /// PyTorch: `Tensor.get_device`.
        get_device(Tensor self) -> int;
        /// Whether the dtype is complex.
        ///
        /// PyTorch: `torch.is_complex`.
        is_complex(Tensor self) -> bool;
        /// Whether the dtype is floating-point, and not complex.
        ///
        /// PyTorch: `torch.is_floating_point`.
        is_floating_point(Tensor self) -> bool;
        /// Whether the dtype has negative numbers.
        ///
        /// PyTorch: `torch.is_signed`.
        is_signed(Tensor self) -> bool;
        /// Whether the tensor was created in inference mode.
        ///
        /// PyTorch: `torch.is_inference`.
        is_inference(Tensor self) -> bool;
        /// Always `false`.
        ///
        /// PyTorch: `torch.is_distributed`.
        is_distributed(Tensor self) -> bool;
        /// Always `false`: no memory is pinned.
        ///
        /// PyTorch: `Tensor.is_pinned`.
        is_pinned(Tensor self, Device? device=None) -> bool;
        /// Whether the tensor is not the result of an operator that has a derivative.
        ///
        /// PyTorch: `Tensor.is_leaf`.
        is_leaf(Tensor self) -> bool;
        /// How often the tensor's memory was written in place.
        ///
        /// # Errors
        /// A tensor that was created in inference mode.
        ///
        /// PyTorch: `Tensor._version`.
        _version(Tensor self) -> int;
        /// Whether both are the same part of the same storage, with the same sizes and strides.
        ///
        /// PyTorch: `Tensor.is_set_to`.
        is_set_to(Tensor self, Tensor tensor) -> bool;
        /// Whether both storages have the same number of elements.
        ///
        /// PyTorch: `aten::_has_same_storage_numel`.
        _has_same_storage_numel(Tensor self, Tensor other) -> bool;
        /// Whether elements share a place in memory: 0 if not, 1 if they do, 2 if the sizes and strides do not show it.
        ///
        /// PyTorch: `aten::_debug_has_internal_overlap`.
        _debug_has_internal_overlap(Tensor self) -> int;

        /// Whether convolutions can use NNPACK: never here.
        ///
        /// PyTorch: `torch._nnpack_available`.
        _nnpack_available() -> bool;
        /// Whether there is a device for Vulkan among PyTorch's backends: never here.
        ///
        /// PyTorch: `torch.is_vulkan_available`.
        is_vulkan_available() -> bool;
        /// Whether the tensor could take the place of `from` within its handles: whether both are on one kind of
        /// device.
        ///
        /// PyTorch: `torch._has_compatible_shallow_copy_type`.
        _has_compatible_shallow_copy_type(Tensor self, Tensor from) -> bool;
    }
}
