//! Element-wise operators of three operands: interpolation, and the sum with a product or a quotient.

use torch_library::torch_library;

torch_library! {
    /// Element-wise operators of three operands.
    #[methods(PointwiseMethods)]
    #[overloads(function)]
    pub mod aten extends "aten" {
        /// `self + weight * (end - self)`.
        ///
        /// # Errors
        /// Integer and boolean dtypes, operands of different dtypes.
        ///
        /// PyTorch: `torch.lerp`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor;
        /// `self + weight * (end - self)`, with a weight for each element.
        ///
        /// # Errors
        /// Integer and boolean dtypes, operands of different dtypes.
        ///
        /// PyTorch: `torch.lerp`.
        #[tags(pointwise)]
        #[variants(out = "Tensor_out", in_place)]
        lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor;
        /// `self + value * tensor1 * tensor2`.
        ///
        /// # Errors
        /// Boolean dtypes.
        ///
        /// PyTorch: `torch.addcmul`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor;
        /// `self + value * tensor1 / tensor2`.
        ///
        /// # Errors
        /// Integers divided by integers.
        ///
        /// PyTorch: `torch.addcdiv`.
        #[tags(pointwise)]
        #[variants(out, in_place)]
        addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor;
    }
}
