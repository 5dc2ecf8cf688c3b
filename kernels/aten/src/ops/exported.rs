//! Operators that appear only in programs exported by PyTorch.

use torch_library::torch_library;

torch_library! {
    /// Operators of exported programs, on top of the operators declared before.
    pub mod aten extends super::fake_quantize::aten {
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

        /// Prints a line to the standard output.
        ///
        /// PyTorch: `aten::_print`.
        _print(str s) -> ();
        /// Whether convolutions can use NNPACK: never here.
        ///
        /// PyTorch: `torch._nnpack_available`.
        _nnpack_available() -> bool;
        /// Whether there is a device for Vulkan among PyTorch's backends: never here.
        ///
        /// PyTorch: `torch.is_vulkan_available`.
        is_vulkan_available() -> bool;
    }
}
