//! Derivatives of resizing.

use torch_library::derivatives;

use crate::aten;

derivatives! {
    in aten;

    upsample_nearest1d(
        Tensor self, SymInt[1] output_size, float? scales=None
    ) -> Tensor as UpsampleNearest1DBackward0 {
        self => aten::upsample_nearest1d_backward::call(grad, output_size, self.sizes(), scales),
    }
    upsample_nearest1d_backward(
        Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, float? scales=None
    ) -> Tensor as UpsampleNearest1DBackwardBackward0 {
        grad_output => aten::upsample_nearest1d::call(grad, output_size, scales),
    }
    upsample_nearest2d(
        Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleNearest2DBackward0 {
        self => aten::upsample_nearest2d_backward::call(grad, output_size, self.sizes(), scales_h, scales_w),
    }
    upsample_nearest2d_backward(
        Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleNearest2DBackwardBackward0 {
        grad_output => aten::upsample_nearest2d::call(grad, output_size, scales_h, scales_w),
    }
    upsample_nearest3d(
        Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleNearest3DBackward0 {
        self => aten::upsample_nearest3d_backward::call(grad, output_size, self.sizes(), scales_d, scales_h, scales_w),
    }
    upsample_nearest3d_backward(
        Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, float? scales_d=None,
        float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleNearest3DBackwardBackward0 {
        grad_output => aten::upsample_nearest3d::call(grad, output_size, scales_d, scales_h, scales_w),
    }
    _upsample_nearest_exact1d(
        Tensor self, SymInt[1] output_size, float? scales=None
    ) -> Tensor as UpsampleNearestExact1DBackward0 {
        self => aten::_upsample_nearest_exact1d_backward::call(grad, output_size, self.sizes(), scales),
    }
    _upsample_nearest_exact1d_backward(
        Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, float? scales=None
    ) -> Tensor as UpsampleNearestExact1DBackwardBackward0 {
        grad_output => aten::_upsample_nearest_exact1d::call(grad, output_size, scales),
    }
    _upsample_nearest_exact2d(
        Tensor self, SymInt[2] output_size, float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleNearestExact2DBackward0 {
        self => aten::_upsample_nearest_exact2d_backward::call(grad, output_size, self.sizes(), scales_h, scales_w),
    }
    _upsample_nearest_exact2d_backward(
        Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleNearestExact2DBackwardBackward0 {
        grad_output => aten::_upsample_nearest_exact2d::call(grad, output_size, scales_h, scales_w),
    }
    _upsample_nearest_exact3d(
        Tensor self, SymInt[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleNearestExact3DBackward0 {
        self => aten::_upsample_nearest_exact3d_backward::call(grad, output_size, self.sizes(), scales_d,
            scales_h, scales_w),
    }
    _upsample_nearest_exact3d_backward(
        Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, float? scales_d=None,
        float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleNearestExact3DBackwardBackward0 {
        grad_output => aten::_upsample_nearest_exact3d::call(grad, output_size, scales_d, scales_h, scales_w),
    }
    upsample_linear1d(
        Tensor self, SymInt[1] output_size, bool align_corners, float? scales=None
    ) -> Tensor as UpsampleLinear1DBackward0 {
        self => aten::upsample_linear1d_backward::call(grad, output_size, self.sizes(), align_corners, scales),
    }
    upsample_linear1d_backward(
        Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, bool align_corners, float? scales=None
    ) -> Tensor as UpsampleLinear1DBackwardBackward0 {
        grad_output => aten::upsample_linear1d::call(grad, output_size, align_corners, scales),
    }
    upsample_bilinear2d(
        Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleBilinear2DBackward0 {
        self => aten::upsample_bilinear2d_backward::call(grad, output_size, self.sizes(), align_corners,
            scales_h, scales_w),
    }
    upsample_bilinear2d_backward(
        Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners,
        float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleBilinear2DBackwardBackward0 {
        grad_output => aten::upsample_bilinear2d::call(grad, output_size, align_corners, scales_h, scales_w),
    }
    upsample_trilinear3d(
        Tensor self, SymInt[3] output_size, bool align_corners, float? scales_d=None, float? scales_h=None,
        float? scales_w=None
    ) -> Tensor as UpsampleTrilinear3DBackward0 {
        self => aten::upsample_trilinear3d_backward::call(grad, output_size, self.sizes(), align_corners,
            scales_d, scales_h, scales_w),
    }
    upsample_trilinear3d_backward(
        Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, bool align_corners,
        float? scales_d=None, float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleTrilinear3DBackwardBackward0 {
        grad_output => aten::upsample_trilinear3d::call(grad, output_size, align_corners, scales_d, scales_h, scales_w),
    }
    upsample_bicubic2d(
        Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleBicubic2DBackward0 {
        self =>
            aten::upsample_bicubic2d_backward::call(grad, output_size, self.sizes(), align_corners, scales_h, scales_w),
    }
    upsample_bicubic2d_backward(
        Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners,
        float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleBicubic2DBackwardBackward0 {
        grad_output => aten::upsample_bicubic2d::call(grad, output_size, align_corners, scales_h, scales_w),
    }
    _upsample_bilinear2d_aa(
        Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleBilinear2DAaBackward0 {
        self => aten::_upsample_bilinear2d_aa_backward::call(
            grad, output_size, self.sizes(), align_corners, scales_h, scales_w,
        ),
    }
    _upsample_bilinear2d_aa_backward(
        Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, float? scales_h=None,
        float? scales_w=None
    ) -> Tensor as UpsampleBilinear2DAaBackwardBackward0 {
        grad_output => aten::_upsample_bilinear2d_aa::call(grad, output_size, align_corners, scales_h, scales_w),
    }
    _upsample_bicubic2d_aa(
        Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleBicubic2DAaBackward0 {
        self => aten::_upsample_bicubic2d_aa_backward::call(
            grad, output_size, self.sizes(), align_corners, scales_h, scales_w,
        ),
    }
    _upsample_bicubic2d_aa_backward(
        Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, float? scales_h=None,
        float? scales_w=None
    ) -> Tensor as UpsampleBicubic2DAaBackwardBackward0 {
        grad_output => aten::_upsample_bicubic2d_aa::call(grad, output_size, align_corners, scales_h, scales_w),
    }
    _upsample_lanczos2d_aa(
        Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None
    ) -> Tensor as UpsampleLanczos2DAaBackward0 {
        self => aten::_upsample_lanczos2d_aa_backward::call(
            grad, output_size, self.sizes(), align_corners, scales_h, scales_w,
        ),
    }
    _upsample_lanczos2d_aa_backward(
        Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, float? scales_h=None,
        float? scales_w=None
    ) -> Tensor as UpsampleLanczos2DAaBackwardBackward0 {
        grad_output => aten::_upsample_lanczos2d_aa::call(grad, output_size, align_corners, scales_h, scales_w),
    }
}
