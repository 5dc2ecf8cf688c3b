//! Transformers: what `torch.nn.TransformerEncoder` and `torch.nn.MultiheadAttention` call outside of training, and
//! products with weights of few bits, which language models have.

use torch_library::torch_library;

torch_library! {
    /// Transformers.
    #[kernels_in(torch_library_nn)]
    pub mod aten extends "aten" {
        /// Softmax of the elements that a boolean mask does not exclude; zero where it is true. `mask_type` says what
        /// the mask of an input `[B, H, L, L]` is: 0 for `[L, L]`, 1 for `[B, L]` (padding of the keys). A mask of the
        /// input's sizes needs no type.
        ///
        /// # Errors
        /// A mask that is not boolean, or whose sizes are not those of its type.
        ///
        /// PyTorch: `torch._masked_softmax`.
        _masked_softmax(Tensor self, Tensor mask, int? dim=None, int? mask_type=None) -> Tensor;
        /// The gradient of the input of [`_masked_softmax`](fn@_masked_softmax), from its result.
        ///
        /// # Errors
        /// A mask that is not boolean, or that has other sizes than the gradient.
        ///
        /// PyTorch: `aten::_masked_softmax_backward`.
        _masked_softmax_backward(Tensor grad_output, Tensor output, Tensor mask, int? dim=None) -> Tensor;
        /// Queries, keys and values `[B, H, T, D / H]`, of projections `[B, T, 3 D]` without their bias: the bias is
        /// added, and queries are divided by the square root of their width.
        ///
        /// # Errors
        /// Sizes that cannot be divided so, a bias of another length or dtype, dtypes that are not floating-point.
        ///
        /// PyTorch: `torch._transform_bias_rescale_qkv`.
        _transform_bias_rescale_qkv(Tensor qkv, Tensor qkv_bias, int num_heads) -> (Tensor, Tensor, Tensor);
        /// Attention of several heads, with the projections before and after it, of tensors `[B, T, D]`. Also returns
        /// the weights of the values, averaged over the heads or not; an undefined tensor if they are not needed.
        ///
        /// # Errors
        /// Sizes that do not fit each other, heads that do not divide `embed_dim`; the errors of
        /// [`_masked_softmax`](fn@_masked_softmax).
        ///
        /// PyTorch: `torch._native_multi_head_attention`.
        _native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, int num_head,
            Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, Tensor? mask=None,
            bool need_weights=True, bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor);
        /// A layer of a transformer's encoder: attention and a network of two linear layers, each added to its input,
        /// and normalised after that, or before with `norm_first`.
        ///
        /// # Errors
        /// The errors of [`_native_multi_head_attention`](fn@_native_multi_head_attention).
        ///
        /// PyTorch: `torch._transformer_encoder_layer_fwd`.
        _transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight,
            Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool norm_first, float eps,
            Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2,
            Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None,
            int? mask_type=None) -> Tensor;
        /// The product of a matrix `[M, K]` and a transposed `int8` matrix `[N, K]`, whose rows have the given scales.
        ///
        /// # Errors
        /// Dtypes other than `float32`, `float16`, `bfloat16` and, for the weight, `int8`; matrices that are not
        /// contiguous or have no product; scales of another length or dtype.
        ///
        /// PyTorch: `torch._weight_int8pack_mm`.
        _weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor;
        /// Packs a weight `[N, K]` of integers from 0 to 15, two in a byte, for
        /// [`_weight_int4pack_mm_for_cpu`](fn@_weight_int4pack_mm_for_cpu): `uint8` of sizes `[N, K / 2]`, in the order
        /// in which PyTorch packs them on a processor with AVX-512. `innerKTiles` has no effect on the CPU.
        ///
        /// # Errors
        /// A weight that is no matrix of `int32`, a number of rows that is no multiple of 16, an odd number of columns.
        ///
        /// PyTorch: `torch._convert_weight_to_int4pack_for_cpu`.
        _convert_weight_to_int4pack_for_cpu(Tensor self, int innerKTiles) -> Tensor;
        /// The product of a matrix `[M, K]` and a transposed matrix `[N, K]` of integers from 0 to 15, which
        /// [`_convert_weight_to_int4pack_for_cpu`](fn@_convert_weight_to_int4pack_for_cpu) has packed. They are counted
        /// from 8; each group of `qGroupSize` elements of a row has a scale and then a number that is added to it:
        /// `[K / qGroupSize, N, 2]`.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let weight = Tensor::full(&[16, 32], 10, DType::Int32, Device::CPU)?;
        /// let packed = aten::_convert_weight_to_int4pack_for_cpu(&weight, 2)?;
        /// let scales_and_zeros = aten::expand(&Tensor::from([0.5f32, 1.0]), &[1, 16, 2])?;
        /// let x = Tensor::full(&[1, 32], 1, DType::Float32, Device::CPU)?;
        /// let y = aten::_weight_int4pack_mm_for_cpu(&x, &packed, 32, &scales_and_zeros)?;
        /// assert_eq!(y.to_vec::<f32>()?, [64.0; 16]); // 32 times (10 - 8) * 0.5 + 1
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// Inputs and scales of a dtype other than `float32`, `float16` or `bfloat16`, or of two; a weight of a dtype
        /// other than `uint8`; matrices that are not contiguous or have no product; a `qGroupSize` other than 32, 64,
        /// 128 or 256, or one that does not divide `K`; scales of other sizes.
        ///
        /// PyTorch: `torch._weight_int4pack_mm_for_cpu`.
        _weight_int4pack_mm_for_cpu(Tensor self, Tensor mat2, int qGroupSize, Tensor qScaleAndZeros) -> Tensor;
        /// Packs a weight `[N, K / 2]` of bytes with two numbers each, the even columns in their lower halves, with the
        /// scales of each group of `block_size` elements of a row and an optional bias, for
        /// [`_dyn_quant_matmul_4bit`](fn@_dyn_quant_matmul_4bit). As in PyTorch on processors other than those of Arm,
        /// the result is a vector of `float32` with these numbers one after the other.
        ///
        /// # Errors
        /// A weight that is not `uint8`; a `block_size` that is neither `in_features` nor a divisor of it and a
        /// multiple of 32; an odd number of `in_features`; tensors with other numbers of elements.
        ///
        /// PyTorch: `torch._dyn_quant_pack_4bit_weight`.
        _dyn_quant_pack_4bit_weight(Tensor weights, Tensor scales_zeros, Tensor? bias, int block_size, int in_features,
            int out_features) -> Tensor;
        /// The product of a matrix `[M, K]` and the transposed weight that
        /// [`_dyn_quant_pack_4bit_weight`](fn@_dyn_quant_pack_4bit_weight) has packed, plus its bias. Each row of the
        /// matrix is rounded to 256 numbers from its least to its largest one, with zero among them.
        ///
        /// # Errors
        /// A matrix of a dtype other than `float32`, or other than `bfloat16` if `block_size` is `in_features`; sizes
        /// other than those of the packed weight.
        ///
        /// PyTorch: `torch._dyn_quant_matmul_4bit`.
        _dyn_quant_matmul_4bit(Tensor inp, Tensor packed_weights, int block_size, int in_features,
            int out_features) -> Tensor;
    }
}
