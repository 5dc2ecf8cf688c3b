//! Derivatives of fake quantisation: that of the identity where nothing was clamped.

use torch_library::derivatives;

use crate::aten;

derivatives! {
    in aten;

    fake_quantize_per_tensor_affine_cachemask(
        Tensor self, float scale, int zero_point, int quant_min, int quant_max
    ) -> (Tensor output, Tensor mask) as FakeQuantizePerTensorAffineCachemaskBackward0 {
        self => aten::fake_quantize_per_tensor_affine_cachemask_backward(grad, mask),
        mask => non_differentiable,
    }
    _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
        Tensor self, Tensor scale, Tensor zero_point, Tensor fake_quant_enabled, int quant_min, int quant_max
    ) -> (Tensor output, Tensor mask) as FakeQuantizePerTensorAffineCachemaskTensorQparamsBackward0 {
        self => aten::fake_quantize_per_tensor_affine_cachemask_backward(grad, mask),
        scale => non_differentiable,
        zero_point => non_differentiable,
        fake_quant_enabled => non_differentiable,
        mask => non_differentiable,
    }
    _fake_quantize_learnable_per_tensor_affine(
        Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max, float grad_factor=1.
    ) -> Tensor as FakeQuantizeLearnablePerTensorAffineBackward0 {
        (self, scale, zero_point) => aten::_fake_quantize_learnable_per_tensor_affine_backward::call(
            grad, self, scale, zero_point, quant_min, quant_max, grad_factor,
        ),
    }
    _fake_quantize_learnable_per_channel_affine(
        Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max, float grad_factor=1.
    ) -> Tensor as FakeQuantizeLearnablePerChannelAffineBackward0 {
        (self, scale, zero_point) => aten::_fake_quantize_learnable_per_channel_affine_backward::call(
            grad, self, scale, zero_point, axis, quant_min, quant_max, grad_factor,
        ),
    }
    fake_quantize_per_channel_affine_cachemask(
        Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max
    ) -> (Tensor output, Tensor mask) as FakeQuantizePerChannelAffineCachemaskBackward0 {
        self => aten::fake_quantize_per_channel_affine_cachemask_backward(grad, mask),
        scale => non_differentiable,
        zero_point => non_differentiable,
        mask => non_differentiable,
    }
}
