//! Matrix products, and what is built on them: `linear`, `einsum`, scaled dot-product attention.

use torch_library::torch_library;

torch_library! {
    /// Matrix products.
    #[methods(MatmulMethods)]
    pub mod aten extends "aten" {
        /// The product of an `n × k` matrix of `int8` or `uint8` and a `k × m` matrix of `int8`, in `int32`.
        ///
        /// # Errors
        /// Tensors that are not matrices, sizes that do not match, other dtypes.
        ///
        /// PyTorch: `torch._int_mm`.
        _int_mm(Tensor self, Tensor mat2) -> Tensor;
        /// The product of an `n × k` and a `k × m` matrix of floats of eight bits, times a scale for each matrix, or
        /// for each row of the first and each column of the second, plus a bias.
        ///
        /// The result is computed in `float32`, divided by `scale_result` if `out_dtype` is of eight bits, and rounded
        /// to `out_dtype`, by default the type of the first matrix. `use_fast_accum` changes nothing here: it is for
        /// GPUs.
        ///
        /// # Errors
        /// Tensors that are not matrices, sizes that do not match, other dtypes; scales that are not of `float32`, or
        /// neither single numbers nor contiguous, of sizes `[n, 1]` and `[1, m]`.
        ///
        /// PyTorch: `torch._scaled_mm`.
        _scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None,
            Tensor? scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False) -> Tensor;
        /// [`_scaled_mm`](fn@_scaled_mm), where numbers say what the scales are for: 0 for one scale, 1 for a scale for
        /// each row.
        ///
        /// # Errors
        /// The errors of [`_scaled_mm`](fn@_scaled_mm); other recipes, several recipes, swizzled scales.
        ///
        /// PyTorch: `torch.nn.functional.scaled_mm`.
        _scaled_mm_v2(Tensor self, Tensor mat2, Tensor[] scale_a, int[] recipe_a, int[] swizzle_a,
            Tensor[] scale_b, int[] recipe_b, int[] swizzle_b, Tensor? bias, ScalarType? out_dtype,
            int[] contraction_dim=[], bool use_fast_accum=False) -> Tensor;
        /// The product of an `n × k` matrix and a `k × m` matrix.
        ///
        /// # Errors
        /// Tensors that are not matrices, sizes that do not match, different dtypes, a boolean dtype.
        ///
        /// PyTorch: `torch.mm`.
        #[variants(out)]
        mm(Tensor self, Tensor mat2) -> Tensor;
        /// [`mm`](fn@mm) of 16-bit floats with a result in `float32`, which is not rounded to 16 bits; or in the type
        /// of the matrices.
        ///
        /// # Errors
        /// The errors of [`mm`](fn@mm); another result type.
        ///
        /// PyTorch: `torch.mm` with `out_dtype`, which has it on GPUs only.
        mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor;

        /// The products of two batches of matrices, `[batch, n, k]` and `[batch, k, m]`, pair by pair.
        ///
        /// # Errors
        /// The errors of [`mm`](fn@mm); batches of different sizes.
        ///
        /// PyTorch: `torch.bmm`.
        #[variants(out)]
        bmm(Tensor self, Tensor mat2) -> Tensor;
        /// [`bmm`](fn@bmm) with a result type, as for [`mm_dtype`](fn@mm_dtype).
        ///
        /// PyTorch: `torch.bmm` with `out_dtype`.
        bmm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor;

        /// `beta * self + alpha * (mat1 @ mat2)`, where `self` broadcasts; if `beta` is 0, `self` is ignored, NaN
        /// included.
        ///
        /// # Errors
        /// The errors of [`mm`](fn@mm); a `self` that does not broadcast to the result, or of another dtype.
        ///
        /// PyTorch: `torch.addmm`.
        addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor;
        /// [`addmm`](fn@addmm) with a result type, as for [`mm_dtype`](fn@mm_dtype). `self` has this type or that of
        /// the matrices.
        ///
        /// PyTorch: `torch.addmm` with `out_dtype`.
        addmm.dtype(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1,
            Scalar alpha=1) -> Tensor;
        /// [`addmm`](fn@addmm) followed by `relu` or, with `use_gelu`, by `gelu`.
        ///
        /// PyTorch: `aten::_addmm_activation`.
        #[variants(function)]
        _addmm_activation(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1,
            bool use_gelu=False) -> Tensor;

        /// The dot product of two vectors.
        ///
        /// # Errors
        /// Tensors that are not vectors, different lengths or dtypes.
        ///
        /// PyTorch: `torch.dot`.
        dot(Tensor self, Tensor tensor) -> Tensor;

        /// The product of a matrix `[n, m]` and a vector of `m` elements: a vector of `n` elements.
        ///
        /// # Errors
        /// Tensors that are not a matrix and a vector, sizes that do not match, different dtypes.
        ///
        /// PyTorch: `torch.mv`.
        mv(Tensor self, Tensor vec) -> Tensor;

        /// The product of two tensors: of vectors, matrices, or batches of matrices, which broadcast.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let (x, y) = (aten::ones(&[5, 1, 2, 3])?, aten::ones(&[4, 3, 6])?);
        /// assert_eq!(aten::matmul(&x, &y)?.sizes(), [5, 4, 2, 6]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// A tensor without dimensions, sizes that do not match, different dtypes.
        ///
        /// PyTorch: `torch.matmul`.
        matmul(Tensor self, Tensor other) -> Tensor;

        /// `input @ weight.t() + bias`, for an input `[.., in]`, a weight `[out, in]` and a bias `[out]`.
        ///
        /// # Errors
        /// The errors of [`matmul`](fn@matmul).
        ///
        /// PyTorch: `torch.nn.functional.linear`.
        linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor;

        /// `beta * self + alpha * (batch1 @ batch2)`, for batches of matrices, `[batch, n, k]` and `[batch, k, m]`.
        ///
        /// PyTorch: `torch.baddbmm`.
        baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor;
        /// [`baddbmm`](fn@baddbmm) with a result type, as for [`addmm_dtype`](fn@addmm_dtype).
        ///
        /// PyTorch: `torch.baddbmm` with `out_dtype`.
        baddbmm.dtype(Tensor self, Tensor batch1, Tensor batch2, ScalarType out_dtype, *, Scalar beta=1,
            Scalar alpha=1) -> Tensor;
        /// `beta * self + alpha * sum(batch1 @ batch2)`, summed over the batch.
        ///
        /// PyTorch: `torch.addbmm`.
        addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor;
        /// [`addbmm`](crate::aten::addbmm) in place. A tensor that broadcasts to the result is resized to it first.
        ///
        /// PyTorch: `torch.Tensor.addbmm_`.
        addbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!);
        /// The outer product of two vectors: a matrix of all products of their elements.
        ///
        /// # Errors
        /// Tensors that are not vectors.
        ///
        /// PyTorch: `torch.outer`.
        outer(Tensor self, Tensor vec2) -> Tensor;
        /// The sum of the elements on the diagonal of a matrix.
        ///
        /// # Errors
        /// A tensor that is not a matrix.
        ///
        /// PyTorch: `torch.trace`.
        trace(Tensor self) -> Tensor;

        /// A sum of products of elements, by Einstein's notation, in which letters name dimensions: `"ik,kj->ij"` is a
        /// matrix product.
        ///
        /// Letters that are not behind the arrow are summed over; without an arrow, those that occur twice. `...`
        /// stands for all dimensions without a letter.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let (x, y) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]), Tensor::from([10.0, 1.0]));
        /// let product = aten::einsum("ij,j->i", &[x, y])?;
        /// assert_eq!(product.to_vec::<f64>()?, [12.0, 34.0]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// An equation that does not fit the tensors.
        ///
        /// PyTorch: `torch.einsum`.
        einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor;

        /// The values, weighted by the softmax of the scaled dot products of queries and keys. All three have sizes
        /// `[.., length, width]`.
        ///
        /// A boolean mask says which keys a query may attend to; any other mask is added to the scaled dot products.
        ///
        /// # Errors
        /// A mask together with `is_causal`, sizes that do not match, different dtypes, a mask
        /// that is neither boolean, `float32` nor of the dtype of `query`.
        ///
        /// PyTorch: `torch.nn.functional.scaled_dot_product_attention`.
        scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None,
            float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor;

        /// [`scaled_dot_product_attention`](fn@scaled_dot_product_attention), and the weights of the values. A mask is
        /// always added, even a boolean one. Where `dropout_mask` is false, a weight is dropped; without it, dropout is
        /// random.
        ///
        /// # Errors
        /// The errors of [`scaled_dot_product_attention`](fn@scaled_dot_product_attention).
        ///
        /// PyTorch: `aten::_scaled_dot_product_attention_math`.
        _scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None,
            float dropout_p=0., bool is_causal=False, Tensor? dropout_mask=None, *, float? scale=None,
            bool enable_gqa=False) -> (Tensor, Tensor);
        /// [`scaled_dot_product_attention`](fn@scaled_dot_product_attention) for sizes `[batch, head, length, width]`,
        /// without storing the matrix of all scores (flash attention); and the log-sum-exp of each query's scores.
        ///
        /// # Errors
        /// Other sizes, a nonzero dropout.
        ///
        /// PyTorch: what `scaled_dot_product_attention` does on the CPU.
        _scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0.,
            bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output,
            Tensor logsumexp);
        /// The gradients of query, key and value of
        /// [`_scaled_dot_product_flash_attention_for_cpu`](fn@_scaled_dot_product_flash_attention_for_cpu), from its
        /// results.
        ///
        /// # Errors
        /// A nonzero dropout, sizes that do not match.
        ///
        /// PyTorch: `aten::_scaled_dot_product_flash_attention_for_cpu_backward`.
        _scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key,
            Tensor value, Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *,
            Tensor? attn_mask=None, float? scale=None) -> (Tensor grad_query, Tensor grad_key,
            Tensor grad_value);

        /// Grouped matrix products: batches of matrices, or a matrix whose rows, columns or inner dimension are split
        /// into groups, which end at `offs`.
        ///
        /// # Errors
        /// Dtypes other than `float32` and half-precision ones, sizes that do not match, `offs` that are missing,
        /// superfluous or not `int32`, a bias, another `out_dtype` than that of the operands.
        ///
        /// PyTorch: `torch._grouped_mm`.
        #[variants(function)]
        _grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None,
            ScalarType? out_dtype=None) -> Tensor;
    }
}
