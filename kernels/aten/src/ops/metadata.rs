//! Sizes, strides and other facts about a tensor as numbers, and conditions on such numbers in exported programs.

use torch_library::torch_library;

torch_library! {
    /// Facts about tensors, on top of the operators declared before.
    pub mod aten extends super::exported::aten {
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

        /// Checks that a number is in a range, which includes its ends.
        ///
        /// # Errors
        /// A number out of range, a `max` below `min`.
        ///
        /// PyTorch: `torch.sym_constrain_range`.
        sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ();
        /// [`sym_constrain_range`](fn@sym_constrain_range) for a size, which is not negative unless `min` is.
        ///
        /// # Errors
        /// The errors of [`sym_constrain_range`](fn@sym_constrain_range); a `max` of 2 or less.
        ///
        /// PyTorch: `torch.sym_constrain_range_for_size`.
        sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ();
        /// [`sym_constrain_range`](fn@sym_constrain_range) that returns a copy of `dep_token`, on which later calls
        /// depend, so that the check is not left out.
        ///
        /// PyTorch: `aten::_functional_sym_constrain_range`.
        _functional_sym_constrain_range(Scalar size, int? min, int? max, Tensor dep_token) -> Tensor;
        /// [`sym_constrain_range_for_size`](fn@sym_constrain_range_for_size) that returns a copy of `dep_token`.
        ///
        /// PyTorch: `aten::_functional_sym_constrain_range_for_size`.
        _functional_sym_constrain_range_for_size(Scalar size, int? min, int? max, Tensor dep_token) -> Tensor;
        /// [`_assert_scalar`](fn@_assert_scalar) that returns a copy of `dep_token`.
        ///
        /// PyTorch: `aten::_functional_assert_scalar`.
        _functional_assert_scalar(Scalar self, str assert_msg, Tensor dep_token) -> Tensor;
        /// A number of no meaning, for conditions to depend on.
        ///
        /// PyTorch: `aten::_make_dep_token`.
        _make_dep_token(*, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;
    }
}
