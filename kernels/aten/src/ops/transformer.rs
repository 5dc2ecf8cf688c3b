//! Transformers: what `torch.nn.TransformerEncoder` and `torch.nn.MultiheadAttention` call outside of training.

use torch_library::torch_library;

torch_library! {
    /// Transformers, on top of the operators declared before.
    #[kernels_in(torch_library_nn)]
    pub mod aten extends super::fourier::aten {
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
    }
}
