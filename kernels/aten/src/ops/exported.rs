//! The operators behind Python's syntax (`&`, `<<`), and those that appear only in programs exported by PyTorch.

use torch_library::torch_library;

torch_library! {
    /// Operators of Python's syntax and of exported programs, on top of the operators declared before.
    pub mod aten extends super::declared::aten {
        /// The operator `&`: `bitwise_and`.
        ///
        /// # Errors
        /// Dtypes that are neither integer nor boolean.
        ///
        /// PyTorch: `Tensor.__and__`, the operator `&`.
        #[tags(pointwise)]
        __and__.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The operator `&` with a scalar: `bitwise_and`.
        ///
        /// # Errors
        /// Dtypes that are neither integer nor boolean.
        ///
        /// PyTorch: `Tensor.__and__`, the operator `&`.
        #[tags(pointwise)]
        __and__.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The operator `|`: `bitwise_or`.
        ///
        /// # Errors
        /// Dtypes that are neither integer nor boolean.
        ///
        /// PyTorch: `Tensor.__or__`, the operator `|`.
        #[tags(pointwise)]
        __or__.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The operator `|` with a scalar: `bitwise_or`.
        ///
        /// # Errors
        /// Dtypes that are neither integer nor boolean.
        ///
        /// PyTorch: `Tensor.__or__`, the operator `|`.
        #[tags(pointwise)]
        __or__.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The operator `^`: `bitwise_xor`.
        ///
        /// # Errors
        /// Dtypes that are neither integer nor boolean.
        ///
        /// PyTorch: `Tensor.__xor__`, the operator `^`.
        #[tags(pointwise)]
        __xor__.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The operator `^` with a scalar: `bitwise_xor`.
        ///
        /// # Errors
        /// Dtypes that are neither integer nor boolean.
        ///
        /// PyTorch: `Tensor.__xor__`, the operator `^`.
        #[tags(pointwise)]
        __xor__.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The operator `<<`: `bitwise_left_shift`.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `Tensor.__lshift__`, the operator `<<`.
        #[tags(pointwise)]
        __lshift__.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The operator `<<` with a scalar: `bitwise_left_shift`.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `Tensor.__lshift__`, the operator `<<`.
        #[tags(pointwise)]
        __lshift__.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The operator `>>`: `bitwise_right_shift`.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `Tensor.__rshift__`, the operator `>>`.
        #[tags(pointwise)]
        __rshift__.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The operator `>>` with a scalar: `bitwise_right_shift`.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `Tensor.__rshift__`, the operator `>>`.
        #[tags(pointwise)]
        __rshift__.Scalar(Tensor self, Scalar other) -> Tensor;

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
    }
}
