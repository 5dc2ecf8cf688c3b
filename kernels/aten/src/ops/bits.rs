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
        #[variants(out, in_place)]
        bitwise_not(Tensor self) -> Tensor;
        /// Whether both elements are not zero.
        ///
        /// PyTorch: `torch.logical_and`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        logical_and(Tensor self, Tensor other) -> Tensor;
        /// Whether one of the elements is not zero.
        ///
        /// PyTorch: `torch.logical_or`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        logical_or(Tensor self, Tensor other) -> Tensor;
        /// Whether exactly one of the elements is not zero.
        ///
        /// PyTorch: `torch.logical_xor`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        logical_xor(Tensor self, Tensor other) -> Tensor;
        /// The bits that both elements have; of booleans "and".
        ///
        /// PyTorch: `torch.bitwise_and`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor;
        /// [`bitwise_and_Tensor`] with a number.
        ///
        /// PyTorch: `torch.bitwise_and`.
        #[tags(pointwise)]
        bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The bits that one of the elements has; of booleans "or".
        ///
        /// PyTorch: `torch.bitwise_or`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor;
        /// [`bitwise_or_Tensor`] with a number.
        ///
        /// PyTorch: `torch.bitwise_or`.
        #[tags(pointwise)]
        bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor;
        /// The bits that exactly one of the elements has; of booleans "or, but not both".
        ///
        /// PyTorch: `torch.bitwise_xor`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor;
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
