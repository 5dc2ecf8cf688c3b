//! Operators that slide a window over images: convolution and pooling.
//!
//! Images have sizes `[batch, channels, height, width]`; where the documentation says so, the batch dimension may be
//! missing. A size, stride, padding or dilation is one number for both spatial dimensions, or one for each.

use torch_library::torch_library;

torch_library! {
    /// Convolution and pooling, on top of the operators declared before.
    #[methods(WindowMethods)]
    #[kernels_in(torch_library_nn)]
    pub mod aten extends super::padding::aten {
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

        /// Max pooling: the largest element at each position of the window, whose stride is its size unless given.
        ///
        /// The batch dimension may be missing.
        ///
        /// # Errors
        /// A window that does not fit, padding of more than half the window, an image without pixels, boolean and
        /// complex dtypes.
        ///
        /// PyTorch: `torch.nn.functional.max_pool2d`.
        max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1,
            bool ceil_mode=False) -> Tensor;
        /// [`max_pool2d`](fn@max_pool2d), which also returns the index of each maximum in its image.
        ///
        /// PyTorch: `torch.nn.functional.max_pool2d_with_indices`.
        max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0,
            int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor);

        /// Average pooling: the mean at each position of the window, whose stride is its size unless given.
        ///
        /// The batch dimension may be missing.
        ///
        /// # Errors
        /// The errors of [`max_pool2d`](fn@max_pool2d); a divisor of 0, dtypes that are neither floating-point nor
        /// `int64`.
        ///
        /// PyTorch: `torch.nn.functional.avg_pool2d`.
        avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False,
            bool count_include_pad=True, int? divisor_override=None) -> Tensor;

        /// Adaptive average pooling: the means of a grid of `output_size` windows that cover each image.
        ///
        /// # Errors
        /// An image without pixels, negative sizes, dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.adaptive_avg_pool2d`.
        adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor;
        /// The operator behind [`adaptive_avg_pool2d`](fn@adaptive_avg_pool2d).
        ///
        /// PyTorch: `aten::_adaptive_avg_pool2d`.
        _adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor;

        /// The gradient of the input of [`max_pool2d_with_indices`].
        ///
        /// PyTorch: `aten::max_pool2d_with_indices_backward`.
        max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride,
            int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor;
        /// The gradient of the input of [`avg_pool2d`].
        ///
        /// PyTorch: `aten::avg_pool2d_backward`.
        avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding,
            bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor;
        /// The gradient of the input of [`_adaptive_avg_pool2d`].
        ///
        /// PyTorch: `aten::_adaptive_avg_pool2d_backward`.
        _adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor;

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

        /// Fractional max pooling: the largest element in each of `output_size` windows, whose positions depend on a
        /// random sample for each plane and spatial dimension; and the index of each maximum in its image.
        ///
        /// # Errors
        /// Windows that do not fit, random samples of other sizes than `[batch, channels, 2]` or of another dtype,
        /// integer dtypes.
        ///
        /// PyTorch: `torch.nn.functional.fractional_max_pool2d`.
        fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size,
            Tensor random_samples) -> (Tensor, Tensor);
        /// The gradient of the input of [`fractional_max_pool2d`](fn@fractional_max_pool2d).
        ///
        /// # Errors
        /// A gradient or indices of other sizes than the result, indices that are not `int64` or not in the image.
        ///
        /// PyTorch: `aten::fractional_max_pool2d_backward`.
        fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] output_size,
            Tensor indices) -> Tensor;
        /// [`fractional_max_pool2d`](fn@fractional_max_pool2d) of volumes.
        ///
        /// # Errors
        /// The errors of [`fractional_max_pool2d`](fn@fractional_max_pool2d), with random samples
        /// `[batch, channels, 3]`.
        ///
        /// PyTorch: `torch.nn.functional.fractional_max_pool3d`.
        fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size,
            Tensor random_samples) -> (Tensor, Tensor);
        /// The gradient of the input of [`fractional_max_pool3d`](fn@fractional_max_pool3d).
        ///
        /// # Errors
        /// The errors of [`fractional_max_pool2d_backward`](fn@fractional_max_pool2d_backward).
        ///
        /// PyTorch: `aten::fractional_max_pool3d_backward`.
        fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] output_size,
            Tensor indices) -> Tensor;
        /// The partial inverse of max pooling: images of `output_size` with each element at its index, and zeros
        /// elsewhere.
        ///
        /// # Errors
        /// Indices of other sizes than the input, not `int64`, or not in an image; integer dtypes.
        ///
        /// PyTorch: `torch.nn.functional.max_unpool2d`.
        max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor;
        /// [`max_unpool2d`](fn@max_unpool2d) of volumes. `stride` and `padding` are those of the pooling, and have no
        /// effect.
        ///
        /// # Errors
        /// The errors of [`max_unpool2d`](fn@max_unpool2d); strides that are not positive.
        ///
        /// PyTorch: `torch.nn.functional.max_unpool3d`.
        max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor;
        /// Max pooling of signals, and the index of each maximum in its signal.
        ///
        /// # Errors
        /// A window that does not fit into the padded signal.
        ///
        /// PyTorch: `torch.nn.functional.max_pool1d` with `return_indices=True`.
        max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0],
            int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor);
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
        /// Average pooling of signals: the means of sliding windows.
        ///
        /// # Errors
        /// The errors of [`avg_pool2d`](fn@avg_pool2d).
        ///
        /// PyTorch: `torch.nn.functional.avg_pool1d`.
        avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False,
            bool count_include_pad=True) -> Tensor;
        /// Max pooling of signals: the maxima of sliding windows.
        ///
        /// # Errors
        /// The errors of [`max_pool2d`](fn@max_pool2d), and dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.max_pool1d`.
        max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1,
            bool ceil_mode=False) -> Tensor;
        /// Adaptive average pooling of signals: the means of `output_size` windows that cover each signal.
        ///
        /// # Errors
        /// The errors of [`adaptive_avg_pool2d`](fn@adaptive_avg_pool2d).
        ///
        /// PyTorch: `torch.nn.functional.adaptive_avg_pool1d`.
        adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor;

        /// Average pooling of volumes `[batch, channels, depth, height, width]`; the batch dimension may be missing.
        ///
        /// # Errors
        /// A window that does not fit, padding of more than half of it, a divisor of 0, dtypes other than `float32`,
        /// `float64` and `int64`.
        ///
        /// PyTorch: `torch.nn.functional.avg_pool3d`.
        avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False,
            bool count_include_pad=True, int? divisor_override=None) -> Tensor;
        /// The gradient of the input of [`avg_pool3d`](fn@avg_pool3d).
        ///
        /// PyTorch: `aten::avg_pool3d_backward`.
        avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding,
            bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor;
        /// Max pooling of volumes `[batch, channels, depth, height, width]`; the batch dimension may be missing.
        ///
        /// # Errors
        /// A window that does not fit, padding of more than half of it.
        ///
        /// PyTorch: `torch.nn.functional.max_pool3d`.
        max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1,
            bool ceil_mode=False) -> Tensor;
        /// [`max_pool3d`](fn@max_pool3d), which also returns the index of each maximum in its volume.
        ///
        /// # Errors
        /// A window that does not fit, padding of more than half of it.
        ///
        /// PyTorch: `torch.nn.functional.max_pool3d_with_indices`.
        max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0,
            int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor);
        /// The gradient of the input of [`max_pool3d_with_indices`](fn@max_pool3d_with_indices).
        ///
        /// PyTorch: `aten::max_pool3d_with_indices_backward`.
        max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride,
            int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor;
        /// Adaptive average pooling of volumes: the means of `output_size` windows that cover each volume.
        ///
        /// # Errors
        /// A negative size, an input without elements in a pooled dimension, dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.adaptive_avg_pool3d`.
        adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor;
        /// The operator behind [`adaptive_avg_pool3d`](fn@adaptive_avg_pool3d).
        ///
        /// PyTorch: `aten::_adaptive_avg_pool3d`.
        _adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor;
        /// The gradient of the input of [`_adaptive_avg_pool3d`](fn@_adaptive_avg_pool3d).
        ///
        /// PyTorch: `aten::_adaptive_avg_pool3d_backward`.
        _adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor;
        /// Adaptive max pooling of signals: the maxima of `output_size` windows that cover each signal, and their
        /// indices.
        ///
        /// # Errors
        /// A negative size, an input without elements in a pooled dimension, dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.adaptive_max_pool1d`.
        adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor);
        /// Adaptive max pooling of images: the maxima of `output_size` windows that cover each image, and their
        /// indices.
        ///
        /// # Errors
        /// A negative size, an input without elements in a pooled dimension, dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.adaptive_max_pool2d`.
        adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor);
        /// Adaptive max pooling of volumes: the maxima of `output_size` windows that cover each volume, and their
        /// indices.
        ///
        /// # Errors
        /// A negative size, an input without elements in a pooled dimension, dtypes that are not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.adaptive_max_pool3d`.
        adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor);
        /// The gradient of the input of [`adaptive_max_pool2d`](fn@adaptive_max_pool2d).
        ///
        /// PyTorch: `aten::adaptive_max_pool2d_backward`.
        adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor;
        /// The gradient of the input of [`adaptive_max_pool3d`](fn@adaptive_max_pool3d).
        ///
        /// PyTorch: `aten::adaptive_max_pool3d_backward`.
        adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor;
    }
}
