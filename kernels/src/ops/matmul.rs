//! Operators that multiply matrices.

use torch_library::torch_library;

torch_library! {
    /// Matrix products, on top of what was declared before.
    pub mod aten extends super::reduce::aten {
        /// The product of an `n × k` and a `k × m` matrix.
        ///
        /// # Errors
        /// Tensors that are no matrices, sizes that do not meet, different types.
        ///
        /// PyTorch: `torch.mm`.
        mm(Tensor self, Tensor mat2) -> Tensor;
        /// Writes the product of two matrices to `out`.
        ///
        /// # Errors
        /// As [`mm`](fn@mm); an `out` of other sizes or another type, or one that shares memory with a factor.
        ///
        /// PyTorch: `torch.mm`.
        mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!);

        /// The products of two batches of matrices, one by one.
        ///
        /// # Errors
        /// As [`mm`](fn@mm); different numbers of matrices.
        ///
        /// PyTorch: `torch.bmm`.
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
    }
}
