//! Operators that Python programs reach by their syntax, or that stand only in what PyTorch exports of them.

use torch_library::torch_library;

torch_library! {
    /// Operators of Python's syntax and of exported programs, on top of what was declared before.
    pub mod aten extends super::declared::aten {
        /// `bitwise_and`.
        ///
        /// # Errors
        /// Types that are neither integers nor booleans.
        ///
        /// PyTorch: `Tensor.__and__`, the operator `&`.
        #[tags(pointwise)]
        __and__.Tensor(Tensor self, Tensor other) -> Tensor;
        /// `bitwise_and`, with a number.
        ///
        /// # Errors
        /// Types that are neither integers nor booleans.
        ///
        /// PyTorch: `Tensor.__and__`, the operator `&`.
        #[tags(pointwise)]
        __and__.Scalar(Tensor self, Scalar other) -> Tensor;
        /// `bitwise_or`.
        ///
        /// # Errors
        /// Types that are neither integers nor booleans.
        ///
        /// PyTorch: `Tensor.__or__`, the operator `|`.
        #[tags(pointwise)]
        __or__.Tensor(Tensor self, Tensor other) -> Tensor;
        /// `bitwise_or`, with a number.
        ///
        /// # Errors
        /// Types that are neither integers nor booleans.
        ///
        /// PyTorch: `Tensor.__or__`, the operator `|`.
        #[tags(pointwise)]
        __or__.Scalar(Tensor self, Scalar other) -> Tensor;
        /// `bitwise_xor`.
        ///
        /// # Errors
        /// Types that are neither integers nor booleans.
        ///
        /// PyTorch: `Tensor.__xor__`, the operator `^`.
        #[tags(pointwise)]
        __xor__.Tensor(Tensor self, Tensor other) -> Tensor;
        /// `bitwise_xor`, with a number.
        ///
        /// # Errors
        /// Types that are neither integers nor booleans.
        ///
        /// PyTorch: `Tensor.__xor__`, the operator `^`.
        #[tags(pointwise)]
        __xor__.Scalar(Tensor self, Scalar other) -> Tensor;
        /// `bitwise_left_shift`.
        ///
        /// # Errors
        /// Types that are neither integers nor booleans.
        ///
        /// PyTorch: `Tensor.__lshift__`, the operator `<<`.
        #[tags(pointwise)]
        __lshift__.Tensor(Tensor self, Tensor other) -> Tensor;
        /// `bitwise_left_shift`, with a number.
        ///
        /// # Errors
        /// Types that are neither integers nor booleans.
        ///
        /// PyTorch: `Tensor.__lshift__`, the operator `<<`.
        #[tags(pointwise)]
        __lshift__.Scalar(Tensor self, Scalar other) -> Tensor;
        /// `bitwise_right_shift`.
        ///
        /// # Errors
        /// Types that are neither integers nor booleans.
        ///
        /// PyTorch: `Tensor.__rshift__`, the operator `>>`.
        #[tags(pointwise)]
        __rshift__.Tensor(Tensor self, Tensor other) -> Tensor;
        /// `bitwise_right_shift`, with a number.
        ///
        /// # Errors
        /// Types that are neither integers nor booleans.
        ///
        /// PyTorch: `Tensor.__rshift__`, the operator `>>`.
        #[tags(pointwise)]
        __rshift__.Scalar(Tensor self, Scalar other) -> Tensor;

        /// Sees that a tensor has the sizes, strides, type, device and layout that a program was exported for, of
        /// which each may be left open.
        ///
        /// # Errors
        /// One that differs.
        ///
        /// PyTorch: `aten::_assert_tensor_metadata`.
        _assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *,
            Device? device=None, Layout? layout=None) -> ();
    }
}
