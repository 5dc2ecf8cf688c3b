//! Pointwise convolutions, whose window is one pixel: products of the weight with the images, which are read in place.
#![expect(unsafe_code, reason = "takes uninitialised memory that it fills")]

use torch_library::geometry::{contiguous_strides, saturating_numel};
use torch_library::prelude::*;

use super::Convolution;
use crate::cpu::matmul;
use crate::loops;

/// The number of pixels that a vector of the product should hold, so that few of its lanes are unused.
const LANES: i64 = 16;

/// The bytes of the result that get the bias before products are added to them: they stay in the L2 cache.
const WITH_BIAS: i64 = 1 << 19;

/// The smallest number of pixels of such a part, and its divisor: whole panels of the product, of any width.
const LEAST_PIXELS: i64 = 384;
const PANELS: i64 = 96;

impl Convolution<'_> {
    /// Whether the convolution from images to places is such a product, and faster computed as one.
    fn is_product(&self, image: &Tensor, weight: &Tensor) -> Result<bool> {
        let (dtype, pixels) = (image.dtype(), saturating_numel(&self.places));
        let fills_vectors = (pixels + LANES - 1) / LANES * LANES * 8 <= pixels * 9;
        if !(self.axes.iter().all(|axis| [axis.kernel, axis.stride, axis.padding] == [1, 1, 0])
            && fills_vectors
            && self.groups == 1
            && matches!(dtype, DType::Float32 | DType::Float64)
            && weight.dtype() == dtype
            && image.is_contiguous(MemoryFormat::Contiguous))
        {
            return Ok(false);
        }
        let sizes = self.places_sizes();
        Ok(self.strides_like_operands(&sizes, dtype)? == contiguous_strides(&sizes))
    }

    /// The convolution, if it is a product.
    pub(super) fn pointwise(
        &self,
        image: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Option<Tensor>> {
        if !self.is_product(image, weight)? {
            return Ok(None);
        }
        let (sizes, pixels) = (self.places_sizes(), saturating_numel(&self.places));
        let [channels, kernels] = self.channels;
        let matrices = |tensor: &Tensor, rows: i64| {
            let sizes = [self.batch, rows, pixels];
            tensor.strided_view(&sizes, &[rows * pixels, pixels, 1], tensor.storage_offset())
        };
        let factor = |batch: i64| {
            let strides = [0, weight.strides()[0], weight.strides()[1]];
            weight.strided_view(&[batch, kernels, channels], &strides, weight.storage_offset())
        };
        // SAFETY: the products are written to every element, after the bias if there is one; after an error the tensor
        // is dropped.
        let out = unsafe { Tensor::uninit(&sizes, image.dtype(), image.device())? };
        let (all, images) = (matrices(&out, kernels)?, matrices(image, channels)?);
        let Some(bias) = bias else {
            matmul::products(&all, &factor(self.batch)?, &images, false)?;
            return Ok(Some(out));
        };
        self.check_converted_bias(bias.sizes() == [kernels], kernels)?;
        let factor = factor(1)?;
        let most = WITH_BIAS / (kernels * image.dtype().size() as i64).max(1);
        let most = most.max(LEAST_PIXELS) / PANELS * PANELS;
        for (item, first) in
            (0..self.batch).flat_map(|item| (0..pixels).step_by(most as usize).map(move |at| (item, at)))
        {
            let count = most.min(pixels - first);
            let part = |all: &Tensor, rows: i64| {
                let offset = all.storage_offset() + item * rows * pixels + first;
                all.strided_view(&[1, rows, count], &[rows * pixels, pixels, 1], offset)
            };
            let (out, image) = (part(&all, kernels)?, part(&images, channels)?);
            let bias =
                bias.strided_view(&[1, kernels, count], &[0, bias.strides()[0], 0], bias.storage_offset())?;
            loops::assign(&out, &bias)?;
            matmul::products(&out, &factor, &image, true)?;
        }
        Ok(Some(out))
    }
}
