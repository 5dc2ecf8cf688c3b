//! Convolutions of `bfloat16` by the instructions that multiply pairs: the convolution itself, as [`Tiles`], and its
//! gradients.
//!
//! The gradient of the input is a convolution as well, if the stride is 1: of the places, with the kernel flipped and
//! the channels exchanged. That of the weight is a matrix product ([`weight`]).
#![expect(unsafe_code, reason = "takes uninitialised memory that it fills, and asks for instructions")]

use torch_library::geometry::{contiguous_strides, saturating_numel};
use torch_library::prelude::*;

use super::{Axis, Convolution};
use crate::cpu::matmul::GRAIN;
use crate::cpu::matmul::implicit_gemm::Aligned;
use crate::cpu::matmul::pairs::Unit;
use crate::inlined::zip;
use crate::loops::{self, parallel};

mod tiles;
mod weight;

use tiles::{Scratch, Tiles};

/// With fewer output channels in a group, most of a panel would be empty; with fewer steps, most of a tile.
const FEWEST: i64 = 16;

/// How many times as large as the images their padded copy may be.
const MOST_PADDED: i64 = 4;

/// A convolution from images to places, and where it finds its weight.
struct Correlation {
    batch: i64,
    groups: i64,
    /// The channels of a group that are summed over, and its output channels.
    channels: [i64; 2],
    image: [i64; 3],
    places: [i64; 3],
    axes: [Axis; 3],
    /// The first spatial dimension that exists.
    lead: usize,
    weight: Weight,
}

/// A weight as a correlation sees it.
struct Weight {
    /// The strides of groups, output channels, and channels that are summed over.
    strides: [i64; 3],
    /// The strides of taps.
    taps: [i64; 3],
    /// Whether the first tap of the correlation is the weight's last.
    is_reversed: bool,
}

