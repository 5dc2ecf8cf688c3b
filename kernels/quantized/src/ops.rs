//! The operators: PyTorch's schemas.

use torch_library::torch_library;

torch_library! {
    /// Quantisation of plain tensors: a number `x` becomes the integer `round(x / scale) + zero_point`, clamped to
    /// `quant_min ..= quant_max`.
    ///
    /// PyTorch: `torch.ops.quantized_decomposed`.
    pub mod quantized_decomposed {
        /// The integers of a floating-point tensor, with one scale and zero point.
        ///
        /// # Errors
        /// A tensor of `float64` or integers, a scale of zero, bounds that the dtype does not have, a dtype that is neither an
        /// integer one of up to 32 bits nor `float8_e5m2` or `float8_e4m3fn`.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.quantize_per_tensor`.
        quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int quant_max,
            ScalarType dtype) -> Tensor;
        /// [`quantize_per_tensor`](fn@quantize_per_tensor) with scale and zero point in tensors of one element.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.quantize_per_tensor`.
        quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max,
            ScalarType dtype) -> Tensor;
        /// [`quantize_per_tensor`](fn@quantize_per_tensor) with all parameters in tensors of one element.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.quantize_per_tensor`.
        quantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor quant_min, Tensor quant_max,
            ScalarType dtype) -> Tensor;
        /// The numbers of a tensor of integers, with one scale and zero point: `(x - zero_point) * scale`, as `float32`
        /// or `out_dtype`.
        ///
        /// # Errors
        /// A tensor of another dtype than `dtype`.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.dequantize_per_tensor`.
        dequantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int quant_max,
            ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor;
        /// [`dequantize_per_tensor`](fn@dequantize_per_tensor) with scale and zero point in tensors of one element.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.dequantize_per_tensor`.
        dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max,
            ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor;
        /// [`dequantize_per_tensor`](fn@dequantize_per_tensor) with all parameters in tensors of one element.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.dequantize_per_tensor`.
        dequantize_per_tensor.tensor2(Tensor input, Tensor scale, Tensor zero_point, Tensor quant_min, Tensor quant_max,
            ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor;

        /// The integers of a floating-point tensor, with a scale and a zero point for each slice along `axis`.
        ///
        /// # Errors
        /// The errors of [`quantize_per_tensor`](fn@quantize_per_tensor); an axis out of range, parameters that are not
        /// one for each slice.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.quantize_per_channel`.
        quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, int quant_min, int quant_max,
            ScalarType dtype) -> Tensor;
        /// The numbers of a tensor of integers, with a scale and a zero point for each slice along `axis`; without zero
        /// points they are 0.
        ///
        /// # Errors
        /// The errors of [`dequantize_per_tensor`](fn@dequantize_per_tensor); an axis out of range, parameters that are
        /// not one for each slice.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.dequantize_per_channel`.
        dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, int quant_min,
            int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor;

        /// The integers of a floating-point tensor, with a scale and a zero point for each vector along the last
        /// dimension, in sizes that broadcast.
        ///
        /// # Errors
        /// Parameters that are not one for each vector, bounds that the dtype does not have.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.quantize_per_token`.
        quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max,
            ScalarType dtype) -> Tensor;
        /// The numbers of a tensor of integers, with a scale and a zero point for each vector along the last dimension.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.dequantize_per_token`.
        dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max,
            ScalarType dtype, ScalarType output_dtype) -> Tensor;

        /// The integers of a floating-point matrix, with a scale and a zero point for each `group_size` elements of a row.
        ///
        /// # Errors
        /// A tensor that is not a matrix, an element that is NaN, a group of one element or one that does not divide the rows.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.quantize_per_channel_group`.
        quantize_per_channel_group(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max,
            ScalarType dtype, int group_size) -> Tensor;
        /// The numbers of a matrix of integers, with a scale and a zero point for each `group_size` elements of a row;
        /// without zero points they are 0.
        ///
        /// # Errors
        /// The errors of [`quantize_per_channel_group`](fn@quantize_per_channel_group).
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.dequantize_per_channel_group`.
        dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? zero_points, int quant_min, int quant_max,
            ScalarType dtype, int group_size, ScalarType output_dtype) -> Tensor;

        /// The scale (`float64`) and zero point (`int64`) with which the numbers of a tensor, and zero, fill
        /// `quant_min ..= quant_max`; each in a tensor of one element. The scale is at least `eps`.
        ///
        /// # Errors
        /// A tensor of `float64` or integers, or without elements; bounds without zero between them; a dtype that
        /// [`quantize_per_tensor`](fn@quantize_per_tensor) does not take.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.choose_qparams`.
        choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps,
            ScalarType dtype) -> (Tensor, Tensor);
        /// Like [`choose_qparams_tensor`](fn@choose_qparams_tensor), with a zero point in the middle of the dtype's range.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.choose_qparams_symmetric`.
        choose_qparams_symmetric.tensor(Tensor input, int quant_min, int quant_max, float eps,
            ScalarType dtype) -> (Tensor, Tensor);
        /// A scale for each vector along the last dimension with which its numbers fit into `int8`, and zero points of 0.
        ///
        /// # Errors
        /// Another dtype than `int8`.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.choose_qparams_per_token`.
        choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, Tensor);
        /// A scale (`float64`) and a zero point (`int64`) for each vector along the last dimension with which its numbers,
        /// and zero, fill `int8`.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.choose_qparams_per_token_asymmetric`.
        choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> (Tensor, Tensor);
        /// The operator behind [`choose_qparams_per_token_asymmetric`](fn@choose_qparams_per_token_asymmetric).
        ///
        /// PyTorch: `torch.ops.quantized_decomposed._choose_qparams_per_token_asymmetric_impl`.
        _choose_qparams_per_token_asymmetric_impl(Tensor input, ScalarType dtype) -> (Tensor, Tensor);
        /// A conversion that a compiler must not merge with other operators.
        ///
        /// PyTorch: `torch.ops.quantized_decomposed.convert_element_type`.
        convert_element_type.no_fuse(Tensor input, ScalarType dtype) -> Tensor;
    }
}
