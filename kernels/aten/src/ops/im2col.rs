//! The windows of images as the columns of matrices, and back.

use torch_library::torch_library;

torch_library! {
    /// Windows as columns.
    #[methods(Im2ColMethods)]
    #[kernels_in(torch_library_nn)]
    pub mod aten extends "aten" {
        /// The sliding windows of images as the columns of matrices: `[batch, channels · kernel, windows]`.
        ///
        /// # Errors
        /// A number of dimensions other than three and four, windows that do not fit, integer dtypes.
        ///
        /// PyTorch: `torch.nn.functional.unfold`.
        im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor;
        /// The adjoint of [`im2col`](fn@im2col): images from windows as columns; where windows overlap, their pixels
        /// are summed.
        ///
        /// # Errors
        /// Numbers of columns or rows that do not match the sizes, integer dtypes.
        ///
        /// PyTorch: `torch.nn.functional.fold`.
        col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding,
            int[2] stride) -> Tensor;
    }
}
