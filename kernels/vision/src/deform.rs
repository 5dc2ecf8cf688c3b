//! Deformable convolution: im2col at the sampling points that offsets move, then a matrix product.

use std::iter::zip;

use torch_library::prelude::*;
use torch_library_aten::real::{Real, elements, real, tensor};
use torch_library_kernels::aten;

use crate::bilinear::Point;
use crate::parts::{fill, is_double, size, zeros};

/// The numeric arguments of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    pub(crate) stride: [i64; 2],
    pub(crate) padding: [i64; 2],
    pub(crate) dilation: [i64; 2],
    pub(crate) groups: i64,
    pub(crate) offset_groups: i64,
    pub(crate) use_mask: bool,
}

impl Steps {
    /// # Errors
    /// Numbers that are not valid for a convolution.
    fn check(&self) -> Result<()> {
        let Steps { stride, padding, dilation, groups, offset_groups, .. } = self;
        let are_positive = stride.iter().chain(dilation).chain([groups, offset_groups]).all(|n| *n > 0);
        ensure!(
            are_positive && padding.iter().all(|n| *n >= 0),
            Argument,
            "strides, dilations and groups must be positive, paddings not negative: {self:?}"
        );
        Ok(())
    }

    /// The output size on an axis, if there is one.
    fn out(&self, axis: usize, len: i64, kernel: i64) -> Option<i64> {
        let window = self.dilation[axis].checked_mul(kernel - 1)?.checked_add(1)?;
        let padded = len.checked_add(self.padding[axis].checked_mul(2)?)?;
        Some(padded.checked_sub(window)?.div_euclid(self.stride[axis]) + 1)
    }
}

/// The tensor arguments of a call.
#[derive(Clone, Copy)]
pub(crate) struct Tensors<'t> {
    pub(crate) input: &'t Tensor,
    pub(crate) weight: &'t Tensor,
    pub(crate) offset: &'t Tensor,
    pub(crate) mask: &'t Tensor,
    pub(crate) bias: &'t Tensor,
}

/// The geometry of a call, whose sizes were checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    steps: Steps,
    images: usize,
    channels: usize,
    height: usize,
    width: usize,
    filters: usize,
    kernel: [usize; 2],
    out: [usize; 2],
    offset_groups: usize,
    groups: usize,
}

impl Geometry {
    /// # Errors
    /// Sizes that do not fit together, numbers that are not valid for a convolution.
    pub(crate) fn new(tensors: Tensors<'_>, steps: Steps) -> Result<Geometry> {
        let Tensors { input, weight, offset, mask, bias } = tensors;
        let ([images, channels, height, width], [filters, _, kernel_h, kernel_w]) =
            (four("input", input)?, four("weight", weight)?);
        steps.check()?;
        ensure!(
            kernel_h > 0 && kernel_w > 0,
            Shape,
            "`weight` has sizes {:?}, expected a kernel with elements",
            weight.sizes()
        );
        let out = [steps.out(0, height, kernel_h), steps.out(1, width, kernel_w)];
        let [Some(out_h), Some(out_w)] = out else { bail!(Argument, "numbers of {steps:?} are too large") };
        ensure!(out_h > 0 && out_w > 0, Shape, "the result would have {out_h} × {out_w} elements");
        let wanted = |name: &str, tensor: &Tensor, sizes: &[i64]| {
            ensure!(
                tensor.sizes() == sizes,
                Shape,
                "`{name}` has sizes {:?}, expected {sizes:?}",
                tensor.sizes()
            );
            Ok(())
        };
        let (groups, offset_groups) = (steps.groups, steps.offset_groups);
        ensure!(
            channels > 0 && channels % groups == 0 && filters % groups == 0 && channels % offset_groups == 0,
            Shape,
            "{channels} channels and {filters} filters cannot be divided into {groups} groups and {offset_groups} \
             groups of offsets"
        );
        wanted("weight", weight, &[filters, channels / groups, kernel_h, kernel_w])?;
        let taps = offset_groups * kernel_h * kernel_w;
        wanted("offset", offset, &[images, 2 * taps, out_h, out_w])?;
        if steps.use_mask {
            wanted("mask", mask, &[images, taps, out_h, out_w])?;
        }
        wanted("bias", bias, &[filters])?;
        let size = |number| size("a size", number);
        Ok(Geometry {
            steps,
            images: size(images)?,
            channels: size(channels)?,
            height: size(height)?,
            width: size(width)?,
            filters: size(filters)?,
            kernel: [size(kernel_h)?, size(kernel_w)?],
            out: [size(out_h)?, size(out_w)?],
            offset_groups: size(offset_groups)?,
            groups: size(groups)?,
        })
    }

