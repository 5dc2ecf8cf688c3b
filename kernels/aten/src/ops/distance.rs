//! Distances between rows, and cosines of the angles between vectors.

use torch_library::torch_library;

torch_library! {
    /// Distances.
    #[methods(DistanceMethods)]
    pub mod aten extends "aten" {
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
        /// The gradient of `x1` in [`_cdist_forward`](fn@_cdist_forward), from its result.
        ///
        /// # Errors
        /// Tensors of different dtypes, sizes that do not match.
        ///
        /// PyTorch: `aten::_cdist_backward`.
        _cdist_backward(Tensor grad_output, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor;
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
