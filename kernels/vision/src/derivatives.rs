//! Derivatives: of poolings with respect to their input (boxes have none), and of deformable convolution with respect
//! to all tensors.

use torch_library::derivatives;

mod convolution;

use crate::ops::torchvision;

derivatives! {
    in crate::ops::torchvision;

    nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor as non_differentiable;

    roi_align(
        Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio,
        bool aligned
    ) -> Tensor {
        input => {
            let sizes = input.sizes();
            torchvision::_roi_align_backward(
                grad, rois, spatial_scale, pooled_height, pooled_width, sizes[0], sizes[1], sizes[2], sizes[3],
                sampling_ratio, aligned,
            )
        },
        rois => non_differentiable,
    }
    roi_pool(
        Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width
    ) -> (Tensor, Tensor) {
        input => {
            let sizes = input.sizes();
            torchvision::_roi_pool_backward(
                grad, rois, result1, spatial_scale, pooled_height, pooled_width, sizes[0], sizes[1], sizes[2], sizes[3],
            )
        },
        rois => non_differentiable,
        result1 => non_differentiable,
    }
    ps_roi_align(
        Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio
    ) -> (Tensor, Tensor) {
        input => {
            let sizes = input.sizes();
            torchvision::_ps_roi_align_backward(
                grad, rois, result1, spatial_scale, pooled_height, pooled_width, sampling_ratio, sizes[0], sizes[1],
                sizes[2], sizes[3],
            )
        },
        rois => non_differentiable,
        result1 => non_differentiable,
    }
    ps_roi_pool(
        Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width
    ) -> (Tensor, Tensor) {
        input => {
            let sizes = input.sizes();
            torchvision::_ps_roi_pool_backward(
                grad, rois, result1, spatial_scale, pooled_height, pooled_width, sizes[0], sizes[1], sizes[2], sizes[3],
            )
        },
        rois => non_differentiable,
        result1 => non_differentiable,
    }
}
