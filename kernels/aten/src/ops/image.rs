//! Operators on images: resizing and pooling.

use torch_library::torch_library;

torch_library! {
    /// Images, on top of the operators declared before.
    #[methods(ImageMethods)]
    #[kernels_in(torch_library_nn)]
    pub mod aten extends super::grid_sampler::aten {
        /// Resizes signals `[batch, channels, length]`: each element is the nearest one of the input.
        ///
        /// # Errors
        /// Another number of dimensions, an empty signal, dtypes that are neither floating-point nor `uint8`.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor;
        /// [`upsample_nearest1d`](fn@upsample_nearest1d), by length or by factor.
        ///
        /// # Errors
        /// Both `output_size` and `scale_factors`, or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor;
        /// Resizes signals `[batch, channels, length]`: each element is interpolated linearly between two of the input.
        ///
        /// # Errors
        /// Another number of dimensions, an empty signal, integer dtypes.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None) -> Tensor;
        /// [`upsample_linear1d`](fn@upsample_linear1d), by length or by factor.
        ///
        /// # Errors
        /// Both `output_size` and `scale_factors`, or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners,
            float[]? scale_factors) -> Tensor;
        /// [`upsample_nearest2d`](fn@upsample_nearest2d), by sizes or by factors.
        ///
        /// # Errors
        /// Both `output_size` and `scale_factors`, or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor;
        /// [`upsample_bilinear2d`](fn@upsample_bilinear2d), by sizes or by factors.
        ///
        /// # Errors
        /// Both `output_size` and `scale_factors`, or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners,
            float[]? scale_factors) -> Tensor;
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

        /// Resizes signals `[batch, channels, length]`: each element is the input element that its centre falls into.
        ///
        /// # Errors
        /// Another number of dimensions or sizes, a size that is not positive, dtypes that are neither floating-point
        /// nor `uint8`.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        _upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor;
        /// [`_upsample_nearest_exact1d`](fn@_upsample_nearest_exact1d), by sizes or by factors.
        ///
        /// # Errors
        /// Both `output_size` and `scale_factors`, or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        _upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor;
        /// Resizes images `[batch, channels, height, width]`: each pixel is the input pixel that its centre falls into.
        ///
        /// # Errors
        /// Another number of dimensions or sizes, a size that is not positive, dtypes that are neither floating-point
        /// nor `uint8`.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        _upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None,
            float? scales_w=None) -> Tensor;
        /// [`_upsample_nearest_exact2d`](fn@_upsample_nearest_exact2d), by sizes or by factors.
        ///
        /// # Errors
        /// Both `output_size` and `scale_factors`, or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        _upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor;
        /// Resizes volumes `[batch, channels, depth, height, width]`: each element is the input element that its first
        /// corner falls into.
        ///
        /// # Errors
        /// Another number of dimensions or sizes, a size that is not positive, dtypes that are neither floating-point
        /// nor `uint8`.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None,
            float? scales_w=None) -> Tensor;
        /// [`upsample_nearest3d`](fn@upsample_nearest3d), by sizes or by factors.
        ///
        /// # Errors
        /// Both `output_size` and `scale_factors`, or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor;
        /// Resizes volumes `[batch, channels, depth, height, width]`: each element is the input element that its centre
        /// falls into.
        ///
        /// # Errors
        /// Another number of dimensions or sizes, a size that is not positive, dtypes that are neither floating-point
        /// nor `uint8`.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        _upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, float? scales_d=None,
            float? scales_h=None, float? scales_w=None) -> Tensor;
        /// [`_upsample_nearest_exact3d`](fn@_upsample_nearest_exact3d), by sizes or by factors.
        ///
        /// # Errors
        /// Both `output_size` and `scale_factors`, or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        _upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor;
        /// Resizes volumes `[batch, channels, depth, height, width]` by trilinear interpolation between eight elements.
        ///
        /// # Errors
        /// Another number of dimensions or sizes, a size that is not positive, a dtype that is not floating-point.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None,
            float? scales_h=None, float? scales_w=None) -> Tensor;
        /// [`upsample_trilinear3d`](fn@upsample_trilinear3d), by sizes or by factors.
        ///
        /// # Errors
        /// Both `output_size` and `scale_factors`, or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool align_corners,
            float[]? scale_factors) -> Tensor;
        /// Resizes images `[batch, channels, height, width]` by bicubic interpolation between sixteen pixels.
        ///
        /// # Errors
        /// Another number of dimensions or sizes, a size that is not positive, dtypes that are neither floating-point
        /// nor `uint8`.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
            float? scales_w=None) -> Tensor;
        /// [`upsample_bicubic2d`](fn@upsample_bicubic2d), by sizes or by factors.
        ///
        /// # Errors
        /// Both `output_size` and `scale_factors`, or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners,
            float[]? scale_factors) -> Tensor;
        /// The gradient of the input of [`upsample_nearest1d`](fn@upsample_nearest1d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::upsample_nearest1d_backward`.
        upsample_nearest1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size,
            float? scales=None) -> Tensor;
        /// The gradient of the input of [`upsample_nearest2d`](fn@upsample_nearest2d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::upsample_nearest2d_backward`.
        upsample_nearest2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
            float? scales_h=None, float? scales_w=None) -> Tensor;
        /// The gradient of the input of [`upsample_nearest3d`](fn@upsample_nearest3d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::upsample_nearest3d_backward`.
        upsample_nearest3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size,
            float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor;
        /// The gradient of the input of [`_upsample_nearest_exact1d`](fn@_upsample_nearest_exact1d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::_upsample_nearest_exact1d_backward`.
        _upsample_nearest_exact1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size,
            float? scales=None) -> Tensor;
        /// The gradient of the input of [`_upsample_nearest_exact2d`](fn@_upsample_nearest_exact2d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::_upsample_nearest_exact2d_backward`.
        _upsample_nearest_exact2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
            float? scales_h=None, float? scales_w=None) -> Tensor;
        /// The gradient of the input of [`_upsample_nearest_exact3d`](fn@_upsample_nearest_exact3d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::_upsample_nearest_exact3d_backward`.
        _upsample_nearest_exact3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size,
            float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor;
        /// The gradient of the input of [`upsample_linear1d`](fn@upsample_linear1d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::upsample_linear1d_backward`.
        upsample_linear1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size,
            bool align_corners, float? scales=None) -> Tensor;
        /// The gradient of the input of [`upsample_bilinear2d`](fn@upsample_bilinear2d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::upsample_bilinear2d_backward`.
        upsample_bilinear2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
            bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor;
        /// The gradient of the input of [`upsample_trilinear3d`](fn@upsample_trilinear3d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::upsample_trilinear3d_backward`.
        upsample_trilinear3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size,
            bool align_corners, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor;
        /// The gradient of the input of [`upsample_bicubic2d`](fn@upsample_bicubic2d).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::upsample_bicubic2d_backward`.
        upsample_bicubic2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
            bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor;

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