    pub(crate) fn output_sizes(&self) -> [i64; 4] {
        [self.images, self.filters, self.out[0], self.out[1]].map(|size| size as i64)
    }

    fn taps(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    fn places(&self) -> usize {
        self.out[0] * self.out[1]
    }

    fn plane(&self) -> usize {
        self.height * self.width
    }

    /// The offset group of a channel.
    fn offset_group(&self, channel: usize) -> usize {
        channel / (self.channels / self.offset_groups)
    }

    /// The sampling point of a tap of the kernel, for a place of the result.
    fn point<T: Real>(&self, offsets: &[T], group: usize, tap: usize, place: usize) -> Point<T> {
        let (down, right) = (tap / self.kernel[1], tap % self.kernel[1]);
        let at = |axis: usize, step: usize, kernel: usize| {
            let start = step as i64 * self.steps.stride[axis] - self.steps.padding[axis];
            real::<T>((start + kernel as i64 * self.steps.dilation[axis]) as f64)
        };
        let (row, column) = (place / self.out[1], place % self.out[1]);
        let moved = |axis: usize| offsets[(2 * (group * self.taps() + tap) + axis) * self.places() + place];
        Point::new(at(0, row, down) + moved(0), at(1, column, right) + moved(1), self.height, self.width)
    }

    /// The mask's factor for a tap.
    fn factor<T: Real>(&self, mask: &[T], group: usize, tap: usize, place: usize) -> T {
        if self.steps.use_mask { mask[(group * self.taps() + tap) * self.places() + place] } else { T::one() }
    }

    /// The columns of an image: a row for each channel and tap, a column for each place of the result.
    fn columns<T: Real>(&self, input: &[T], offsets: &[T], mask: &[T]) -> Result<Vec<T>> {
        let (taps, places) = (self.taps(), self.places());
        let mut columns = zeros(T::zero(), &[self.channels, taps, places])?;
        fill(&mut columns, taps * places, |channel, rows| {
            let (plane, group) =
                (&input[channel * self.plane()..][..self.plane()], self.offset_group(channel));
            for (tap, row) in rows.chunks_exact_mut(places).enumerate() {
                for (place, found) in row.iter_mut().enumerate() {
                    let value = self.point(offsets, group, tap, place).value(plane);
                    *found = self.factor(mask, group, tap, place) * value;
                }
            }
            Ok(())
        })?;
        Ok(columns)
    }

    /// The columns as a tensor with the rows of each group.
    fn grouped<T: Real>(&self, columns: Vec<T>) -> Result<Tensor> {
        let rows = self.channels / self.groups * self.taps();
        Tensor::from_vec(columns, &[self.groups as i64, rows as i64, self.places() as i64])
    }

    /// The weight as a matrix for each group.
    fn matrices<T: Real>(&self, weight: &Tensor) -> Result<Tensor> {
        let rows = self.channels / self.groups * self.taps();
        let filters = self.filters / self.groups;
        Tensor::from_vec(elements::<T>(weight)?, &[self.groups as i64, filters as i64, rows as i64])
    }
}

fn four(name: &str, tensor: &Tensor) -> Result<[i64; 4]> {
    match *tensor.sizes() {
        [a, b, c, d] => Ok([a, b, c, d]),
        ref sizes => bail!(Shape, "`{name}` has sizes {sizes:?}, expected four"),
    }
}

/// The elements of all tensors, and access to the parts of each image.
struct Elements<T> {
    input: Vec<T>,
    offset: Vec<T>,
    mask: Vec<T>,
}

impl<T: Real> Elements<T> {
    fn new(tensors: Tensors<'_>) -> Result<Self> {
        Ok(Elements {
            input: elements(tensors.input)?,
            offset: elements(tensors.offset)?,
            mask: elements(tensors.mask)?,
        })
    }

