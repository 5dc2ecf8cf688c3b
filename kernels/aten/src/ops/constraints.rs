//! Assertions and constraints that exported programs check, and what they print.

use torch_library::torch_library;

torch_library! {
    /// Assertions and constraints.
    pub mod aten extends "aten" {
        /// Checks that a tensor has the sizes, strides, dtype, device and layout that a program was exported for;
        /// `None` skips a check.
        ///
        /// # Errors
        /// A property that differs.
        ///
        /// PyTorch: `aten::_assert_tensor_metadata`.
        _assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *,
            Device? device=None, Layout? layout=None) -> ();
        /// Checks that the only element of a tensor is not zero.
        ///
        /// # Errors
        /// Zero, a number of elements other than one.
        ///
        /// PyTorch: `torch._assert_async`.
        _assert_async(Tensor self) -> ();
        /// Checks that the only element of a tensor is not zero.
        ///
        /// # Errors
        /// Zero, with this message; a number of elements other than one.
        ///
        /// PyTorch: `torch._assert_async`.
        _assert_async.msg(Tensor self, str assert_msg) -> ();
        /// Checks that the only element of a tensor is not zero; returns a copy of `dep_token`, on which later calls
        /// depend, so that the check is not left out.
        ///
        /// # Errors
        /// Zero, with this message; a number of elements other than one.
        ///
        /// PyTorch: `aten::_functional_assert_async.msg`.
        _functional_assert_async.msg(Tensor self, str assert_msg, Tensor dep_token) -> Tensor;
        /// Checks that a scalar is not zero.
        ///
        /// # Errors
        /// Zero, with this message.
        ///
        /// PyTorch: `aten::_assert_scalar`.
        _assert_scalar(Scalar self, str assert_msg) -> ();
        /// [`_assert_scalar`](fn@_assert_scalar) that returns a copy of `dep_token`.
        ///
        /// PyTorch: `aten::_functional_assert_scalar`.
        _functional_assert_scalar(Scalar self, str assert_msg, Tensor dep_token) -> Tensor;

        /// Prints a line to the standard output.
        ///
        /// PyTorch: `aten::_print`.
        _print(str s) -> ();

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
        /// A number of no meaning, for conditions to depend on.
        ///
        /// PyTorch: `aten::_make_dep_token`.
        _make_dep_token(*, ScalarType? dtype=None, Layout? layout=None, Device? device=None,
            bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor;
    }
}
