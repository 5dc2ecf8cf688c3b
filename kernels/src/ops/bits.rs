//! Booleans and the bits of integers, element by element.

use torch_library::torch_library;

torch_library! {
    /// Logic and bits, on top of what was declared before.
    #[methods(BitMethods)]
    #[overloads(function)]
    pub mod aten extends super::math::aten {
        /// Each element with all bits changed; of booleans "not".
        ///
        /// PyTorch: `torch.bitwise_not`.
        #[tags(pointwise)]
        bitwise_not(Tensor self) -> Tensor;
        /// [`bitwise_not`] in place.
        ///
        /// PyTorch: `Tensor.bitwise_not_`.
        #[tags(pointwise)]
        bitwise_not_(Tensor(a!) self) -> Tensor(a!);
        /// Whether both elements are not zero.
        ///
        /// PyTorch: `torch.logical_and`.
        #[tags(pointwise)]
        logical_and(Tensor self, Tensor other) -> Tensor;
        /// [`logical_and`] in place.
        ///
        /// PyTorch: `Tensor.logical_and_`.
        #[tags(pointwise)]
        logical_and_(Tensor(a!) self, Tensor other) -> Tensor(a!);
        /// Whether one of the elements is not zero.
        ///
        /// PyTorch: `torch.logical_or`.
        #[tags(pointwise)]
        logical_or(Tensor self, Tensor other) -> Tensor;
        /// [`logical_or`] in place.
        ///
        /// PyTorch: `Tensor.logical_or_`.
        #[tags(pointwise)]
        logical_or_(Tensor(a!) self, Tensor other) -> Tensor(a!);
        /// Whether exactly one of the elements is not zero.
        ///
        /// PyTorch: `torch.logical_xor`.
        #[tags(pointwise)]
        logical_xor(Tensor self, Tensor other) -> Tensor;
        /// [`logical_xor`] in place.
        ///
        /// PyTorch: `Tensor.logical_xor_`.
        #[tags(pointwise)]
        logical_xor_(Tensor(a!) self, Tensor other) -> Tensor(a!);
        /// The bits that both elements have; of booleans "and".
        ///
        /// PyTorch: `torch.bitwise_and`.
        #[tags(pointwise)]
        bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor;
        /// [`bitwise_and_Tensor`] in place.
        ///
        /// PyTorch: `Tensor.bitwise_and_`.
        #[tags(pointwise)]
        bitwise_and_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!);
        /// [`bitwise_and_Tensor`] with a number.
        ///
        /// PyTorch: `torch.bitwise_and`.
        #[tags(pointwise)]
        bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The bits that one of the elements has; of booleans "or".
        ///
        /// PyTorch: `torch.bitwise_or`.
        #[tags(pointwise)]
        bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor;
        /// [`bitwise_or_Tensor`] in place.
        ///
        /// PyTorch: `Tensor.bitwise_or_`.
        #[tags(pointwise)]
        bitwise_or_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!);
        /// [`bitwise_or_Tensor`] with a number.
        ///
        /// PyTorch: `torch.bitwise_or`.
        #[tags(pointwise)]
        bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The bits that exactly one of the elements has; of booleans "or, but not both".
        ///
        /// PyTorch: `torch.bitwise_xor`.
        #[tags(pointwise)]
        bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor;
        /// [`bitwise_xor_Tensor`] in place.
        ///
        /// PyTorch: `Tensor.bitwise_xor_`.
        #[tags(pointwise)]
        bitwise_xor_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!);
        /// [`bitwise_xor_Tensor`] with a number.
        ///
        /// PyTorch: `torch.bitwise_xor`.
        #[tags(pointwise)]
        bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The bits that a number and each element have.
        ///
        /// # Errors
        /// Numbers that are not whole.
        ///
        /// PyTorch: `torch.bitwise_and`.
        #[tags(pointwise)]
        bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor;
        /// The bits that a number or each element has.
        ///
        /// # Errors
        /// Numbers that are not whole.
        ///
        /// PyTorch: `torch.bitwise_or`.
        #[tags(pointwise)]
        bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor;
        /// The bits that either a number or each element has.
        ///
        /// # Errors
        /// Numbers that are not whole.
        ///
        /// PyTorch: `torch.bitwise_xor`.
        #[tags(pointwise)]
        bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor;
    }
}
