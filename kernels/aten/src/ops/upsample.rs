//! Resizing of signals, images and volumes: by the nearest pixel, by interpolation, and antialiased.

use torch_library::torch_library;

torch_library! {
    /// Resizing.
    #[methods(UpsampleMethods)]
    #[kernels_in(torch_library_nn)]
    pub mod aten extends "aten" {
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

        /// Resizes images: each pixel is the nearest one of the input.
        ///
        /// # Errors
        /// A number of dimensions other than four, sizes without elements, dtypes that are neither floating-point nor
        /// `uint8`.
        ///
        /// PyTorch: `torch.nn.functional.interpolate` with `mode="nearest"`.
        upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor;
        /// [`upsample_nearest2d`](fn@upsample_nearest2d), by sizes or by factors.
        ///
        /// # Errors
        /// Both `output_size` and `scale_factors`, or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor;
        /// Resizes images by bilinear interpolation between four pixels.
        ///
        /// # Errors
        /// The errors of [`upsample_nearest2d`](fn@upsample_nearest2d).
        ///
        /// PyTorch: `torch.nn.functional.interpolate` with `mode="bilinear"`.
        upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
            float? scales_w=None) -> Tensor;
        /// [`upsample_bilinear2d`](fn@upsample_bilinear2d), by sizes or by factors.
        ///
        /// # Errors
        /// Both `output_size` and `scale_factors`, or neither.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners,
            float[]? scale_factors) -> Tensor;

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

        /// Resizes images by bilinear interpolation with antialiasing: when an image shrinks, each pixel is a weighted
        /// mean of all input pixels that it covers. The weights decrease linearly with the distance.
        ///
        /// # Errors
        /// A number of dimensions other than four, sizes without elements, half-precision dtypes, integer dtypes other
        /// than `uint8`.
        ///
        /// PyTorch: `torch.nn.functional.interpolate` with `mode="bilinear"` and `antialias=True`.
        _upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
            float? scales_w=None) -> Tensor;
        /// [`_upsample_bilinear2d_aa`](fn@_upsample_bilinear2d_aa), by sizes or by factors.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        _upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners,
            float[]? scale_factors) -> Tensor;
        /// The gradient of the input of [`_upsample_bilinear2d_aa`](fn@_upsample_bilinear2d_aa).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::_upsample_bilinear2d_aa_backward`.
        _upsample_bilinear2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
            bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor;
        /// [`_upsample_bilinear2d_aa`](fn@_upsample_bilinear2d_aa) with weights along a cubic curve: bicubic
        /// interpolation.
        ///
        /// # Errors
        /// The errors of [`_upsample_bilinear2d_aa`](fn@_upsample_bilinear2d_aa).
        ///
        /// PyTorch: `torch.nn.functional.interpolate` with `mode="bicubic"` and `antialias=True`.
        _upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
            float? scales_w=None) -> Tensor;
        /// [`_upsample_bicubic2d_aa`](fn@_upsample_bicubic2d_aa), by sizes or by factors.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        _upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners,
            float[]? scale_factors) -> Tensor;
        /// The gradient of the input of [`_upsample_bicubic2d_aa`](fn@_upsample_bicubic2d_aa).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::_upsample_bicubic2d_aa_backward`.
        _upsample_bicubic2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
            bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor;
        /// [`_upsample_bilinear2d_aa`](fn@_upsample_bilinear2d_aa) with the weights of Lanczos, of pixels within three
        /// pixels' distance.
        ///
        /// # Errors
        /// The errors of [`_upsample_bilinear2d_aa`](fn@_upsample_bilinear2d_aa).
        ///
        /// PyTorch: `torch.nn.functional.interpolate` with `mode="lanczos"` and `antialias=True`.
        _upsample_lanczos2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
            float? scales_w=None) -> Tensor;
        /// [`_upsample_lanczos2d_aa`](fn@_upsample_lanczos2d_aa), by sizes or by factors.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        _upsample_lanczos2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners,
            float[]? scale_factors) -> Tensor;
        /// The gradient of the input of [`_upsample_lanczos2d_aa`](fn@_upsample_lanczos2d_aa).
        ///
        /// # Errors
        /// A gradient whose sizes are not those of the result.
        ///
        /// PyTorch: `aten::_upsample_lanczos2d_aa_backward`.
        _upsample_lanczos2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
            bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor;
    }
}
