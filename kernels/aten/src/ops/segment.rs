//! Reductions of segments.

use torch_library::torch_library;

torch_library! {
    /// Reductions of segments.
    pub mod aten extends "aten" {
        /// Reduces segments along a dimension: `reduce` is `sum`, `mean`, `prod`, `max` or `min`. Segments are given by
        /// their lengths, or by `offsets`, at which they begin and end. Every reduction starts from `initial`; without
        /// it, an empty segment gives the identity of the reduction, or NaN for `mean`.
        ///
        /// # Errors
        /// Integer, boolean and complex dtypes, lengths that do not add up to the dimension, offsets outside of it, an
        /// `axis` that is not the last dimension of the lengths; `indices`, which no kernel supports.
        ///
        /// PyTorch: `torch.segment_reduce`.
        segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None,
            Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor;
        /// The gradient of [`segment_reduce`](fn@segment_reduce); equal extremes share it evenly.
        ///
        /// PyTorch: `aten::_segment_reduce_backward`.
        _segment_reduce_backward(Tensor grad, Tensor output, Tensor data, str reduce, *, Tensor? lengths=None,
            Tensor? offsets=None, int axis=0, Scalar? initial=None) -> Tensor;
    }
}
