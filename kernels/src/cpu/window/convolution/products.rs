//! The matrix products that convolutions are made of.
//!
//! Threads share them without the dispatch state of this one: they call no operators.
#![expect(unsafe_code, reason = "hands parts of tensors to the matrix product, and to threads")]

use torch_library::geometry::contiguous_strides;
use torch_library::prelude::*;

use super::Convolution;
use crate::cpu::loops::parts::Parts;
use crate::cpu::loops::{self, parallel};
use crate::cpu::matmul::{GRAIN, Matrices, multiply_one};
use crate::cpu::number::Number;

/// How many elements of columns there are at a time: as many as the second-level cache has room for.
const COLUMNS: usize = 1 << 17;

/// For how many places there are columns at least, however long they are: the weight is read anew for those of each step.
const PLACES: usize = 64;

impl Convolution<'_> {
    /// From images to places, row-major, in the computing type.
    pub(super) fn convolve<T: Number>(&self, image: &Tensor, weight: &Tensor) -> Result<Tensor> {
        let (shape, strides) = (self.shape(), contiguous_strides(&self.places_sizes()));
        let out = match shape.is_depthwise() {
            true => Tensor::empty(&self.places_sizes(), T::DTYPE, image.device())?,
            // SAFETY: the products below write all places.
            false => unsafe {
                Tensor::uninit_strided(&self.places_sizes(), &strides, T::DTYPE, image.device())?
            },
        };
        let image = Parts::<T>::row_major(image, shape.channels * self.columns.plane())?;
        let weight = Parts::<T>::row_major(weight, shape.kernels * shape.length)?;
        let places = Parts::<T>::of(&out, shape.kernels * shape.places())?;
        let steps = shape.steps();
        let grain = (GRAIN / shape.step_work()).max(1);
        parallel::shares(shape.items * steps, grain, |range| {
            let (is_alone, mut room) = (shape.items * steps == 1, Vec::new());
            for n in range {
                let (item, step) = (n / steps, n % steps);
                // SAFETY: nobody writes to images and weights; the places of this step are this thread's alone.
                unsafe {
                    let pixels = image.get(item);
                    if shape.is_depthwise() {
                        let weights = weight.get(item % shape.groups);
                        self.columns.slide(pixels, weights, places.get_mut(item));
                        continue;
                    }
                    let columns = self.unfolded(&shape, pixels, step, &mut room);
                    let weight = Matrices::one(
                        weight.at(item % shape.groups),
                        [shape.kernels, shape.length],
                        [shape.length, 1],
                    );
                    multiply_one(shape.part(places.at(item), step), weight, columns, false, is_alone);
                }
            }
        });
        Ok(out)
    }

    /// From places to images, row-major, in the computing type.
    pub(super) fn spread<T: Number>(&self, places: &Tensor, weight: &Tensor) -> Result<Tensor> {
        let (out, shape) = (Tensor::empty(&self.image_sizes(), T::DTYPE, places.device())?, self.shape());
        let image = Parts::<T>::of(&out, shape.channels * self.columns.plane())?;
        let weight = Parts::<T>::row_major(weight, shape.kernels * shape.length)?;
        let places = Parts::<T>::row_major(places, shape.kernels * shape.places())?;
        let grain = (GRAIN / (shape.steps() * shape.step_work())).max(1);
        parallel::shares(shape.items, grain, |range| {
            let (is_alone, mut room) = (shape.items == 1, Vec::new());
            for (item, step) in range.flat_map(|item| (0..shape.steps()).map(move |step| (item, step))) {
                let weight = Matrices::one(
                    weight.at(item % shape.groups),
                    [shape.length, shape.kernels],
                    [1, shape.length],
                );
                let columns = match self.columns.is_plain() {
                    true => {
                        Matrices::one(image.at(item), [shape.length, shape.places()], [shape.places(), 1])
                    }
                    false => shape.columns(step, &mut room),
                };
                // SAFETY: nobody writes to places and weights; the image is this thread's alone.
                unsafe {
                    multiply_one(columns, weight, shape.part(places.at(item), step), false, is_alone);
                    if !self.columns.is_plain() {
                        self.columns.fold(
                            &mut room,
                            shape.channels,
                            shape.lines_of(step),
                            image.get_mut(item),
                        );
                    }
                }
            }
        });
        Ok(out)
    }

    /// The gradient of the weight, row-major, in the computing type.
    pub(super) fn weight_gradient<T: Number>(&self, image: &Tensor, places: &Tensor) -> Result<Tensor> {
        let (shape, batch) = (self.shape(), self.batch as usize);
        // A sum for each share of the batch; which image is in which does not depend on who is faster.
        let work = shape.items * shape.steps() * shape.step_work();
        let count = rayon::current_num_threads().min(batch).min(work / GRAIN).max(1);
        let sizes = [&[count as i64], self.weight.sizes()].concat();
        let sums = Tensor::empty(&sizes, T::DTYPE, image.device())?;
        let image = Parts::<T>::row_major(image, shape.channels * self.columns.plane())?;
        let places = Parts::<T>::row_major(places, shape.kernels * shape.places())?;
        let sum = Parts::<T>::of(&sums, shape.kernels * shape.length)?;
        parallel::shares(count, 1, |range| {
            let mut room = Vec::new();
            for n in range {
                for item in n * batch / count * shape.groups..(n + 1) * batch / count * shape.groups {
                    let sum = Matrices::one(
                        sum.at(n * shape.groups + item % shape.groups),
                        [shape.kernels, shape.length],
                        [shape.length, 1],
                    );
                    for step in 0..shape.steps() {
                        // SAFETY: nobody writes to images and places; the sum is this thread's alone.
                        unsafe {
                            let columns =
                                self.unfolded(&shape, image.get(item), step, &mut room).transposed();
                            multiply_one(sum, shape.part(places.at(item), step), columns, true, count == 1);
                        }
                    }
                }
            }
        });
        let share = |n| sums.strided_view(self.weight.sizes(), &sums.strides()[1..], n * self.weight.numel());
        let out = share(0)?;
        for n in 1..count as i64 {
            loops::map(&out, [&out, &share(n)?], |[a, b]: [T; 2]| a.plus(b))?;
        }
        Ok(if count == 1 { out } else { loops::copy(&out, T::DTYPE)? })
    }

    /// The columns of a step, in `room` unless they are the image itself.
    ///
    /// # Safety
    /// As long as the matrix is used, nobody writes to the pixels or touches the room.
    unsafe fn unfolded<T: Number>(
        &self,
        shape: &Shape,
        pixels: &[T],
        step: usize,
        room: &mut Vec<T>,
    ) -> Matrices<T> {
        if self.columns.is_plain() {
            let all = Matrices::one(
                pixels.as_ptr().cast_mut(),
                [shape.length, shape.places()],
                [shape.places(), 1],
            );
            return all;
        }
        let columns = shape.columns(step, room);
        self.columns.unfold(pixels, shape.channels, shape.lines_of(step), room);
        columns
    }

    fn shape(&self) -> Shape {
        let groups = self.groups as usize;
        let [channels, kernels] = self.channels.map(|channels| channels as usize / groups);
        let (length, lines, width) =
            (channels * self.columns.taps(), self.columns.lines(), self.columns.width());
        let step = match self.columns.is_plain() || (channels == 1 && kernels == 1) {
            true => lines,
            false => (COLUMNS / (length * width)).max(PLACES.div_ceil(width)).clamp(1, lines),
        };
        Shape { items: self.batch as usize * groups, groups, channels, kernels, length, lines, width, step }
    }
}

