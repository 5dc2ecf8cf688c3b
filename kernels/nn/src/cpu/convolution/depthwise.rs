//! Depthwise convolutions: each channel has a window of its own. Vectors run along what lies side by side, so nothing
//! is interleaved first: the channels of a pixel in channels-last images, the pixels of a row in row-major ones
//! ([`planes`]).
#![expect(unsafe_code, reason = "takes memory that it fills, and shares lines of it among threads")]

use smallvec::SmallVec;
use torch_library::geometry::{contiguous_strides, strides_for};
use torch_library::prelude::*;

use super::Convolution;
use crate::cpu::matmul::GRAIN;
use crate::cpu::matmul::implicit_gemm::Aligned;
use crate::loops::parts::Parts;
use crate::loops::{self, Held, parallel, work};
use crate::number::Number;

mod converted;
mod lines;
mod passes;
mod planes;

use converted::{Kept, Lines, LinesMut};
use lines::{Gradient, Line};
use passes::Pass;
use planes::{Bands, Plane};

/// With fewer channels, most of a register would be empty, or vectors run along rows of pixels without a copy.
const FEWEST: i64 = 8;

/// The most parts of the lines that have sums of their own for the gradient of the weight.
const MOST_PARTS: usize = 64;

impl Convolution<'_> {
    /// The convolution, from images to places, if it is depthwise and faster computed here.
    pub(super) fn depthwise(
        &self,
        image: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Option<Tensor>> {
        let sizes = self.places_sizes();
        if let Some(bands) = self.bands(image, weight, &sizes)? {
            return match image.dtype() {
                DType::Float64 => self.summed_by_planes::<f64>([image, weight], bias, &sizes, &bands),
                _ => self.summed_by_planes::<f32>([image, weight], bias, &sizes, &bands),
            }
            .map(Some);
        }
        if !self.is_depthwise(image, &sizes)? {
            return Ok(None);
        }
        self.summed_passes([image, weight], bias, &sizes, &[self.forward()]).map(Some)
    }

    /// Likewise the transposed convolution, from places to images.
    pub(super) fn depthwise_spread(
        &self,
        places: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Option<Tensor>> {
        let sizes = self.image_sizes();
        if !self.is_depthwise(places, &sizes)? {
            return Ok(None);
        }
        let each = |dim: usize| -> Vec<Pass> {
            Pass::of_pixels(self.axes[dim], self.image[dim] as usize, self.places[dim] as usize)
        };
        let (outer, rows, columns) = (each(0), each(1), each(2));
        let pairs = outer.iter().flat_map(|z| rows.iter().map(move |y| [z, y]));
        let all = pairs.flat_map(|[z, y]| columns.iter().map(move |x| [z, y, x].map(Pass::clone)));
        let passes: Vec<[Pass; 3]> = all.collect();
        self.summed_passes([places, weight], bias, &sizes, &passes).map(Some)
    }

    /// The gradient of the weight, in the opmath type, if the convolution is depthwise and its operands channels-last.
    pub(super) fn depthwise_weight_gradient(
        &self,
        image: &Tensor,
        places: &Tensor,
    ) -> Result<Option<Tensor>> {
        if !self.is_depthwise(image, &self.places_sizes())? {
            return Ok(None);
        }
        match image.dtype() {
            DType::Float64 => self.gradient_by_lines::<f64>(image, places),
            _ => self.gradient_by_lines::<f32>(image, places),
        }
        .map(Some)
    }

    /// Whether each group has one channel on either side, and the result of these sizes is channels-last, as the source
    /// is.
    fn is_depthwise(&self, source: &Tensor, sizes: &[i64]) -> Result<bool> {
        let [channels, kernels] = self.channels;
        let format = self.format();
        Ok(self.lead < 2
            && self.groups >= FEWEST
            && [channels, kernels] == [self.groups; 2]
            && source.dtype().is_floating_point()
            && source.is_contiguous(format)
            && self.strides_like_operands(sizes, source.dtype())? == strides_for(sizes, format)?)
    }

    /// The places, each of which sums the pixels under its window.
    fn forward(&self) -> [Pass; 3] {
        [0, 1, 2]
            .map(|dim| Pass::of_places(self.axes[dim], self.image[dim] as usize, self.places[dim] as usize))
    }

    /// The sums of some passes, in the type of the source.
    fn summed_passes(
        &self,
        operands: [&Tensor; 2],
        bias: Option<&Tensor>,
        sizes: &[i64],
        passes: &[[Pass; 3]],
    ) -> Result<Tensor> {
        match operands[0].dtype() {
            DType::Float64 => self.summed_by_lines::<f64>(operands, bias, sizes, passes),
            _ => self.summed_by_lines::<f32>(operands, bias, sizes, passes),
        }
    }

    /// Computes lines of pixels, each of which is a sum of pixels of the source times weights.
    fn summed_by_lines<T: Held>(
        &self,
        [source, weight]: [&Tensor; 2],
        bias: Option<&Tensor>,
        sizes: &[i64],
        passes: &[[Pass; 3]],
    ) -> Result<Tensor> {
        let channels = self.groups as usize;
        let dtype = source.dtype();
        // SAFETY: each pixel belongs to one of the passes, which write all channels of their pixels. After an error the
        // tensor is dropped.
        let out = unsafe {
            Tensor::uninit_strided(sizes, &strides_for(sizes, self.format())?, dtype, self.input.device())?
        };
        let (source, pixels) = (self.pixels_last(source)?, self.pixels_last(&out)?);
        let [from_width, to_width] = [&source, &pixels].map(|pixels| pixels.sizes()[3] as usize * channels);
        let from = Lines::<T>::of(&source, from_width)?;
        let to = LinesMut::<T>::of(&pixels, to_width)?;
        let weights = self.weights::<T>(weight)?;
        let bias = bias.map_or_else(|| Ok(vec![T::ZERO; channels]), loops::elements::<T>)?;
        self.check_converted_bias(bias.len() == channels, self.groups)?;
        let [depth, height] = [1, 2].map(|dim| pixels.sizes()[dim] as usize);
        for [z, y, x] in passes {
            let taps = z.taps().len() * y.taps().len() * x.taps().len();
            let grain = GRAIN / (x.count() * channels * (taps + 1)).max(1);
            parallel::shares(self.batch as usize * z.count() * y.count(), grain.max(1), |lines| {
                let (mut kept, mut written) = (Kept::default(), Aligned::default());
                for line in lines {
                    let (item, j, i) =
                        (line / y.count() / z.count(), line / y.count() % z.count(), line % y.count());
                    let (taps, numbers) = self.sources(item, [(z, j), (y, i)]);
                    let (taps, sources) = (&taps[..], &from.get(&numbers, &mut kept)[..]);
                    let number = (item * depth + z.pixel(j)) * height + y.pixel(i);
                    let (weights, bias) = (weights.get(0), &bias[..]);
                    let write = |to: &mut [_]| work(Line { taps, sources, x, channels, weights, bias, to });
                    let all = (0..x.count()).map(|n| x.pixel(n));
                    // SAFETY: only this thread has this line, since the lines of a pass are different ones, and passes
                    // follow each other; `Line` writes all channels of the pixels of a pass, and no others.
                    unsafe { to.write(number, all, channels, &mut written, write) };
                }
            });
        }
        drop(to); // ends its lease
        Ok(out)
    }

    /// How planes of images are copied, if the convolution is depthwise, images and result are row-major, of numbers
    /// that are not converted, and it is faster computed plane by plane.
    fn bands(&self, image: &Tensor, weight: &Tensor, sizes: &[i64]) -> Result<Option<Bands>> {
        let dtype = image.dtype();
        if !(self.lead == 1
            && self.groups >= FEWEST
            && self.channels == [self.groups; 2]
            && matches!(dtype, DType::Float32 | DType::Float64)
            && weight.dtype() == dtype
            && image.is_contiguous(MemoryFormat::Contiguous)
            && self.strides_like_operands(sizes, dtype)? == contiguous_strides(sizes))
        {
            return Ok(None);
        }
        let ([_, axes @ ..], [_, source @ ..], [_, result @ ..]) = (self.axes, self.image, self.places);
        Ok(Bands::new(axes, source, result, dtype.size()))
    }

    /// Computes planes of pixels, each of which is a channel of an image.
    fn summed_by_planes<T: Held>(
        &self,
        [source, weight]: [&Tensor; 2],
        bias: Option<&Tensor>,
        sizes: &[i64],
        bands: &Bands,
    ) -> Result<Tensor> {
        let channels = self.groups as usize;
        // SAFETY: `Plane` writes all pixels of each plane. After an error the tensor is dropped.
        let out = unsafe { Tensor::uninit(sizes, source.dtype(), self.input.device())? };
        let [pixels, places] = [self.image, self.places].map(|sizes| sizes[1] as usize * sizes[2] as usize);
        let (from, to) = (Lines::<T>::of(source, pixels)?, LinesMut::<T>::of(&out, places)?);
        let weights = Parts::<T>::row_major(weight, self.taps())?;
        let bias = bias.map_or_else(|| Ok(vec![T::ZERO; channels]), loops::elements::<T>)?;
        self.check_converted_bias(bias.len() == channels, self.groups)?;
        let grain = (GRAIN / (places * (self.taps() + 1)).max(1)).max(1);
        parallel::shares(self.batch as usize * channels, grain, |planes| {
            Aligned::lend(|copy| {
                let copy = copy.numbers::<T>(bands.size());
                copy.fill(T::ZERO);
                let (mut kept, mut written) = (Kept::default(), Aligned::default());
                for n in planes {
                    let (source, weights) = (from.get(&[n], &mut kept)[0], weights.get(n % channels));
                    let (bias, copy) = (bias[n % channels], &mut *copy);
                    let write = |to: &mut [_]| work(Plane { bands, source, weights, bias, copy, to });
                    // SAFETY: only this thread has this plane; `Plane` writes all of its pixels.
                    unsafe { to.write(n, 0..1, places, &mut written, write) };
                }
            });
        });
        drop(to); // ends its lease
        Ok(out)
    }

    /// The gradient of the weight: for each tap the sum, over all places, of the pixel under it times the place's
    /// gradient.
    fn gradient_by_lines<T: Held>(&self, image: &Tensor, places: &Tensor) -> Result<Tensor> {
        let (channels, [z, y, x]) = (self.groups as usize, self.forward());
        let images = Lines::<T>::of(&self.pixels_last(image)?, x.source() * channels)?;
        let gradients = Lines::<T>::of(&self.pixels_last(places)?, x.count() * channels)?;
        let (size, lines) = (self.taps() * channels, self.batch as usize * z.count() * y.count());
        // The number of parts does not depend on the number of threads, so neither does the result.
        let parts = (lines * x.count() * size / GRAIN).min(lines).clamp(1, MOST_PARTS);
        let mut sums = vec![T::ZERO; parts * size];
        let parted = (&mut sums[..], &mut [0; 0][..], &mut [0; 0][..]);
        parallel::batch::<T, u8, u8>(parts, 1, parted, |range, (sums, _, _)| {
            let (mut kept, mut kept_gradient) = (Kept::default(), Kept::default());
            for (part, sums) in range.zip(sums.chunks_exact_mut(size)) {
                for line in part * lines / parts..(part + 1) * lines / parts {
                    let (item, j, i) =
                        (line / y.count() / z.count(), line / y.count() % z.count(), line % y.count());
                    let (taps, numbers) = self.sources(item, [(&z, j), (&y, i)]);
                    let (taps, sources) = (&taps[..], &images.get(&numbers, &mut kept)[..]);
                    let gradients = gradients.get(&[line], &mut kept_gradient)[0];
                    work(Gradient { taps, sources, x: &x, channels, gradients, sums });
                }
            }
        });
        let (first, rest) = sums.split_at_mut(size);
        for part in rest.chunks_exact(size) {
            first.iter_mut().zip(part).for_each(|(sum, x)| *sum = sum.plus(*x));
        }
        let taps = self.taps() as i64;
        let by_taps = Tensor::from_slice(first, &[taps, self.groups])?;
        let by_channels = by_taps.strided_view(&[self.groups, taps], &[1, self.groups], 0)?;
        let kernel = self.axes.map(|axis| axis.kernel);
        let sizes = [&[self.groups, 1], &kernel[self.lead..]].concat();
        loops::contiguous(&by_channels)?.strided_view(&sizes, &contiguous_strides(&sizes), 0)
    }

    fn format(&self) -> MemoryFormat {
        if self.lead == 0 { MemoryFormat::ChannelsLast3d } else { MemoryFormat::ChannelsLast }
    }

    /// A view of images or places as `[batch, depth, height, width, channels]`.
    fn pixels_last(&self, tensor: &Tensor) -> Result<Tensor> {
        let (mut sizes, mut strides) = ([1; 5], [0; 5]);
        for (to, from) in [(&mut sizes, tensor.sizes()), (&mut strides, tensor.strides())] {
            (to[0], to[4]) = (from[0], from[1]);
            to[1 + self.lead..4].copy_from_slice(&from[2..]);
        }
        tensor.strided_view(&sizes, &strides, tensor.storage_offset())
    }

    /// The weights of all channels for one tap after the other.
    fn weights<T: Number>(&self, weight: &Tensor) -> Result<Parts<T>> {
        let (mut sizes, mut strides) = ([1, 1, 1, self.groups], [0, 0, 0, weight.strides()[0]]);
        sizes[self.lead..3].copy_from_slice(&weight.sizes()[2..]);
        strides[self.lead..3].copy_from_slice(&weight.strides()[2..]);
        let taps = weight.strided_view(&sizes, &strides, weight.storage_offset())?;
        Parts::row_major(&taps, self.taps() * self.groups as usize)
    }

    /// The numbers of the lines that the pixels of a line sum, and for each the number of its first tap.
    fn sources(&self, item: usize, [(z, j), (y, i)]: [(&Pass, usize); 2]) -> (Numbers, Numbers) {
        let [_, height, width] = self.axes.map(|axis| axis.kernel as usize);
        let planes =
            z.sources(j).map(|(tap, plane)| (tap * height, (item * z.source() + plane) * y.source()));
        let all = planes.flat_map(|(tap, plane)| {
            y.sources(i).map(move |(row, line)| ((tap + row) * width, plane + line))
        });
        all.unzip()
    }
}

/// As many numbers as windows usually have lines.
type Numbers = SmallVec<[usize; 8]>;
