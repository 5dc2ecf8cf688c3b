//! Convolutions: plain and transposed, and by the names of PyTorch's algorithms.
//!
//! Images have sizes `[batch, channels, height, width]`; where the documentation says so, the batch dimension may be
//! missing. A size, stride, padding or dilation is one number for all spatial dimensions, or one for each.

use torch_library::torch_library;

torch_library! {
    /// Convolution.
    #[methods(ConvolutionMethods)]
    #[kernels_in(torch_library_nn)]
    pub mod aten extends "aten" {
        /// The convolution of images: the sum of products with `weight` at each position of the window, plus `bias`.
        ///
        /// The weight has sizes `[out channels, channels / groups, height, width]`. The batch dimension may be missing.
        ///
        /// # Errors
        /// Sizes that do not match, a window larger than the padded image, different dtypes, a boolean dtype.
        ///
        /// PyTorch: `torch.nn.functional.conv2d`.
        conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0,
            SymInt[2] dilation=1, SymInt groups=1) -> Tensor;
        /// [`conv2d`](fn@conv2d) with padding by name: `"same"` gives the result the sizes of the image, `"valid"`
        /// means no padding.
        ///
        /// # Errors
        /// The errors of [`conv2d`](fn@conv2d); `"same"` with a stride other than 1.
        ///
        /// PyTorch: `torch.nn.functional.conv2d`.
        conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, str padding="valid",
            SymInt[2] dilation=1, SymInt groups=1) -> Tensor;
        /// The operator behind all convolutions, including transposed ones.
        ///
        /// PyTorch: `aten::convolution`.
        convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding,
            SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor;

        /// The gradients of input, weight and bias of [`convolution`]; undefined tensors for those that `output_mask`
        /// does not ask for.
        ///
        /// PyTorch: `aten::convolution_backward`.
        convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes,
            SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding,
            SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor);

        /// The gradients of the arguments of [`convolution_backward`](fn@convolution_backward) from those of its
        /// results, any of which may be missing: of the gradient `gO`, of the input and of the weight. A tensor is
        /// undefined where it would be zero for want of these gradients; `output_mask` has no effect, as in PyTorch.
        ///
        /// PyTorch: `aten::_convolution_double_backward`.
        _convolution_double_backward(Tensor? ggI, Tensor? ggW, Tensor? ggb, Tensor gO, Tensor weight,
            Tensor self, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed,
            SymInt[] output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor);
        /// [`convolution`](fn@convolution) under the name of the library that PyTorch calls for it on CPUs.
        ///
        /// PyTorch: `aten::mkldnn_convolution`.
        #[variants(out)]
        mkldnn_convolution(Tensor self, Tensor weight, Tensor? bias, SymInt[] padding, SymInt[] stride,
            SymInt[] dilation, SymInt groups) -> Tensor;

        /// The convolution of sequences `[batch, channels, length]`.
        ///
        /// # Errors
        /// The errors of [`conv2d`](fn@conv2d).
        ///
        /// PyTorch: `torch.nn.functional.conv1d`.
        conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] padding=0,
            SymInt[1] dilation=1, SymInt groups=1) -> Tensor;
        /// The convolution of sequences, padded to keep their length (`"same"`), or not padded (`"valid"`).
        ///
        /// PyTorch: `torch.nn.functional.conv1d`.
        conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, str padding="valid",
            SymInt[1] dilation=1, SymInt groups=1) -> Tensor;
        /// The convolution of volumes `[batch, channels, depth, height, width]`.
        ///
        /// # Errors
        /// The errors of [`conv2d`](fn@conv2d).
        ///
        /// PyTorch: `torch.nn.functional.conv3d`.
        conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, SymInt[3] padding=0,
            SymInt[3] dilation=1, SymInt groups=1) -> Tensor;
        /// The convolution of volumes, padded to keep their sizes (`"same"`), or not padded (`"valid"`).
        ///
        /// PyTorch: `torch.nn.functional.conv3d`.
        conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, str padding="valid",
            SymInt[3] dilation=1, SymInt groups=1) -> Tensor;
        /// Convolution in one dimension of `[T, B, in]` with a weight of `[K, in, out]`: time before batch before
        /// channels. The result is `[T, B, out]`.
        ///
        /// # Errors
        /// Other numbers of dimensions, channels that differ.
        ///
        /// PyTorch: `torch.conv_tbc`.
        #[variants(function)]
        conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor;
        /// The gradients of input, weight and bias of [`conv_tbc`](fn@conv_tbc), from that of its result.
        ///
        /// # Errors
        /// Tensors that do not have three dimensions, sizes that do not match.
        ///
        /// PyTorch: `aten::conv_tbc_backward`.
        #[variants(function)]
        conv_tbc_backward(Tensor self, Tensor input, Tensor weight, Tensor bias,
            int pad) -> (Tensor, Tensor, Tensor);
        /// [`convolution`](fn@convolution), with PyTorch's options for backends, which have no effect here.
        ///
        /// PyTorch: `torch._convolution`.
        _convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding,
            SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark,
            bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor;
        /// [`_convolution`](fn@_convolution) of older programs.
        ///
        /// PyTorch: `aten::_convolution.deprecated`.
        _convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding,
            SymInt[] dilation, bool transposed, int[] output_padding, SymInt groups, bool benchmark,
            bool deterministic, bool cudnn_enabled) -> Tensor;
        /// The transposed convolution of sequences: the gradient of [`conv1d`] with respect to its input.
        ///
        /// PyTorch: `torch.nn.functional.conv_transpose1d`.
        conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1,
            SymInt[1] padding=0, SymInt[1] output_padding=0, SymInt groups=1, SymInt[1] dilation=1) -> Tensor;
        /// The transposed convolution of images: the gradient of [`conv2d`] with respect to its input.
        ///
        /// PyTorch: `torch.nn.functional.conv_transpose2d`.
        conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1,
            SymInt[2] padding=0, SymInt[2] output_padding=0, SymInt groups=1, SymInt[2] dilation=1) -> Tensor;
        /// The transposed convolution of volumes: the gradient of [`conv3d`] with respect to its input.
        ///
        /// PyTorch: `torch.nn.functional.conv_transpose3d`.
        conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1,
            SymInt[3] padding=0, SymInt[3] output_padding=0, SymInt groups=1, SymInt[3] dilation=1) -> Tensor;
        /// [`convolution`](fn@convolution) in as many dimensions as the weight has, with padding as a word: `same` or
        /// `valid`.
        ///
        /// # Errors
        /// Another word, `same` with a stride other than 1.
        ///
        /// PyTorch: `aten::_convolution_mode`.
        _convolution_mode(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, str padding,
            SymInt[] dilation, SymInt groups) -> Tensor;
        /// [`conv2d`](fn@conv2d) by the name of the algorithm that PyTorch has for it, without dilation or groups. Each
        /// row of a weight with two dimensions is a kernel.
        ///
        /// # Errors
        /// An input without a batch, a `kernel_size` that is not the weight's, complex dtypes; the errors of
        /// [`conv2d`](fn@conv2d).
        ///
        /// PyTorch: `aten::thnn_conv2d`.
        thnn_conv2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None, SymInt[2] stride=1,
            SymInt[2] padding=0) -> Tensor;
        /// The operator behind [`thnn_conv2d`](fn@thnn_conv2d).
        ///
        /// PyTorch: `aten::_slow_conv2d_forward`.
        _slow_conv2d_forward(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias, SymInt[2] stride,
            SymInt[2] padding) -> Tensor;
        /// The gradients of input, weight and bias of [`_slow_conv2d_forward`](fn@_slow_conv2d_forward); undefined
        /// tensors for those that `output_mask` does not ask for.
        ///
        /// PyTorch: `aten::_slow_conv2d_backward`.
        _slow_conv2d_backward.output_mask(Tensor grad_output, Tensor self, Tensor weight, SymInt[2] kernel_size,
            SymInt[2] stride, SymInt[2] padding,
            bool[3] output_mask) -> (Tensor grad_input, Tensor grad_weight, Tensor grad_bias);
        /// [`_slow_conv2d_backward_output_mask`](fn@_slow_conv2d_backward_output_mask), all of which is written.
        ///
        /// PyTorch: `aten::_slow_conv2d_backward.grad_input`.
        _slow_conv2d_backward.grad_input(Tensor grad_output, Tensor self, Tensor weight, SymInt[2] kernel_size,
            SymInt[2] stride, SymInt[2] padding, *, Tensor(a!) grad_input, Tensor(b!) grad_weight,
            Tensor(c!) grad_bias) -> (Tensor(a!), Tensor(b!), Tensor(c!));
        /// [`conv_transpose2d_input`](fn@conv_transpose2d_input) by the name of the algorithm that PyTorch has for it,
        /// without groups.
        ///
        /// # Errors
        /// A `kernel_size` that is not the weight's, complex dtypes; the errors of
        /// [`conv_transpose2d_input`](fn@conv_transpose2d_input).
        ///
        /// PyTorch: `aten::slow_conv_transpose2d`.
        slow_conv_transpose2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None,
            SymInt[2] stride=1, SymInt[2] padding=0, SymInt[2] output_padding=0, SymInt[2] dilation=1) -> Tensor;
        /// [`slow_conv_transpose2d`](fn@slow_conv_transpose2d) for volumes.
        ///
        /// PyTorch: `aten::slow_conv_transpose3d`.
        slow_conv_transpose3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None,
            SymInt[3] stride=1, SymInt[3] padding=0, SymInt[3] output_padding=0, SymInt[3] dilation=1) -> Tensor;
        /// [`conv3d`](fn@conv3d) by the name of the algorithm that PyTorch has for it, without dilation or groups.
        ///
        /// # Errors
        /// An input without a batch, a `kernel_size` that is not the weight's, complex dtypes; the errors of
        /// [`conv3d`](fn@conv3d).
        ///
        /// PyTorch: `aten::slow_conv3d`.
        slow_conv3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None, SymInt[3] stride=1,
            SymInt[3] padding=0) -> Tensor;
        /// The operator behind [`slow_conv3d`](fn@slow_conv3d).
        ///
        /// PyTorch: `aten::slow_conv3d_forward`.
        slow_conv3d_forward(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias, SymInt[3] stride,
            SymInt[3] padding) -> Tensor;
        /// [`conv2d`](fn@conv2d) by the name of the algorithm that PyTorch has for windows with gaps, without groups.
        ///
        /// # Errors
        /// A `kernel_size` that is not the weight's, complex dtypes; the errors of [`conv2d`](fn@conv2d).
        ///
        /// PyTorch: `aten::slow_conv_dilated2d`.
        slow_conv_dilated2d(Tensor self, Tensor weight, SymInt[2] kernel_size, Tensor? bias=None,
            SymInt[2] stride=1, SymInt[2] padding=0, SymInt[2] dilation=1) -> Tensor;
        /// [`slow_conv_dilated2d`](fn@slow_conv_dilated2d) for volumes.
        ///
        /// PyTorch: `aten::slow_conv_dilated3d`.
        slow_conv_dilated3d(Tensor self, Tensor weight, SymInt[3] kernel_size, Tensor? bias=None,
            SymInt[3] stride=1, SymInt[3] padding=0, SymInt[3] dilation=1) -> Tensor;
    }
}
