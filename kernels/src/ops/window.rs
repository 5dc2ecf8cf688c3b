//! Operators that slide a window over images.
//!
//! Images are of sizes `[batch, channels, height, width]`; without a batch where it says so. A size, stride, padding or
//! dilation is one number for both directions or one for each.

use torch_library::torch_library;

torch_library! {
    /// Convolution and pooling, on top of what was declared before.
    pub mod aten extends super::norm::aten {
        /// The sum of products with `weight` at every place of the window, plus `bias`.
        ///
        /// The weight has sizes `[out channels, channels / groups, height, width]`. The batch may be missing.
        ///
        /// # Errors
        /// Sizes that do not meet, a window larger than the padded image, different types.
        ///
        /// PyTorch: `torch.nn.functional.conv2d`.
        conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0, SymInt[2] dilation=1, SymInt groups=1) -> Tensor;
        /// As [`conv2d`](fn@conv2d); with `"same"` padding the result has the sizes of the image, with `"valid"` there is none.
        ///
        /// # Errors
        /// As [`conv2d`](fn@conv2d); `"same"` with a stride other than 1.
        ///
        /// PyTorch: `torch.nn.functional.conv2d`.
        conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, str padding="valid", SymInt[2] dilation=1, SymInt groups=1) -> Tensor;
        /// The part of the convolutions that computes. Here: in two dimensions, not transposed.
        ///
        /// PyTorch: `aten::convolution`.
        convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor;

        /// The gradients of input, weight and bias of [`convolution`]; a tensor of sizes `[0]` for each that `output_mask` does
        /// not want.
        ///
        /// PyTorch: `aten::convolution_backward`.
        convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor);

        /// The tensor with more elements of a value around it: how many before and after, last dimension first.
        ///
        /// Negative numbers take elements away.
        ///
        /// # Errors
        /// More pairs than dimensions, a result of negative size.
        ///
        /// PyTorch: `torch.constant_pad_nd`.
        constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor;

        /// The largest element at every place of the window, which by default moves by its own size.
        ///
        /// The batch may be missing.
        ///
        /// # Errors
        /// A window that does not fit, a padding of more than half the window.
        ///
        /// PyTorch: `torch.nn.functional.max_pool2d`.
        max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor;
        /// As [`max_pool2d`](fn@max_pool2d), and where in its image each element was.
        ///
        /// PyTorch: `torch.nn.functional.max_pool2d_with_indices`.
        max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor);

        /// The mean at every place of the window, which by default moves by its own size.
        ///
        /// The batch may be missing.
        ///
        /// # Errors
        /// As [`max_pool2d`](fn@max_pool2d); a divisor of 0.
        ///
        /// PyTorch: `torch.nn.functional.avg_pool2d`.
        avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor;

        /// Means over a grid of windows that cover the image, as many as `output_size` says.
        ///
        /// # Errors
        /// An image without pixels, negative sizes.
        ///
        /// PyTorch: `torch.nn.functional.adaptive_avg_pool2d`.
        adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor;
        /// The part of [`adaptive_avg_pool2d`](fn@adaptive_avg_pool2d) that computes.
        ///
        /// PyTorch: `aten::_adaptive_avg_pool2d`.
        _adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor;

        /// The gradient of the input of [`max_pool2d_with_indices`].
        ///
        /// PyTorch: `aten::max_pool2d_with_indices_backward`.
        max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor;
        /// The gradient of the input of [`avg_pool2d`].
        ///
        /// PyTorch: `aten::avg_pool2d_backward`.
        avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor;
        /// The gradient of the input of [`_adaptive_avg_pool2d`].
        ///
        /// PyTorch: `aten::_adaptive_avg_pool2d_backward`.
        _adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor;
    }
}
