//! Products of vectors and matrices: Kronecker, cross, inner and outer products, contractions, bilinear forms.

use torch_library::torch_library;

torch_library! {
    /// Products.
    #[methods(LinearMethods)]
    pub mod aten extends "aten" {
        /// The Kronecker product: each element of `self` times the whole of `other`. Sizes multiply, dimension by
        /// dimension.
        ///
        /// PyTorch: `torch.kron`.
        kron(Tensor self, Tensor other) -> Tensor;
        /// Sums of the slices of `input` along its first dimension, times the numbers in the rows of `coefficients`: a
        /// slice of the result for each row.
        ///
        /// # Errors
        /// Coefficients that are not a matrix with a column for each slice, no elements, different dtypes.
        ///
        /// PyTorch: `torch._compute_linear_combination`.
        _compute_linear_combination(Tensor input, Tensor coefficients) -> Tensor;
        /// The cross products of vectors of three elements along a dimension.
        ///
        /// # Errors
        /// A dimension of another size than 3.
        ///
        /// PyTorch: `torch.linalg.cross`.
        linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor;
        /// [`linalg_cross`](fn@linalg_cross), along the first dimension of size 3 if `dim` is not given.
        ///
        /// # Errors
        /// No dimension of size 3, different numbers of dimensions or dtypes, boolean dtypes.
        ///
        /// PyTorch: `torch.cross`.
        cross(Tensor self, Tensor other, int? dim=None) -> Tensor;
        /// The tensor contraction: the sum of products over `dims_self` and `dims_other`. In the result, the other
        /// dimensions of `self` come before those of `other`.
        ///
        /// # Errors
        /// Dimensions of different sizes, different dtypes.
        ///
        /// PyTorch: `torch.tensordot`.
        tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor;
        /// The inner product: the sum of products over the last dimensions.
        ///
        /// # Errors
        /// Last dimensions of different sizes, different dtypes.
        ///
        /// PyTorch: `torch.inner`.
        inner(Tensor self, Tensor other) -> Tensor;
        /// The dot product of two vectors, with `self` conjugated.
        ///
        /// # Errors
        /// Sizes or dtypes that differ, a boolean dtype.
        ///
        /// PyTorch: `torch.vdot`.
        vdot(Tensor self, Tensor other) -> Tensor;
        /// `beta * self + alpha * (mat @ vec)`, the product of a matrix and a vector.
        ///
        /// # Errors
        /// Sizes that do not match, different dtypes.
        ///
        /// PyTorch: `torch.addmv`.
        addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor;
        /// `beta * self + alpha * outer(vec1, vec2)`, the outer product of two vectors.
        ///
        /// # Errors
        /// Sizes that do not match.
        ///
        /// PyTorch: `torch.addr`.
        addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor;
        /// Square matrices to the power `n`; for a negative `n`, powers of their inverses.
        ///
        /// # Errors
        /// Matrices that are not square, a negative power of a singular matrix or of an integer one.
        ///
        /// PyTorch: `torch.linalg.matrix_power`.
        matrix_power(Tensor self, int n) -> Tensor;
        /// The bilinear form `x1[.., i] * weight[o, i, j] * x2[.., j]`, summed over `i` and `j`, plus a bias: one for
        /// each output `o`.
        ///
        /// # Errors
        /// Sizes that do not match, different dtypes.
        ///
        /// PyTorch: `torch.nn.functional.bilinear`.
        #[variants(function)]
        bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor;
        /// The product of three tensors, summed over `sumdim`; each tensor first gets dimensions of size 1 at the
        /// positions of its `expand`.
        ///
        /// # Errors
        /// Dimensions out of range, sizes that do not broadcast.
        ///
        /// PyTorch: `aten::_trilinear`.
        #[variants(function)]
        _trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim,
            int unroll_dim=1) -> Tensor;
    }
}
