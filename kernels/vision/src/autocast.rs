//! Autocast: coordinates of boxes have more digits than 16-bit floats, so what torchvision lists here computes in
//! `float32`. Other operators run in the types of their arguments.

use torch_library::DeviceType;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::autocast::{below, cached_cast};

use crate::ops::torchvision;

/// Defines the kernels of a device.
macro_rules! kernels {
    ($($device:ident at $key:ident in $kernels:ident;)+) => { $(
        #[torch_impl(crate::ops::torchvision, $key)]
        mod $kernels {
            use super::*;

            fn nms(dets: &Tensor, scores: &Tensor, iou_threshold: f64) -> Result<Tensor> {
                let (_below, single) = (below(DeviceType::$device), |x: &Tensor| single(x, DeviceType::$device));
                torchvision::nms(&single(dets)?, &single(scores)?, iou_threshold)
            }

            fn roi_align(
                input: &Tensor,
                rois: &Tensor,
                spatial_scale: f64,
                pooled_height: i64,
                pooled_width: i64,
                sampling_ratio: i64,
                aligned: bool,
            ) -> Result<Tensor> {
                let (_below, single) = (below(DeviceType::$device), |x: &Tensor| single(x, DeviceType::$device));
                let pooled = torchvision::roi_align(
                    &single(input)?,
                    &single(rois)?,
                    spatial_scale,
                    pooled_height,
                    pooled_width,
                    sampling_ratio,
                    aligned,
                )?;
                aten::to_dtype(&pooled, input.dtype())
            }
        }
    )+ };
}

kernels! {
    Cpu at AutocastCPU in cpu;
    Cuda at AutocastCUDA in cuda;
}

fn single(tensor: &Tensor, device: DeviceType) -> Result<Tensor> {
    cached_cast(DType::Float32, tensor, device)
}
