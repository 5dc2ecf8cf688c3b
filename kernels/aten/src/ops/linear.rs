//! Operators on vectors and matrices that are composed of products, and distances.

use torch_library::torch_library;

torch_library! {
    /// Products and distances, on top of the operators declared before.
    #[methods(LinearMethods)]
    pub mod aten extends super::image::aten {
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
        /// The distances between all pairs of a row of `x1` and a row of `x2`, by the norm of order `p`.
        ///
        /// # Errors
        /// Rows of different lengths, a negative order, dtypes that are not floating-point; without a product,
        /// also 16-bit floats and two different dtypes.
        ///
        /// PyTorch: `torch.cdist`.
        cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor;
        /// The operator behind [`cdist`](fn@cdist), by differences.
        ///
        /// # Errors
        /// Rows of different lengths, batches that do not broadcast.
        ///
        /// PyTorch: `aten::_cdist_forward`.
        _cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor;
        /// The Euclidean distances between all pairs of rows by one matrix product: fast, and less precise for rows
        /// that are close to each other.
        ///
        /// # Errors
        /// Rows of different lengths, batches that do not broadcast.
        ///
        /// PyTorch: `aten::_euclidean_dist`.
        _euclidean_dist(Tensor x1, Tensor x2) -> Tensor;
        /// The distances between corresponding rows, by the norm of order `p`; `eps` is added to each difference.
        ///
        /// # Errors
        /// Sizes that do not broadcast.
        ///
        /// PyTorch: `torch.nn.functional.pairwise_distance`.
        pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=1e-06, bool keepdim=False) -> Tensor;
        /// The cosines of the angles between vectors along a dimension; norms count as at least `eps`.
        ///
        /// # Errors
        /// Sizes that do not broadcast, integer and complex dtypes.
        ///
        /// PyTorch: `torch.nn.functional.cosine_similarity`.
        cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor;
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
        /// The triplet margin loss: `max(d(anchor, positive) - d(anchor, negative) + margin, 0)`, where `d` is the
        /// distance of order `p`.
        ///
        /// # Errors
        /// Different numbers of dimensions.
        ///
        /// PyTorch: `torch.nn.functional.triplet_margin_loss`.
        triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2.,
            float eps=1e-06, bool swap=False, int reduction=1) -> Tensor;

        /// The gradient of `x1` in [`_cdist_forward`](fn@_cdist_forward), from its result.
        ///
        /// # Errors
        /// Tensors of different dtypes, sizes that do not match.
        ///
        /// PyTorch: `aten::_cdist_backward`.
        _cdist_backward(Tensor grad_output, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor;
        /// The distances between all pairs of different rows of a matrix, by the norm of order `p`, as a vector in the
        /// order of the pairs.
        ///
        /// # Errors
        /// An input that is not a matrix or not floating-point, a negative order.
        ///
        /// PyTorch: `torch.pdist`.
        pdist(Tensor self, float p=2.) -> Tensor;
        /// The operator behind [`pdist`](fn@pdist).
        ///
        /// # Errors
        /// The errors of [`pdist`](fn@pdist).
        ///
        /// PyTorch: `aten::_pdist_forward`.
        _pdist_forward(Tensor self, float p=2.) -> Tensor;
        /// The gradient of the input of [`_pdist_forward`](fn@_pdist_forward), from its result.
        ///
        /// # Errors
        /// A gradient or distances that do not have one element for each pair.
        ///
        /// PyTorch: `aten::_pdist_backward`.
        _pdist_backward(Tensor grad_output, Tensor self, float p, Tensor pdist) -> Tensor;
    }
}
