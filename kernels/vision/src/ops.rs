//! The operators: torchvision's schemas.

use torch_library::torch_library;

torch_library! {
    /// Operators on boxes, and on the regions of interest (RoIs) that boxes mark in images.
    ///
    /// A box is `(x1, y1, x2, y2)`; each row of an argument `rois`, of sizes `[K, 5]`, is the index of an image in the
    /// batch, followed by a box. Pooling divides a box into `pooled_height × pooled_width` bins.
    ///
    /// PyTorch: `torch.ops.torchvision`.
    pub mod torchvision {
        /// Non-maximum suppression: the indices of the boxes that remain when, of any two whose intersection over union
        /// exceeds the threshold, the one with the lower score is removed; as `int64`, in descending order of scores.
        ///
        /// `dets` has sizes `[N, 4]`, `scores` `[N]`.
        ///
        /// PyTorch: `torchvision.ops.nms`.
        nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor;

        /// Averages, in each bin of each box, points that are interpolated bilinearly from the elements around them.
        /// From `input`, `[N, C, H, W]`, and `K` boxes it computes `[K, C, pooled_height, pooled_width]`.
        ///
        /// Each bin has `sampling_ratio` points along each axis, or as many as it has elements if that is not positive.
        /// `aligned` moves boxes by half an element, so that coordinates refer to the centres of elements.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_vision::torchvision;
        ///
        /// let image = Tensor::from_vec((0..16).map(|x| x as f32).collect(), &[1, 1, 4, 4])?;
        /// let left_upper = Tensor::from([[0f32, 0.0, 0.0, 2.0, 2.0]]);
        /// let mean = torchvision::roi_align(&image, &left_upper, 1.0, 1, 1, 2, true)?;
        /// assert_eq!(mean.to_vec::<f32>()?, [2.5]);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// PyTorch: `torchvision.ops.roi_align`.
        roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor;
        /// The gradient of `roi_align` with respect to its input.
        _roi_align_backward(Tensor grad, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width, int sampling_ratio, bool aligned) -> Tensor;

        /// The maximum of each bin of each box; and, as `int32`, its position in the image, or -1 for bins without
        /// elements.
        ///
        /// PyTorch: `torchvision.ops.roi_pool`.
        roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor);
        /// The gradient of `roi_pool` with respect to its input.
        _roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor;

        /// Like `roi_align`, except that each bin has its own channels (position-sensitive):
        /// `C * pooled_height * pooled_width` channels become `C`. The second result, `int32`, is the channel that each
        /// element comes from.
        ///
        /// PyTorch: `torchvision.ops.ps_roi_align`.
        ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio) -> (Tensor, Tensor);
        /// The gradient of `ps_roi_align` with respect to its input.
        _ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor;

        /// Averages the elements in each bin of each box, where each bin has its own channels, as in `ps_roi_align`. As
        /// in torchvision, the last row and the last column of an image are left out of averages, but get a gradient.
        ///
        /// PyTorch: `torchvision.ops.ps_roi_pool`.
        ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor);
        /// The gradient of `ps_roi_pool` with respect to its input.
        _ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, float spatial_scale, SymInt pooled_height, SymInt pooled_width, SymInt batch_size, SymInt channels, SymInt height, SymInt width) -> Tensor;

        /// Deformable convolution: a convolution whose sampling points are moved by `offset`, and whose samples are
        /// multiplied by `mask` if `use_mask` is set.
        ///
        /// `input` is `[N, C, H, W]`, `weight` `[O, C / groups, h, w]`, `offset`
        /// `[N, 2 * offset_groups * h * w, H', W']` with alternating vertical and horizontal offsets, `mask`
        /// `[N, offset_groups * h * w, H', W']`, `bias` `[O]`.
        ///
        /// PyTorch: `torchvision.ops.deform_conv2d`.
        deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor;
        /// The gradients of `deform_conv2d` with respect to its five tensors.
        _deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> (Tensor, Tensor, Tensor, Tensor, Tensor);
    }
}