impl Convolution<'_> {
    /// The convolution, from images to places, if it can be computed in tiles.
    pub(super) fn tiled(
        &self,
        image: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Option<Tensor>> {
        let correlation = self.correlation(weight);
        correlation.computed(self, [image, weight], bias, &self.places_sizes())
    }

    /// The transposed convolution, from places to images, if it can be computed in tiles.
    pub(super) fn tiled_spread(
        &self,
        places: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Option<Tensor>> {
        let forward = self.correlation(weight);
        let [channels, kernels] = forward.channels;
        let [group, kernel, channel] = forward.weight.strides;
        let axes = forward.axes.map(|axis| Axis { padding: axis.reach() - axis.padding, ..axis });
        let backward = Correlation {
            channels: [kernels, channels],
            image: self.places,
            places: self.image,
            axes,
            weight: Weight { strides: [group, channel, kernel], is_reversed: true, ..forward.weight },
            ..forward
        };
        let is_one = |axis: &Axis| axis.stride == 1 && axis.padding >= 0;
        let fits = (0..3).all(|dim| axes[dim].places(self.places[dim]) == self.image[dim]);
        if !axes.iter().all(is_one) || !fits {
            return Ok(None);
        }
        backward.computed(self, [places, weight], bias, &self.image_sizes())
    }

    fn correlation(&self, weight: &Tensor) -> Correlation {
        let [channels, kernels] = self.channels.map(|channels| channels / self.groups);
        let (kernel, channel) = (weight.strides()[0], weight.strides()[1]);
        let taps = directions(self.lead, weight);
        Correlation {
            batch: self.batch,
            groups: self.groups,
            channels: [channels, kernels],
            image: self.image,
            places: self.places,
            axes: self.axes,
            lead: self.lead,
            weight: Weight { strides: [kernels * kernel, kernel, channel], taps, is_reversed: false },
        }
    }
}

impl Correlation {
    fn computed(
        &self,
        convolution: &Convolution<'_>,
        [image, weight]: [&Tensor; 2],
        bias: Option<&Tensor>,
        sizes: &[i64],
    ) -> Result<Option<Tensor>> {
        let Some(unit) = Unit::best().filter(|_| self.suits_tiles(image, weight)) else { return Ok(None) };
        let strides = convolution.strides_like_operands(sizes, DType::BFloat16)?;
        // SAFETY: `Tiles::line` writes all channels of all places of a line, and is called for every line; after an
        // error the tensor is dropped.
        let out = unsafe { Tensor::uninit_strided(sizes, &strides, DType::BFloat16, image.device())? };
        let tiles = Tiles::new(unit, self, &self.channels_last(image)?, &out, self.bias(convolution, bias)?)?;
        Aligned::lend(|memory| {
            let panels = tiles.pack(&self.filled_up(weight, &tiles)?, memory)?;
            let grain = (GRAIN / tiles.work_of_line().max(1)).max(1);
            parallel::shares(tiles.lines(), grain, |lines| {
                let mut scratch = Scratch::new(&tiles);
                // SAFETY: `Unit::best` found the instructions; `pack` filled the panels; no two threads have the same
                // line of the result, which is leased.
                lines.for_each(|line| unsafe { tiles.line(line, panels, &mut scratch) });
            });
            Ok(Some(out))
        })
    }

    fn suits_tiles(&self, image: &Tensor, weight: &Tensor) -> bool {
        let [channels, kernels] = self.channels;
        [image, weight].iter().all(|operand| operand.dtype() == DType::BFloat16)
            && kernels >= FEWEST
            && channels.saturating_mul(self.axes[2].kernel) >= FEWEST
            && self.axes[2].dilation == 1
            && self.has_little_padding()
    }

    fn has_little_padding(&self) -> bool {
        saturating_numel(&self.padded()) / MOST_PADDED <= saturating_numel(&self.image)
    }

    /// The sizes of an image with its padding.
    fn padded(&self) -> [i64; 3] {
        [0, 1, 2].map(|dim| self.image[dim].saturating_add(self.axes[dim].padding.saturating_mul(2)))
    }

    /// The images, group by group, channels-last and with zeros around them.
    fn channels_last(&self, image: &Tensor) -> Result<Tensor> {
        let channels = self.channels[0];
        let with_channels = |[a, b, c]: [i64; 3]| [self.batch, self.groups, a, b, c, channels];
        let ([z, y, x], (of_batch, of_channel)) =
            (directions(self.lead, image), (image.strides()[0], image.strides()[1]));
        let strides = [of_batch, channels * of_channel, z, y, x, of_channel];
        let images = image.strided_view(&with_channels(self.image), &strides, image.storage_offset())?;
        if self.padded() == self.image {
            return loops::contiguous(&images);
        }
        let out = Tensor::zeros(&with_channels(self.padded()), DType::BFloat16, image.device())?;
        let first: i64 =
            zip(&out.strides()[2..], &self.axes).map(|(stride, axis)| stride * axis.padding).sum();
        loops::assign(&out.strided_view(images.sizes(), out.strides(), first)?, &images)?;
        Ok(out)
    }

    /// The weight, with zeros that fill up panels and pieces: group by group, a row of pieces for each output channel.
    fn filled_up(&self, weight: &Tensor, tiles: &Tiles) -> Result<Tensor> {
        let [channels, kernels] = self.channels;
        let [a, b, c] = self.axes.map(|axis| axis.kernel);
        let sizes = [self.groups, tiles.rows as i64, a, b, tiles.depth as i64];
        let out = Tensor::zeros(&sizes, DType::BFloat16, weight.device())?;
        let strides = contiguous_strides(&sizes);
        let ([of_group, of_kernel, of_channel], [z, y, x]) = (self.weight.strides, self.weight.taps);
        let taps = |[a, b, c]: [i64; 3]| [self.groups, kernels, a, b, c, channels];
        let to = [strides[0], strides[1], strides[2], strides[3], channels, 1];
        let from = [of_group, of_kernel, z, y, x, of_channel];
        if !self.weight.is_reversed {
            let to = out.strided_view(&taps([a, b, c]), &to, 0)?;
            let from = weight.strided_view(&taps([a, b, c]), &from, weight.storage_offset())?;
            loops::assign(&to, &from)?;
            return Ok(out);
        }
        for tap in 0..a * b * c {
            let tap = [tap / c / b, tap / c % b, tap % c];
            let first: i64 = zip(&to[2..], &tap).map(|(stride, n)| stride * n).sum();
            let last: i64 = (0..3).map(|dim| from[2 + dim] * (self.axes[dim].kernel - 1 - tap[dim])).sum();
            let to = out.strided_view(&taps([1; 3]), &to, first)?;
            let offset = weight.storage_offset() + last;
            loops::assign(&to, &weight.strided_view(&taps([1; 3]), &from, offset)?)?;
        }
        Ok(out)
    }

    /// The bias of all output channels, or zeros.
    fn bias(&self, convolution: &Convolution<'_>, bias: Option<&Tensor>) -> Result<Vec<f32>> {
        let count = self.groups * self.channels[1];
        let Some(bias) = bias else { return Ok(vec![0.0; count as usize]) };
        let bias = loops::elements::<f32>(bias)?;
        convolution.check_converted_bias(bias.len() as i64 == count, count)?;
        Ok(bias)
    }
}

impl Axis {
    /// The distance from the first tap to the last.
    fn reach(self) -> i64 {
        self.dilation.saturating_mul(self.kernel - 1)
    }
}

/// The strides of a tensor in the three spatial dimensions, of which those before `lead` do not exist.
fn directions(lead: usize, tensor: &Tensor) -> [i64; 3] {
    let mut strides = [0; 3];
    strides[lead..].copy_from_slice(&tensor.strides()[2..]);
    strides
}
