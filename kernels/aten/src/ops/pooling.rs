//! Pooling of signals, images and volumes: the largest elements or the means under windows, and unpooling.
//!
//! Images have sizes `[batch, channels, height, width]`; where the documentation says so, the batch dimension may be
//! missing. A size, stride, padding or dilation is one number for all spatial dimensions, or one for each.

use torch_library::torch_library;

torch_library! {
    /// Pooling.
    #[methods(PoolingMethods)]
    #[kernels_in(torch_library_nn)]
    pub mod aten extends "aten" {
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
