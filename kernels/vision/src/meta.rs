//! Kernels for `Meta`. `nms` has none, since its size depends on the elements.

use torch_library::prelude::*;

use crate::deform::{Geometry as Convolution, Steps, Tensors};
use crate::linear::Pooling;
use crate::pooling::Pass;
use crate::regions::{self, Geometry};

fn empty(sizes: &[i64], like: &Tensor) -> Result<Tensor> {
    Tensor::empty(sizes, like.dtype(), like.device())
}

/// A pooling's result, and its second result: channels or positions.
fn pooled(pooling: &Pooling, input: &Tensor, rois: &Tensor) -> Result<(Tensor, Tensor)> {
    let sizes = pooling.output_sizes(regions::count(rois)?)?;
    Ok((empty(&sizes, input)?, Tensor::empty(&sizes, DType::Int32, input.device())?))
}

#[torch_impl(crate::ops::torchvision, Meta)]
mod meta {
    use super::*;

    fn roi_align(
        input: &Tensor,
        rois: &Tensor,
        _spatial_scale: f64,
        pooled_height: i64,
        pooled_width: i64,
        sampling_ratio: i64,
        aligned: bool,
    ) -> Result<Tensor> {
        let geometry = Geometry::new(input.sizes(), pooled_height, pooled_width)?;
        Ok(pooled(&Pooling::align(geometry, sampling_ratio, aligned), input, rois)?.0)
    }

    fn _roi_align_backward(
        grad: &Tensor,
        _rois: &Tensor,
        _spatial_scale: f64,
        _pooled_height: i64,
        _pooled_width: i64,
        batch_size: i64,
        channels: i64,
        height: i64,
        width: i64,
        _sampling_ratio: i64,
        _aligned: bool,
    ) -> Result<Tensor> {
        empty(&[batch_size, channels, height, width], grad)
    }

    fn roi_pool(
        input: &Tensor,
        rois: &Tensor,
        _spatial_scale: f64,
        pooled_height: i64,
        pooled_width: i64,
    ) -> Result<(Tensor, Tensor)> {
        let geometry = Geometry::new(input.sizes(), pooled_height, pooled_width)?;
        // One element for each channel and part, as in `roi_align`.
        pooled(&Pooling::align(geometry, 1, true), input, rois)
    }

    fn _roi_pool_backward(
        grad: &Tensor,
        _rois: &Tensor,
        _argmax: &Tensor,
        _spatial_scale: f64,
        _pooled_height: i64,
        _pooled_width: i64,
        batch_size: i64,
        channels: i64,
        height: i64,
        width: i64,
    ) -> Result<Tensor> {
        empty(&[batch_size, channels, height, width], grad)
    }

    fn ps_roi_align(
        input: &Tensor,
        rois: &Tensor,
        _spatial_scale: f64,
        pooled_height: i64,
        pooled_width: i64,
        sampling_ratio: i64,
    ) -> Result<(Tensor, Tensor)> {
        let geometry = Geometry::new(input.sizes(), pooled_height, pooled_width)?;
        pooled(&Pooling::align_parts(geometry, sampling_ratio), input, rois)
    }

    fn _ps_roi_align_backward(
        grad: &Tensor,
        _rois: &Tensor,
        _channel_mapping: &Tensor,
        _spatial_scale: f64,
        _pooled_height: i64,
        _pooled_width: i64,
        _sampling_ratio: i64,
        batch_size: i64,
        channels: i64,
        height: i64,
        width: i64,
    ) -> Result<Tensor> {
        empty(&[batch_size, channels, height, width], grad)
    }

    fn ps_roi_pool(
        input: &Tensor,
        rois: &Tensor,
        _spatial_scale: f64,
        pooled_height: i64,
        pooled_width: i64,
    ) -> Result<(Tensor, Tensor)> {
        let geometry = Geometry::new(input.sizes(), pooled_height, pooled_width)?;
        pooled(&Pooling::average_parts(geometry, Pass::Forward), input, rois)
    }

    fn _ps_roi_pool_backward(
        grad: &Tensor,
        _rois: &Tensor,
        _channel_mapping: &Tensor,
        _spatial_scale: f64,
        _pooled_height: i64,
        _pooled_width: i64,
        batch_size: i64,
        channels: i64,
        height: i64,
        width: i64,
    ) -> Result<Tensor> {
        empty(&[batch_size, channels, height, width], grad)
    }

    fn deform_conv2d(
        input: &Tensor,
        weight: &Tensor,
        offset: &Tensor,
        mask: &Tensor,
        bias: &Tensor,
        stride_h: i64,
        stride_w: i64,
        pad_h: i64,
        pad_w: i64,
        dilation_h: i64,
        dilation_w: i64,
        groups: i64,
        offset_groups: i64,
        use_mask: bool,
    ) -> Result<Tensor> {
        let (stride, padding, dilation) = ([stride_h, stride_w], [pad_h, pad_w], [dilation_h, dilation_w]);
        let steps = Steps { stride, padding, dilation, groups, offset_groups, use_mask };
        let sizes = Convolution::new(Tensors { input, weight, offset, mask, bias }, steps)?.output_sizes();
        empty(&sizes, input)
    }

    fn _deform_conv2d_backward(
        _grad: &Tensor,
        input: &Tensor,
        weight: &Tensor,
        offset: &Tensor,
        mask: &Tensor,
        bias: &Tensor,
        _stride_h: i64,
        _stride_w: i64,
        _pad_h: i64,
        _pad_w: i64,
        _dilation_h: i64,
        _dilation_w: i64,
        _groups: i64,
        _offset_groups: i64,
        _use_mask: bool,
    ) -> Result<(Tensor, Tensor, Tensor, Tensor, Tensor)> {
        let like = |tensor: &Tensor| empty(tensor.sizes(), tensor);
        Ok((like(input)?, like(weight)?, like(offset)?, like(mask)?, like(bias)?))
    }
}