    /// An image's elements, offsets and mask.
    fn of(&self, image: usize, images: usize) -> (&[T], &[T], &[T]) {
        fn part<T>(all: &[T], image: usize, images: usize) -> &[T] {
            let len = all.len() / images;
            &all[image * len..(image + 1) * len]
        }
        (part(&self.input, image, images), part(&self.offset, image, images), part(&self.mask, image, images))
    }
}

pub(crate) fn forward(tensors: Tensors<'_>, steps: Steps) -> Result<Tensor> {
    let geometry = Geometry::new(tensors, steps)?;
    match precision(tensors)? {
        true => forward_in::<f64>(tensors, &geometry),
        false => forward_in::<f32>(tensors, &geometry),
    }
}

fn precision(tensors: Tensors<'_>) -> Result<bool> {
    let Tensors { input, weight, offset, mask, bias } = tensors;
    is_double(&[("input", input), ("weight", weight), ("offset", offset), ("mask", mask), ("bias", bias)])
}

fn forward_in<T: Real>(tensors: Tensors<'_>, geometry: &Geometry) -> Result<Tensor> {
    let (all, weight) = (Elements::<T>::new(tensors)?, geometry.matrices::<T>(tensors.weight)?);
    let (bias, places) = (elements::<T>(tensors.bias)?, geometry.places());
    let mut output = Vec::new();
    for image in 0..geometry.images {
        let (input, offset, mask) = all.of(image, geometry.images);
        let columns = geometry.grouped(geometry.columns(input, offset, mask)?)?;
        let products = aten::bmm(&weight, &columns)?.to_vec::<T>()?;
        let biases = bias.iter().flat_map(|bias| std::iter::repeat_n(*bias, places));
        output.extend(zip(products, biases).map(|(product, bias)| product + bias));
    }
    tensor(output, &geometry.output_sizes(), tensors.input.dtype())
}

/// The gradients of the five tensors.
pub(crate) type Gradients = (Tensor, Tensor, Tensor, Tensor, Tensor);

pub(crate) fn backward(grad: &Tensor, tensors: Tensors<'_>, steps: Steps) -> Result<Gradients> {
    let geometry = Geometry::new(tensors, steps)?;
    let sizes = geometry.output_sizes();
    ensure!(grad.sizes() == sizes, Shape, "`grad` has sizes {:?}, expected {sizes:?}", grad.sizes());
    match precision(tensors)? {
        true => backward_in::<f64>(grad, tensors, &geometry),
        false => backward_in::<f32>(grad, tensors, &geometry),
    }
}

fn backward_in<T: Real>(grad: &Tensor, tensors: Tensors<'_>, geometry: &Geometry) -> Result<Gradients> {
    let (all, weight) = (Elements::<T>::new(tensors)?, geometry.matrices::<T>(tensors.weight)?);
    let weight = aten::transpose_int(&weight, 1, 2)?;
    let (gradients, places) = (elements::<T>(grad)?, geometry.places());
    let groups = [geometry.groups as i64, (geometry.filters / geometry.groups) as i64, places as i64];
    let mut to = Elements { input: Vec::new(), offset: Vec::new(), mask: Vec::new() };
    let mut to_weight = vec![T::zero(); usize::try_from(tensors.weight.numel())?];
    let mut to_bias = vec![0f64; geometry.filters]; // sums of all places of all images
    for (image, gradient) in gradients.chunks_exact((geometry.filters * places).max(1)).enumerate() {
        for (sum, gradient) in zip(&mut to_bias, gradient.chunks_exact(places)) {
            *sum += gradient.iter().map(|gradient| gradient.cast::<f64>()).sum::<f64>();
        }
        let (input, offset, mask) = all.of(image, geometry.images);
        let gradient = Tensor::from_vec(gradient.to_vec(), &groups)?;
        let columns = geometry.grouped(geometry.columns(input, offset, mask)?)?;
        let product = aten::bmm(&gradient, &aten::transpose_int(&columns, 1, 2)?)?.to_vec::<T>()?;
        zip(&mut to_weight, product).for_each(|(sum, gradient)| *sum = *sum + gradient);
        let columns = aten::bmm(&weight, &gradient)?.to_vec::<T>()?;
        to.input.extend(geometry.input_gradient(&columns, offset, mask)?);
        let (to_offset, to_mask) = geometry.place_gradients(&columns, input, offset, mask)?;
        to.offset.extend(to_offset);
        to.mask.extend(to_mask);
    }
    let as_given = |gradient, of: &Tensor| tensor(gradient, of.sizes(), of.dtype());
    let mask = match geometry.steps.use_mask {
        true => as_given(to.mask, tensors.mask)?,
        false => aten::zeros_like(tensors.mask)?,
    };
    Ok((
        as_given(to.input, tensors.input)?,
        as_given(to_weight, tensors.weight)?,
        as_given(to.offset, tensors.offset)?,
        mask,
        tensor(to_bias, tensors.bias.sizes(), tensors.bias.dtype())?,
    ))
}

impl Geometry {
    /// The gradient of the image, from the gradient of its columns.
    fn input_gradient<T: Real>(&self, columns: &[T], offsets: &[T], mask: &[T]) -> Result<Vec<T>> {
        let (taps, places) = (self.taps(), self.places());
        let mut input = zeros(T::zero(), &[self.channels, self.plane()])?;
        fill(&mut input, self.plane(), |channel, plane| {
            let (rows, group) =
                (&columns[channel * taps * places..][..taps * places], self.offset_group(channel));
            for (at, gradient) in rows.iter().enumerate() {
                let (tap, place) = (at / places, at % places);
                let gradient = *gradient * self.factor(mask, group, tap, place);
                self.point(offsets, group, tap, place).scatter(plane, gradient);
            }
            Ok(())
        })?;
        Ok(input)
    }