/// What is multiplied: for each item, a group of channels of one image, some lines of places at a time.
struct Shape {
    items: usize,
    groups: usize,
    /// Of the image, and of the places, in a group.
    channels: usize,
    kernels: usize,
    /// How long a column is.
    length: usize,
    lines: usize,
    width: usize,
    /// How many lines are taken at a time.
    step: usize,
}

impl Shape {
    /// Whether every channel has one window of its own.
    fn is_depthwise(&self) -> bool {
        self.channels == 1 && self.kernels == 1
    }

    fn places(&self) -> usize {
        self.lines * self.width
    }

    fn steps(&self) -> usize {
        self.lines.div_ceil(self.step)
    }

    fn step_work(&self) -> usize {
        self.kernels * self.length * self.step * self.width
    }

    fn lines_of(&self, step: usize) -> std::ops::Range<usize> {
        step * self.step..((step + 1) * self.step).min(self.lines)
    }

    /// Room for the columns of a step.
    fn columns<T: Number>(&self, step: usize, room: &mut Vec<T>) -> Matrices<T> {
        let count = self.lines_of(step).len() * self.width;
        room.resize(self.length * count, T::ZERO);
        Matrices::one(room.as_mut_ptr(), [self.length, count], [count, 1])
    }

    /// The places of a step.
    fn part<T: Number>(&self, places: *mut T, step: usize) -> Matrices<T> {
        let lines = self.lines_of(step);
        let data = places.wrapping_add(lines.start * self.width);
        Matrices::one(data, [self.kernels, lines.len() * self.width], [self.places(), 1])
    }
}
