//! Operators on vectors and matrices that are made of products, and distances between them.

use torch_library::torch_library;

torch_library! {
    /// Products and distances, on top of what was declared before.
    #[methods(LinearMethods)]
    pub mod aten extends super::image::aten {
        /// Each element of the first tensor times the whole second one.
        ///
        /// PyTorch: `torch.kron`.
        kron(Tensor self, Tensor other) -> Tensor;
        /// The cross products of vectors of three numbers along a dimension.
        ///
        /// # Errors
        /// A dimension of another size than 3.
        ///
        /// PyTorch: `torch.linalg.cross`.
        linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor;
        /// As [`linalg_cross`](fn@linalg_cross), along the first dimension of size 3 if none is given.
        ///
        /// # Errors
        /// No dimension of size 3.
        ///
        /// PyTorch: `torch.cross`.
        cross(Tensor self, Tensor other, int? dim=None) -> Tensor;
        /// The sums of products over some dimensions of both tensors; the others of the first come before those of the
        /// second.
        ///
        /// # Errors
        /// Dimensions of different sizes.
        ///
        /// PyTorch: `torch.tensordot`.
        tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor;
        /// The sums of products over the last dimensions.
        ///
        /// # Errors
        /// Last dimensions of different sizes.
        ///
        /// PyTorch: `torch.inner`.
        inner(Tensor self, Tensor other) -> Tensor;
        /// The sum of the products of two vectors of real numbers.
        ///
        /// # Errors
        /// Other sizes, two types, complex numbers.
        ///
        /// PyTorch: `torch.vdot`.
        vdot(Tensor self, Tensor other) -> Tensor;
        /// `beta self + alpha mat vec`, a matrix and a vector.
        ///
        /// # Errors
        /// Sizes that do not fit.
        ///
        /// PyTorch: `torch.addmv`.
        addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor;
        /// `beta self + alpha vec1 vec2ᵀ`, two vectors.
        ///
        /// # Errors
        /// Sizes that do not fit.
        ///
        /// PyTorch: `torch.addr`.
        addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor;
        /// Square matrices to a power; if that is negative, their inverses.
        ///
        /// # Errors
        /// Matrices that are not square, a negative power of matrices without an inverse.
        ///
        /// PyTorch: `torch.linalg.matrix_power`.
        matrix_power(Tensor self, int n) -> Tensor;
        /// The distances of each two rows, by the norm of order `p`.
        ///
        /// # Errors
        /// Rows of different length, other types than floating-point ones, a negative order.
        ///
        /// PyTorch: `torch.cdist`.
        cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor;
        /// The part of [`cdist`](fn@cdist) that computes, difference by difference.
        ///
        /// # Errors
        /// Rows of different length, batches that do not broadcast.
        ///
        /// PyTorch: `aten::_cdist_forward`.
        _cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor;
        /// The distances of each two rows, by one product of matrices: fast, and less precise where rows are near
        /// each other.
        ///
        /// # Errors
        /// Rows of different length, batches that do not broadcast.
        ///
        /// PyTorch: `aten::_euclidean_dist`.
        _euclidean_dist(Tensor x1, Tensor x2) -> Tensor;
        /// The distances of rows, by the norm of order `p`; `eps` is added to each difference.
        ///
        /// # Errors
        /// Sizes that do not broadcast.
        ///
        /// PyTorch: `torch.nn.functional.pairwise_distance`.
        pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=1e-06, bool keepdim=False) -> Tensor;
        /// The cosines of the angles between vectors along a dimension, whose lengths count as at least `eps`.
        ///
        /// # Errors
        /// Sizes that do not broadcast, integers.
        ///
        /// PyTorch: `torch.nn.functional.cosine_similarity`.
        cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor;
        /// Pairs of vectors, each pair times the matrix of each output, plus a bias:
        /// `x1[.., i] * weight[o, i, j] * x2[.., j]`.
        ///
        /// # Errors
        /// Other sizes.
        ///
        /// PyTorch: `torch.nn.functional.bilinear`.
        #[variants(function)]
        bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor;
        /// The product of three tensors, each with new dimensions of size 1 at the places of `expand`, summed over
        /// some dimensions.
        ///
        /// # Errors
        /// Dimensions out of range, or that do not broadcast.
        ///
        /// PyTorch: `aten::_trilinear`.
        #[variants(function)]
        _trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim,
            int unroll_dim=1) -> Tensor;
        /// By how much anchors are not closer to the positive row than to the negative one, by a margin.
        ///
        /// # Errors
        /// Other numbers of dimensions, a margin of 0 or less.
        ///
        /// PyTorch: `torch.nn.functional.triplet_margin_loss`.
        triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2.,
            float eps=1e-06, bool swap=False, int reduction=1) -> Tensor;

        /// The gradient of the first rows of [`_cdist_forward`](fn@_cdist_forward), from its result.
        ///
        /// # Errors
        /// Tensors of several types, sizes that do not meet.
        ///
        /// PyTorch: `aten::_cdist_backward`.
        _cdist_backward(Tensor grad_output, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor;
        /// The distances of all pairs of different rows of a matrix by a norm, in the order of the pairs.
        ///
        /// # Errors
        /// Other than matrices, types that are not floating point, a negative order.
        ///
        /// PyTorch: `torch.pdist`.
        pdist(Tensor self, float p=2.) -> Tensor;
        /// The part of [`pdist`](fn@pdist) that computes.
        ///
        /// # Errors
        /// As there.
        ///
        /// PyTorch: `aten::_pdist_forward`.
        _pdist_forward(Tensor self, float p=2.) -> Tensor;
        /// The gradient of the rows of [`_pdist_forward`](fn@_pdist_forward), from its result.
        ///
        /// # Errors
        /// A gradient or distances that are not one for each pair.
        ///
        /// PyTorch: `aten::_pdist_backward`.
        _pdist_backward(Tensor grad_output, Tensor self, float p, Tensor pdist) -> Tensor;
    }
}
