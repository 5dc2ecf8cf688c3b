//! Pointwise convolutions, whose window is one pixel: products of the weight with the images, which are read in place.
#![expect(unsafe_code, reason = "takes uninitialised memory that it fills")]

use torch_library::geometry::{contiguous_strides, saturating_numel};
use torch_library::prelude::*;

use super::Convolution;
use crate::cpu::matmul;

/// The number of pixels that a vector of the product should hold, so that few of its lanes are unused.
const LANES: i64 = 16;

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
        let strides = [0, weight.strides()[0], weight.strides()[1]];
        let factor =
            weight.strided_view(&[self.batch, kernels, channels], &strides, weight.storage_offset())?;
        // SAFETY: the products are written to every element; after an error the tensor is dropped.
        let out = unsafe { Tensor::uninit(&sizes, image.dtype(), image.device())? };
        let bias = match bias {
            None => None,
            Some(bias) => {
                self.check_converted_bias(bias.sizes() == [kernels], kernels)?;
                let (sizes, strides) = ([self.batch, kernels, pixels], [0, bias.strides()[0], 0]);
                Some(bias.strided_view(&sizes, &strides, bias.storage_offset())?)
            }
        };
        matmul::products(&matrices(&out, kernels)?, &factor, &matrices(image, channels)?, bias.as_ref())?;
        Ok(Some(out))
    }
}