    /// The gradients of offsets and mask: sums over the channels that share them.
    fn place_gradients<T: Real>(
        &self,
        columns: &[T],
        input: &[T],
        offsets: &[T],
        mask: &[T],
    ) -> Result<(Vec<T>, Vec<T>)> {
        let (taps, places) = (self.taps(), self.places());
        let shared = self.channels / self.offset_groups;
        // For each place of a tap, the derivatives downwards and to the right, and the value.
        let mut sums = zeros([T::zero(); 3], &[self.offset_groups, taps, places])?;
        fill(&mut sums, places, |row, sums| {
            let (group, tap) = (row / taps, row % taps);
            for (place, sum) in sums.iter_mut().enumerate() {
                let point = self.point(offsets, group, tap, place);
                for channel in group * shared..(group + 1) * shared {
                    let plane = &input[channel * self.plane()..][..self.plane()];
                    let gradient = columns[(channel * taps + tap) * places + place];
                    let (down, right) = point.slopes(plane);
                    let found = [down, right, point.value(plane)];
                    zip(&mut *sum, found).for_each(|(sum, found)| *sum = *sum + gradient * found);
                }
                let factor = self.factor(mask, group, tap, place);
                sum[..2].iter_mut().for_each(|slope| *slope = *slope * factor);
            }
            Ok(())
        })?;
        let row = |row: &[[T; 3]], which: usize| row.iter().map(|sum| sum[which]).collect::<Vec<_>>();
        let to_offset = sums.chunks_exact(places.max(1)).flat_map(|sums| [row(sums, 0), row(sums, 1)]);
        Ok((to_offset.flatten().collect(), row(&sums, 2)))
    }
}

#[torch_impl(crate::ops::torchvision, CPU)]
mod cpu {
    use super::*;

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
        forward(Tensors { input, weight, offset, mask, bias }, steps)
    }

    fn _deform_conv2d_backward(
        grad: &Tensor,
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
    ) -> Result<(Tensor, Tensor, Tensor, Tensor, Tensor)> {
        let (stride, padding, dilation) = ([stride_h, stride_w], [pad_h, pad_w], [dilation_h, dilation_w]);
        let steps = Steps { stride, padding, dilation, groups, offset_groups, use_mask };
        backward(grad, Tensors { input, weight, offset, mask, bias }, steps)
    }
}
