//! Operators that multiply matrices.

use torch_library::torch_library;

torch_library! {
    /// Matrix products, on top of what was declared before.
    #[methods(MatmulMethods)]
    pub mod aten extends super::statistics::aten {
        /// The product of an `n × k` and a `k × m` matrix.
        ///
        /// # Errors
        /// Tensors that are no matrices, sizes that do not meet, different types.
        ///
        /// PyTorch: `torch.mm`.
        #[variants(out)]
        mm(Tensor self, Tensor mat2) -> Tensor;

        /// The products of two batches of matrices, one by one.
        ///
        /// # Errors
        /// As [`mm`](fn@mm); different numbers of matrices.
        ///
        /// PyTorch: `torch.bmm`.
        #[variants(out)]
        bmm(Tensor self, Tensor mat2) -> Tensor;

        /// `beta * self + alpha * (mat1 @ mat2)`, where `self` broadcasts; with a `beta` of 0 it is not looked at.
        ///
        /// # Errors
        /// As [`mm`](fn@mm).
        ///
        /// PyTorch: `torch.addmm`.
        addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor;

        /// The sum of the products of two vectors' elements.
        ///
        /// # Errors
        /// Tensors that are no vectors, different lengths or types.
        ///
        /// PyTorch: `torch.dot`.
        dot(Tensor self, Tensor tensor) -> Tensor;

        /// The product of a matrix and a vector.
        ///
        /// # Errors
        /// Tensors that are no matrix and no vector, sizes that do not meet, different types.
        ///
        /// PyTorch: `torch.mv`.
        mv(Tensor self, Tensor vec) -> Tensor;

        /// The product of two tensors: of vectors, matrices, or broadcasting batches of matrices.
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
        /// A tensor without dimensions, sizes that do not meet, different types.
        ///
        /// PyTorch: `torch.matmul`.
        matmul(Tensor self, Tensor other) -> Tensor;

        /// `input @ weight.t() + bias`.
        ///
        /// # Errors
        /// As [`matmul`](fn@matmul).
        ///
        /// PyTorch: `torch.nn.functional.linear`.
        linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor;

        /// `beta * self + alpha * (batch1 @ batch2)`, for batches of matrices.
        ///
        /// PyTorch: `torch.baddbmm`.
        baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor;
        /// `beta * self + alpha * sum(batch1 @ batch2)`, the sum being that over the batch.
        ///
        /// PyTorch: `torch.addbmm`.
        addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor;
        /// [`addbmm`](crate::aten::addbmm) in place. A tensor that broadcasts to the result is resized to it first.
        ///
        /// PyTorch: `torch.Tensor.addbmm_`.
        addbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!);
        /// All products of an element of one vector with one of another.
        ///
        /// PyTorch: `torch.outer`.
        outer(Tensor self, Tensor vec2) -> Tensor;
        /// The sum of the elements on the diagonal of a matrix.
        ///
        /// PyTorch: `torch.trace`.
        trace(Tensor self) -> Tensor;

        /// A sum of products of elements, by a formula in which letters name dimensions: `"ik,kj->ij"` multiplies
        /// matrices.
        ///
        /// A letter that is not behind the arrow is summed over; without an arrow those that occur twice are. `...`
        /// stands for all dimensions that have no letter.
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
        /// A formula that does not fit the tensors.
        ///
        /// PyTorch: `torch.einsum`.
        einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor;

        /// The values, weighted by the softmax of how queries and keys match: sizes `[…, length, width]` each.
        ///
        /// A mask of booleans says which keys a query may look at, one of numbers is added to the products.
        ///
        /// # Errors
        /// A mask together with `is_causal`, sizes that do not fit.
        ///
        /// PyTorch: `torch.nn.functional.scaled_dot_product_attention`.
        scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None,
            float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor;

        /// As that, of sizes `[batch, head, length, width]`, without the matrix of all products; and the logarithm
        /// of the sum of each query's exponentials.
        ///
        /// # Errors
        /// Other sizes, and dropout.
        ///
        /// PyTorch: what `scaled_dot_product_attention` does on the CPU.
        _scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0.,
            bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output,
            Tensor logsumexp);
        /// The gradients of query, key and value of
        /// [`_scaled_dot_product_flash_attention_for_cpu`](fn@_scaled_dot_product_flash_attention_for_cpu), from
        /// its results.
        ///
        /// # Errors
        /// A dropout, sizes that do not meet.
        ///
        /// PyTorch: `aten::_scaled_dot_product_flash_attention_for_cpu_backward`.
        _scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key,
            Tensor value, Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *,
            Tensor? attn_mask=None, float? scale=None) -> (Tensor grad_query, Tensor grad_key,
            Tensor grad_value);
    }
}
