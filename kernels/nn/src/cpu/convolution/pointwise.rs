//! Pointwise convolutions, whose window is one pixel: products of the weight with the images, which are read in place.
#![expect(unsafe_code, reason = "takes uninitialised memory that it fills")]

use torch_library::geometry::{Dims, saturating_numel, strides_for};
use torch_library::prelude::*;

use super::Convolution;
use crate::cpu::matmul;

/// The number of pixels that a vector of the product should hold, so that few of its lanes are unused.
const LANES: i64 = 16;

/// With fewer pixels in channels-last images, if each has several, the implicit product is faster.
const FEWEST_ROWS: i64 = 128;

/// What the channels of a pixel are in the matrix that images are: a row, since they lie side by side, or a column.
#[derive(PartialEq)]
enum Layout {
    Rows,
    Columns,
}

/// A pointwise convolution in one of its two directions.
struct Pointwise {
    /// The sizes of the result.
    sizes: Dims,
    /// The channels of the images, over which products are summed, and those of the result.
    channels: [i64; 2],
    /// The distances in the weight between these channels.
    strides: [i64; 2],
}

impl Convolution<'_> {
    /// The convolution from images to places, if it is pointwise, and faster computed as a product.
    pub(super) fn pointwise(
        &self,
        image: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Option<Tensor>> {
        let ([channels, kernels], strides) = (self.channels, weight.strides());
        let (sizes, strides) = (self.places_sizes(), [strides[1], strides[0]]);
        self.product(image, weight, bias, Pointwise { sizes, channels: [channels, kernels], strides })
    }

    /// Likewise the transposed convolution, from places to images.
    pub(super) fn pointwise_spread(
        &self,
        places: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Option<Tensor>> {
        let ([channels, kernels], strides) = (self.channels, weight.strides());
        let (sizes, strides) = (self.image_sizes(), [strides[0], strides[1]]);
        self.product(places, weight, bias, Pointwise { sizes, channels: [kernels, channels], strides })
    }

    /// How the convolution of images to this result is computed as a product, if it is one, and faster than otherwise.
    fn layout(&self, image: &Tensor, weight: &Tensor, sizes: &[i64]) -> Result<Option<Layout>> {
        let (dtype, pixels) = (image.dtype(), saturating_numel(&self.places));
        if !(self.axes.iter().all(|axis| [axis.kernel, axis.stride, axis.padding] == [1, 1, 0])
            && self.image == self.places
            && self.groups == 1
            && matches!(dtype, DType::Float32 | DType::Float64)
            && weight.dtype() == dtype)
        {
            return Ok(None);
        }
        let strides = self.strides_like_operands(sizes, dtype)?;
        let lies = |format: MemoryFormat| -> Result<bool> {
            Ok(image.is_contiguous(format) && strides == strides_for(sizes, format)?)
        };
        let fills_vectors = (pixels + LANES - 1) / LANES * LANES * 8 <= pixels * 9;
        if (fills_vectors || pixels == 1) && lies(MemoryFormat::Contiguous)? {
            return Ok(Some(if pixels == 1 { Layout::Rows } else { Layout::Columns }));
        }
        let format = match self.lead {
            0 => MemoryFormat::ChannelsLast3d,
            1 => MemoryFormat::ChannelsLast,
            _ => return Ok(None),
        };
        let are_rows = pixels == 1 || self.batch.saturating_mul(pixels) >= FEWEST_ROWS;
        Ok((are_rows && lies(format)?).then_some(Layout::Rows))
    }

    fn product(
        &self,
        image: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        Pointwise { sizes, channels: [inner, outer], strides: [step, next] }: Pointwise,
    ) -> Result<Option<Tensor>> {
        let Some(layout) = self.layout(image, weight, &sizes)? else { return Ok(None) };
        let pixels = saturating_numel(&self.places);
        let strides = self.strides_like_operands(&sizes, image.dtype())?;
        // SAFETY: the products are written to every element; after an error the tensor is dropped.
        let out = unsafe { Tensor::uninit_strided(&sizes, &strides, image.dtype(), image.device())? };
        if let Some(bias) = bias {
            self.check_converted_bias(bias.sizes() == [outer], outer)?;
        }
        let view = |tensor: &Tensor, sizes: [i64; 3], strides: [i64; 3]| {
            tensor.strided_view(&sizes, &strides, tensor.storage_offset())
        };
        if layout == Layout::Rows {
            let count = self.batch * pixels;
            let rows = |tensor: &Tensor, channels: i64| view(tensor, [1, count, channels], [0, channels, 1]);
            let factor = view(weight, [1, inner, outer], [0, step, next])?;
            let bias =
                bias.map(|bias| view(bias, [1, count, outer], [0, 0, bias.strides()[0]])).transpose()?;
            matmul::products(&rows(&out, outer)?, &rows(image, inner)?, &factor, bias.as_ref())?;
            return Ok(Some(out));
        }
        let images = |tensor: &Tensor, channels: i64| {
            view(tensor, [self.batch, channels, pixels], [channels * pixels, pixels, 1])
        };
        let factor = view(weight, [self.batch, outer, inner], [0, next, step])?;
        let bias = bias
            .map(|bias| view(bias, [self.batch, outer, pixels], [0, bias.strides()[0], 0]))
            .transpose()?;
        matmul::products(&images(&out, outer)?, &factor, &images(image, inner)?, bias.as_ref())?;
        Ok(Some(out))
    }
}
