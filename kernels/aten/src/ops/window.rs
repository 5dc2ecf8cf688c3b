//! Operators that slide a window over images.
//!
//! Images are of sizes `[batch, channels, height, width]`; without a batch where it says so. A size, stride, padding or
//! dilation is one number for both directions or one for each.

use torch_library::torch_library;

torch_library! {
    /// Convolution and pooling, on top of what was declared before.
    #[methods(WindowMethods)]
    #[kernels_in(torch_library_nn)]
    pub mod aten extends super::norm::aten {
        /// The sum of products with `weight` at every place of the window, plus `bias`.
        ///
        /// The weight has sizes `[out channels, channels / groups, height, width]`. The batch may be missing.
        ///
        /// # Errors
        /// Sizes that do not meet, a window larger than the padded image, different types.
        ///
        /// PyTorch: `torch.nn.functional.conv2d`.
        conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0,
            SymInt[2] dilation=1, SymInt groups=1) -> Tensor;
        /// As [`conv2d`](fn@conv2d); with `"same"` padding the result has the sizes of the image, with `"valid"`
        /// there is none.
        ///
        /// # Errors
        /// As [`conv2d`](fn@conv2d); `"same"` with a stride other than 1.
        ///
        /// PyTorch: `torch.nn.functional.conv2d`.
        conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, str padding="valid",
            SymInt[2] dilation=1, SymInt groups=1) -> Tensor;
        /// The part of the convolutions that computes. Here: in two dimensions, not transposed.
        ///
        /// PyTorch: `aten::convolution`.
        convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding,
            SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor;

        /// The gradients of input, weight and bias of [`convolution`]; none (undefined) for each that `output_mask`
        /// does not want.
        ///
        /// PyTorch: `aten::convolution_backward`.
        convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes,
            SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding,
            SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor);

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
        max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1,
            bool ceil_mode=False) -> Tensor;
        /// As [`max_pool2d`](fn@max_pool2d), and where in its image each element was.
        ///
        /// PyTorch: `torch.nn.functional.max_pool2d_with_indices`.
        max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0,
            int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor);

        /// The mean at every place of the window, which by default moves by its own size.
        ///
        /// The batch may be missing.
        ///
        /// # Errors
        /// As [`max_pool2d`](fn@max_pool2d); a divisor of 0.
        ///
        /// PyTorch: `torch.nn.functional.avg_pool2d`.
        avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False,
            bool count_include_pad=True, int? divisor_override=None) -> Tensor;

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

        /// The convolution of sequences, of sizes `[batch, channels, length]`.
        ///
        /// PyTorch: `torch.nn.functional.conv1d`.
        conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] padding=0,
            SymInt[1] dilation=1, SymInt groups=1) -> Tensor;
        /// The convolution of sequences, padded so that their length is the `"same"`, or not (`"valid"`).
        ///
        /// PyTorch: `torch.nn.functional.conv1d`.
        conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, str padding="valid",
            SymInt[1] dilation=1, SymInt groups=1) -> Tensor;
        /// The convolution of volumes, of sizes `[batch, channels, depth, height, width]`.
        ///
        /// PyTorch: `torch.nn.functional.conv3d`.
        conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, SymInt[3] padding=0,
            SymInt[3] dilation=1, SymInt groups=1) -> Tensor;
        /// The convolution of volumes, padded so that their sizes are the `"same"`, or not (`"valid"`).
        ///
        /// PyTorch: `torch.nn.functional.conv3d`.
        conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, str padding="valid",
            SymInt[3] dilation=1, SymInt groups=1) -> Tensor;
        /// The transposed convolution of sequences: what the gradient of [`conv1d`] is.
        ///
        /// PyTorch: `torch.nn.functional.conv_transpose1d`.
        conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1,
            SymInt[1] padding=0, SymInt[1] output_padding=0, SymInt groups=1, SymInt[1] dilation=1) -> Tensor;
        /// The transposed convolution of images: what the gradient of [`conv2d`] is.
        ///
        /// PyTorch: `torch.nn.functional.conv_transpose2d`.
        conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1,
            SymInt[2] padding=0, SymInt[2] output_padding=0, SymInt groups=1, SymInt[2] dilation=1) -> Tensor;
        /// The transposed convolution of volumes: what the gradient of [`conv3d`] is.
        ///
        /// PyTorch: `torch.nn.functional.conv_transpose3d`.
        conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1,
            SymInt[3] padding=0, SymInt[3] output_padding=0, SymInt groups=1, SymInt[3] dilation=1) -> Tensor;

        /// Padding by a number (`"constant"`), the edge (`"replicate"`), what lies behind it (`"reflect"`) or the
        /// other side (`"circular"`); two numbers for each dimension from the last on.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let x = Tensor::from([[1, 2, 3]]);
        /// let padded = aten::pad::with(&x, &[2, 1]).mode("reflect").call()?;
        /// assert_eq!(padded.to_vec::<i32>()?, [3, 2, 1, 2, 3, 2]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// Another mode, numbers for more dimensions than there are, more reflected than there is.
        ///
        /// PyTorch: `torch.nn.functional.pad`.
        pad(Tensor self, SymInt[] pad, str mode="constant", float? value=None) -> Tensor;
        /// Sequences padded by what lies behind their ends.
        ///
        /// PyTorch: `torch.nn.ReflectionPad1d`.
        reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor;
        /// Images padded by what lies behind their edges.
        ///
        /// PyTorch: `torch.nn.ReflectionPad2d`.
        reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor;
        /// Sequences padded by their ends.
        ///
        /// PyTorch: `torch.nn.ReplicationPad1d`.
        replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor;
        /// Images padded by their edges.
        ///
        /// PyTorch: `torch.nn.ReplicationPad2d`.
        replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor;
        /// Volumes padded by their faces.
        ///
        /// PyTorch: `torch.nn.ReplicationPad3d`.
        replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor;
        /// Volumes padded by what lies behind their faces.
        ///
        /// PyTorch: `torch.nn.ReflectionPad3d`.
        reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor;
        /// The gradient of the input of [`reflection_pad1d`](fn@reflection_pad1d).
        ///
        /// # Errors
        /// A gradient of other sizes than the result.
        ///
        /// PyTorch: `aten::reflection_pad1d_backward`.
        reflection_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor;
        /// The gradient of the input of [`reflection_pad2d`](fn@reflection_pad2d).
        ///
        /// # Errors
        /// A gradient of other sizes than the result.
        ///
        /// PyTorch: `aten::reflection_pad2d_backward`.
        reflection_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor;
        /// The gradient of the input of [`reflection_pad3d`](fn@reflection_pad3d).
        ///
        /// # Errors
        /// A gradient of other sizes than the result.
        ///
        /// PyTorch: `aten::reflection_pad3d_backward`.
        reflection_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor;
        /// The gradient of the input of [`replication_pad1d`](fn@replication_pad1d).
        ///
        /// # Errors
        /// A gradient of other sizes than the result.
        ///
        /// PyTorch: `aten::replication_pad1d_backward`.
        replication_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor;
        /// The gradient of the input of [`replication_pad2d`](fn@replication_pad2d).
        ///
        /// # Errors
        /// A gradient of other sizes than the result.
        ///
        /// PyTorch: `aten::replication_pad2d_backward`.
        replication_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor;
        /// The gradient of the input of [`replication_pad3d`](fn@replication_pad3d).
        ///
        /// # Errors
        /// A gradient of other sizes than the result.
        ///
        /// PyTorch: `aten::replication_pad3d_backward`.
        replication_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor;

        /// Images of other sizes, each pixel that of the nearest place.
        ///
        /// PyTorch: `torch.nn.functional.interpolate` with `mode="nearest"`.
        upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor;
        /// Images of other sizes, each pixel interpolated between the four around its place.
        ///
        /// PyTorch: `torch.nn.functional.interpolate` with `mode="bilinear"`.
        upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
            float? scales_w=None) -> Tensor;

        /// The largest element under a window, in regions whose borders a number for each plane and direction
        /// draws; and where in its image each was.
        ///
        /// # Errors
        /// Windows that do not fit, random samples of other sizes than `[batch, channels, 2]` or of another type,
        /// integers.
        ///
        /// PyTorch: `torch.nn.functional.fractional_max_pool2d`.
        fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size,
            Tensor random_samples) -> (Tensor, Tensor);
        /// The gradient of the input of [`fractional_max_pool2d`](fn@fractional_max_pool2d).
        ///
        /// # Errors
        /// A gradient or indices of other sizes than the result, indices that are not int64 or not in the image.
        ///
        /// PyTorch: `aten::fractional_max_pool2d_backward`.
        fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] output_size,
            Tensor indices) -> Tensor;
        /// As [`fractional_max_pool2d`](fn@fractional_max_pool2d), of volumes.
        ///
        /// # Errors
        /// As there, with random samples `[batch, channels, 3]`.
        ///
        /// PyTorch: `torch.nn.functional.fractional_max_pool3d`.
        fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size,
            Tensor random_samples) -> (Tensor, Tensor);
        /// The gradient of the input of [`fractional_max_pool3d`](fn@fractional_max_pool3d).
        ///
        /// # Errors
        /// As [`fractional_max_pool2d_backward`](fn@fractional_max_pool2d_backward).
        ///
        /// PyTorch: `aten::fractional_max_pool3d_backward`.
        fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] output_size,
            Tensor indices) -> Tensor;
        /// Images of other sizes, with each element where its index says, and zeros elsewhere: what `max_pool2d`
        /// took, put back.
        ///
        /// # Errors
        /// Indices of other sizes than the input, not int64, or not in an image; integers.
        ///
        /// PyTorch: `torch.nn.functional.max_unpool2d`.
        max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor;
        /// As [`max_unpool2d`](fn@max_unpool2d), of volumes. The strides and the padding are those of the pooling,
        /// and change nothing.
        ///
        /// # Errors
        /// As there; strides that are not positive.
        ///
        /// PyTorch: `torch.nn.functional.max_unpool3d`.
        max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> Tensor;
        /// The largest element under a window in signals, and where each was.
        ///
        /// # Errors
        /// A window that does not fit into the signal and its padding.
        ///
        /// PyTorch: `torch.nn.functional.max_pool1d` with `return_indices=True`.
        max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0],
            int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor);

        /// Images of other sizes, each pixel a weighted mean over all of the input that it covers, so that smaller
        /// ones have no artefacts; the weights fall with the distance along a line.
        ///
        /// # Errors
        /// Other than four dimensions, sizes without elements, halves, integers other than uint8.
        ///
        /// PyTorch: `torch.nn.functional.interpolate` with `mode="bilinear"` and `antialias=True`.
        _upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
            float? scales_w=None) -> Tensor;
        /// As [`_upsample_bilinear2d_aa`](fn@_upsample_bilinear2d_aa), of a size or by factors.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        _upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners,
            float[]? scale_factors) -> Tensor;
        /// The gradient of the input of [`_upsample_bilinear2d_aa`](fn@_upsample_bilinear2d_aa).
        ///
        /// # Errors
        /// A gradient of other sizes than the result.
        ///
        /// PyTorch: `aten::_upsample_bilinear2d_aa_backward`.
        _upsample_bilinear2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
            bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor;
        /// As [`_upsample_bilinear2d_aa`](fn@_upsample_bilinear2d_aa), with weights along a cubic curve.
        ///
        /// # Errors
        /// As there.
        ///
        /// PyTorch: `torch.nn.functional.interpolate` with `mode="bicubic"` and `antialias=True`.
        _upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None,
            float? scales_w=None) -> Tensor;
        /// As [`_upsample_bicubic2d_aa`](fn@_upsample_bicubic2d_aa), of a size or by factors.
        ///
        /// PyTorch: `torch.nn.functional.interpolate`.
        _upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners,
            float[]? scale_factors) -> Tensor;
        /// The gradient of the input of [`_upsample_bicubic2d_aa`](fn@_upsample_bicubic2d_aa).
        ///
        /// # Errors
        /// A gradient of other sizes than the result.
        ///
        /// PyTorch: `aten::_upsample_bicubic2d_aa_backward`.
        _upsample_bicubic2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size,
            bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor;
    }
}
