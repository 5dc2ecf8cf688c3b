//! The operators of torchao, the library that prepares models for PyTorch 2: its schemas.

use torch_library::torch_library;

torch_library! {
    /// Quantisation of plain tensors in blocks, each with a scale and zero point of its own. `block_size` has the size
    /// of a block along each dimension: `[1, k]` for one block in each row of `k` elements, the tensor's sizes for a
    /// single one.
    ///
    /// PyTorch: `torch.ops.torchao`, of the Python package torchao.
    pub mod torchao {
        /// The integers of a floating-point tensor: `round(x / scale) + zero_point`, clamped to
        /// `quant_min ..= quant_max`, which are the bounds of the dtype unless given.
        ///
        /// # Errors
        /// A tensor of `float64` or integers; blocks that do not divide the sizes; scales and zero points that are not
        /// one for each block, or no zero points; bounds that the dtype does not have; a dtype that is neither an
        /// integer one of up to 32 bits nor `float8_e5m2` or `float8_e4m3fn`.
        ///
        /// PyTorch: `torch.ops.torchao.quantize_affine`.
        quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType output_dtype,
            Scalar? quant_min=None, Scalar? quant_max=None) -> Tensor;
        /// The numbers of a tensor of integers: `(x - zero_point) * scale`, as `float32`, `float16` or `bfloat16`.
        /// Without zero points they are 0.
        ///
        /// # Errors
        /// The errors of [`quantize_affine`](fn@quantize_affine); a tensor of another dtype than `input_dtype`.
        ///
        /// PyTorch: `torch.ops.torchao.dequantize_affine`.
        dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType input_dtype,
            Scalar? quant_min=None, Scalar? quant_max=None, ScalarType output_dtype=6) -> Tensor;
        /// The scale and zero point of each block with which its numbers, and zero, fit into `quant_min ..= quant_max`.
        /// The scale is at least `eps`.
        ///
        /// A `mapping_type` of `SYMMETRIC` maps the largest absolute value to half of the width of the bounds,
        /// `SYMMETRIC_NO_CLIPPING_ERR` maps the least or the largest number to its bound, whichever takes the larger
        /// scale, and `ASYMMETRIC` maps both. Results have a dimension for each that has several blocks or blocks of
        /// one element, or with `keepdim` all of them.
        ///
        /// # Errors
        /// No tensor, or one that is not of a floating-point type; blocks that do not divide the sizes; another mapping
        /// type; the errors of [`quantize_affine`](fn@quantize_affine) for bounds and dtype.
        ///
        /// PyTorch: `torch.ops.torchao.choose_qparams_affine`.
        choose_qparams_affine(Tensor? input, str mapping_type, SymInt[] block_size, ScalarType target_dtype,
            Scalar? quant_min=None, Scalar? quant_max=None, float? eps=None, ScalarType? scale_dtype=None,
            ScalarType? zero_point_dtype=None, bool keepdim=False) -> (Tensor, Tensor);
    }
}
