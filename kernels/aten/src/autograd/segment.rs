//! Derivatives of reductions of segments.

use torch_library::derivatives;

use crate::aten;

derivatives! {
    in aten;

    segment_reduce(
        Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, int axis=0,
        bool unsafe=False, Scalar? initial=None
    ) -> Tensor as SegmentReduceBackward0 {
        data => aten::_segment_reduce_backward::call(grad, result, data, reduce, lengths, offsets, axis, initial),
        lengths => non_differentiable,
        indices => non_differentiable,
        offsets => non_differentiable,
    }
}
