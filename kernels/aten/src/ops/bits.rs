//! Logical operators, bitwise operators on integers, shifts, and the operators behind Python's syntax (`&`, `<<`), all
//! element-wise.

use torch_library::torch_library;

torch_library! {
    /// Logical and bitwise operators.
    #[methods(BitMethods)]
    #[overloads(function)]
    pub mod aten extends "aten" {
        /// Inverts all bits of each element; for booleans it is logical not.
        ///
        /// # Errors
        /// Operands that are neither integer nor boolean.
        ///
        /// PyTorch: `torch.bitwise_not`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        bitwise_not(Tensor self) -> Tensor;
        /// Whether both elements are nonzero.
        ///
        /// PyTorch: `torch.logical_and`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        logical_and(Tensor self, Tensor other) -> Tensor;
        /// Whether at least one of the elements is nonzero.
        ///
        /// PyTorch: `torch.logical_or`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        logical_or(Tensor self, Tensor other) -> Tensor;
        /// Whether exactly one of the elements is nonzero.
        ///
        /// PyTorch: `torch.logical_xor`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        logical_xor(Tensor self, Tensor other) -> Tensor;
        /// The bitwise and of integers; for booleans it is logical and.
        ///
        /// # Errors
        /// Operands that are neither integer nor boolean.
        ///
        /// PyTorch: `torch.bitwise_and`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor;
        /// [`bitwise_and_Tensor`] with a scalar.
        ///
        /// # Errors
        /// Operands that are neither integer nor boolean.
        ///
        /// PyTorch: `torch.bitwise_and`.
        #[tags(pointwise)]
        bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The bitwise or of integers; for booleans it is logical or.
        ///
        /// # Errors
        /// Operands that are neither integer nor boolean.
        ///
        /// PyTorch: `torch.bitwise_or`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor;
        /// [`bitwise_or_Tensor`] with a scalar.
        ///
        /// # Errors
        /// Operands that are neither integer nor boolean.
        ///
        /// PyTorch: `torch.bitwise_or`.
        #[tags(pointwise)]
        bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The bitwise exclusive or of integers; for booleans it is logical exclusive or.
        ///
        /// # Errors
        /// Operands that are neither integer nor boolean.
        ///
        /// PyTorch: `torch.bitwise_xor`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor;
        /// [`bitwise_xor_Tensor`] with a scalar.
        ///
        /// # Errors
        /// Operands that are neither integer nor boolean.
        ///
        /// PyTorch: `torch.bitwise_xor`.
        #[tags(pointwise)]
        bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The bitwise and of a scalar and each element.
        ///
        /// # Errors
        /// Operands that are neither integer nor boolean.
        ///
        /// PyTorch: `torch.bitwise_and`.
        #[tags(pointwise)]
        bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor;
        /// The bitwise or of a scalar and each element.
        ///
        /// # Errors
        /// Operands that are neither integer nor boolean.
        ///
        /// PyTorch: `torch.bitwise_or`.
        #[tags(pointwise)]
        bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor;
        /// The bitwise exclusive or of a scalar and each element.
        ///
        /// # Errors
        /// Operands that are neither integer nor boolean.
        ///
        /// PyTorch: `torch.bitwise_xor`.
        #[tags(pointwise)]
        bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor;
        /// `self << other`, element-wise: 0 if `other` is negative or at least the number of bits.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `torch.bitwise_left_shift`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor;
        /// `self << other` with a scalar `other`.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `torch.bitwise_left_shift`.
        #[tags(pointwise)]
        bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor;
        /// The arithmetic shift `self >> other`, element-wise: only the sign remains if `other` is negative or at least
        /// the number of bits.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `torch.bitwise_right_shift`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor;
        /// `self >> other` with a scalar `other`.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `torch.bitwise_right_shift`.
        #[tags(pointwise)]
        bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor;
        /// `self << other` with a scalar `self`.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `torch.bitwise_left_shift`.
        #[tags(pointwise)]
        bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor;
        /// `self >> other` with a scalar `self`.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `torch.bitwise_right_shift`.
        #[tags(pointwise)]
        bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor;
        /// The operator `&`: `bitwise_and`.
        ///
        /// # Errors
        /// Dtypes that are neither integer nor boolean.
        ///
        /// PyTorch: `Tensor.__and__`, the operator `&`.
        #[variants(function)]
        #[tags(pointwise)]
        __and__.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The operator `&` with a scalar: `bitwise_and`.
        ///
        /// # Errors
        /// Dtypes that are neither integer nor boolean.
        ///
        /// PyTorch: `Tensor.__and__`, the operator `&`.
        #[variants(function)]
        #[tags(pointwise)]
        __and__.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The operator `|`: `bitwise_or`.
        ///
        /// # Errors
        /// Dtypes that are neither integer nor boolean.
        ///
        /// PyTorch: `Tensor.__or__`, the operator `|`.
        #[variants(function)]
        #[tags(pointwise)]
        __or__.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The operator `|` with a scalar: `bitwise_or`.
        ///
        /// # Errors
        /// Dtypes that are neither integer nor boolean.
        ///
        /// PyTorch: `Tensor.__or__`, the operator `|`.
        #[variants(function)]
        #[tags(pointwise)]
        __or__.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The operator `^`: `bitwise_xor`.
        ///
        /// # Errors
        /// Dtypes that are neither integer nor boolean.
        ///
        /// PyTorch: `Tensor.__xor__`, the operator `^`.
        #[variants(function)]
        #[tags(pointwise)]
        __xor__.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The operator `^` with a scalar: `bitwise_xor`.
        ///
        /// # Errors
        /// Dtypes that are neither integer nor boolean.
        ///
        /// PyTorch: `Tensor.__xor__`, the operator `^`.
        #[variants(function)]
        #[tags(pointwise)]
        __xor__.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The operator `<<`: `bitwise_left_shift`.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `Tensor.__lshift__`, the operator `<<`.
        #[variants(function)]
        #[tags(pointwise)]
        __lshift__.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The operator `<<` with a scalar: `bitwise_left_shift`.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `Tensor.__lshift__`, the operator `<<`.
        #[variants(function)]
        #[tags(pointwise)]
        __lshift__.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The operator `>>`: `bitwise_right_shift`.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `Tensor.__rshift__`, the operator `>>`.
        #[variants(function)]
        #[tags(pointwise)]
        __rshift__.Tensor(Tensor self, Tensor other) -> Tensor;
        /// The operator `>>` with a scalar: `bitwise_right_shift`.
        ///
        /// # Errors
        /// Dtypes that are not integer.
        ///
        /// PyTorch: `Tensor.__rshift__`, the operator `>>`.
        #[variants(function)]
        #[tags(pointwise)]
        __rshift__.Scalar(Tensor self, Scalar other) -> Tensor;
    }
}
