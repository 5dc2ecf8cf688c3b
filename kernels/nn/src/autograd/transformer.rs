//! The derivative of masked softmax.

use torch_library::derivatives;

use crate::aten;

derivatives! {
    in aten;

    _masked_softmax(
        Tensor self, Tensor mask, int? dim=None, int? mask_type=None
    ) -> Tensor as MaskedSoftmaxBackward0 {
        self => aten::_masked_softmax_backward::call(grad, result, mask, dim),
        mask => non_differentiable,
    }
}
