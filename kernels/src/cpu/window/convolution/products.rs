//! The matrix products that convolutions are made of.
//!
//! Threads share them without the dispatch state of this one: they call no operators.
#![expect(unsafe_code, reason = "hands parts of tensors to the matrix product, and to threads")]

use std::ops::Range;

use torch_library::geometry::contiguous_strides;
use torch_library::prelude::*;

use super::Convolution;
use crate::cpu::loops::across::turned;
use crate::cpu::loops::parts::Parts;
use crate::cpu::loops::{self, parallel};
use crate::cpu::matmul::GRAIN;
use crate::cpu::matmul::scattered::{Aligned, Product, Scattered, Shape, WIDTH};
use crate::cpu::number::Number;
use crate::cpu::window::planes::{Planes, Target};
use crate::cpu::window::reach::Reach;
use crate::cpu::window::sheet::{Sheet, Sheets};

/// How many steps of a sum there are before it goes back to memory: a panel of so many stays in the cache.
const DEPTH: usize = 256;

/// How many rows are computed at a time: so many that packing a panel for them does not count.
const ROWS: usize = 512;

/// The same of rows in lines, whose panels are small.
const ROWS_IN_LINES: usize = 4096;

/// Up to so many columns vectors lie along lines instead.
const FEW: usize = 4;

impl Convolution<'_> {
    /// From images to places, in the computing type.
    pub(super) fn convolve<T: Number>(
        &self,
        image: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Tensor> {
        let out = self.room::<T>(&self.places_sizes())?;
        let ([channels, kernels], reaches) = (self.grouped(), self.places());
        let length = channels * self.taps();
        let weight = Parts::<T>::row_major(weight, kernels * length)?;
        let job = Job::new(self, [channels, kernels], image, &out, &reaches, bias)?;
        // SAFETY: a part of the weight's group, and room for it in the panel.
        job.run(|group, columns, steps, panel| unsafe {
            let from = weight.at(group).wrapping_add(columns.start * length + steps.start);
            turned(from, length as isize, [columns.len(), steps.len()], panel, WIDTH);
        });
        Ok(out)
    }

    /// From places to images, in the computing type.
    pub(super) fn spread<T: Number>(
        &self,
        places: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Tensor> {
        let out = self.room::<T>(&self.image_sizes())?;
        let ([channels, kernels], taps) = (self.grouped(), self.taps());
        let weight = Parts::<T>::row_major(weight, kernels * channels * taps)?;
        for reaches in self.pixels() {
            let job = Job::new(self, [kernels, channels], places, &out, &reaches, bias)?;
            let steps = self.steps_of(&reaches, kernels, channels * taps);
            job.run(|group, columns, range, panel: *mut T| {
                let (from, mut to) = (weight.at(group).wrapping_add(columns.start * taps), panel);
                for steps in steps[range].chunk_by(|step, next| step + 1 == *next) {
                    // SAFETY: a part of the weight's group, and room for it in the panel.
                    unsafe {
                        turned(from.add(steps[0]), taps as isize, [columns.len(), steps.len()], to, WIDTH);
                        to = to.add(steps.len() * WIDTH);
                    }
                }
            });
        }
        Ok(out)
    }

    /// The gradient of the weight, row-major, in the computing type.
    pub(super) fn weight_gradient<T: Number>(&self, image: &Tensor, places: &Tensor) -> Result<Tensor> {
        let ([channels, kernels], reaches) = (self.grouped(), self.places());
        let (groups, length) = (self.groups as usize, channels * self.taps());
        let is_in_lines = self.is_in_lines(kernels);
        let sheets = Sheets::new(planes::<T>(image)?, &reaches, channels, is_in_lines);
        let lines = self.batch as usize * sheets.lines();
        // A sum for each share of the lines; which line is in which does not depend on who is faster.
        let work = groups * kernels * length * lines * sheets.per_line();
        let count = rayon::current_num_threads().min(lines).min(work / GRAIN).max(1);
        let parts = groups * kernels.div_ceil(WIDTH);
        let sizes = [count * parts * length, WIDTH].map(|size| size as i64);
        let sums = Tensor::empty(&sizes, T::DTYPE, image.device())?;
        let sum = Parts::<T>::of(&sums, length * WIDTH)?;
        let places = if is_in_lines { &loops::contiguous(places)? } else { places };
        let target = Target::new(planes(places)?, &reaches);
        let gradient = WeightGradient { sheets, target, channels, kernels, is_in_lines };
        let step = (if is_in_lines { ROWS_IN_LINES } else { ROWS } / gradient.sheets.per_line()).max(1);
        parallel::shares(count, 1, |range| {
            let (mut sheet, mut panel) = (Sheet::default(), Aligned::default());
            for share in range {
                let (start, end) = (share * lines / count, (share + 1) * lines / count);
                for (start, group) in
                    (start..end).step_by(step).flat_map(|s| (0..groups).map(move |g| (s, g)))
                {
                    let sums = sum.at(share * parts + group * (parts / groups));
                    let lines = start..(start + step).min(end);
                    // SAFETY: nobody writes to images and places; the sums are this thread's alone.
                    unsafe { gradient.add(group, lines, &mut sheet, panel.numbers(DEPTH * WIDTH), sums) };
                }
            }
        });
        self.summed::<T>(&sums, count, [parts, length, kernels])
    }

    /// The sums of all shares as a weight.
    fn summed<T: Number>(
        &self,
        sums: &Tensor,
        count: usize,
        [parts, length, kernels]: [usize; 3],
    ) -> Result<Tensor> {
        let all = sums.numel() / count as i64;
        let share = |n: usize| sums.strided_view(&[all], &[1], n as i64 * all);
        let first = share(0)?;
        for n in 1..count {
            loops::map(&first, [&first, &share(n)?], |[a, b]: [T; 2]| a.plus(b))?;
        }
        let sizes = self.weight.sizes();
        // SAFETY: next, every element is written.
        let out =
            unsafe { Tensor::uninit_strided(sizes, &contiguous_strides(sizes), T::DTYPE, sums.device())? };
        let (from, to, panels) = (first.data_ptr::<T>()?, out.data_ptr::<T>()?, kernels.div_ceil(WIDTH));
        for part in 0..parts {
            let column = part % panels * WIDTH;
            let (from, to) = (
                from.wrapping_add(part * length * WIDTH),
                to.wrapping_add((part / panels * kernels + column) * length),
            );
            // SAFETY: the sums of a part, and the kernels that they are for.
            unsafe { turned(from, WIDTH as isize, [length, WIDTH.min(kernels - column)], to, length) };
        }
        Ok(out)
    }

    /// Memory for a result, in its memory format if nothing is to be converted.
    fn room<T: Number>(&self, sizes: &[i64]) -> Result<Tensor> {
        let strides = match self.input.dtype() == T::DTYPE {
            true => self.strides_like_operands(sizes, T::DTYPE)?,
            false => contiguous_strides(sizes),
        };
        // SAFETY: the products write every element.
        unsafe { Tensor::uninit_strided(sizes, &strides, T::DTYPE, self.input.device()) }
    }

    /// Channels of the image, and of the places, in a group.
    fn grouped(&self) -> [usize; 2] {
        self.channels.map(|channels| (channels / self.groups) as usize)
    }

    /// Whether vectors lie along lines, of results of so many channels. Lines of one direction are cut, and so must lie as they are.
    fn is_in_lines(&self, channels: usize) -> bool {
        channels <= FEW && (self.axes.len() > 1 || self.axes[0].stride == 1)
    }

    fn taps(&self) -> usize {
        self.axes.iter().map(|axis| axis.kernel as usize).product()
    }

    fn places(&self) -> Vec<Reach> {
        let sizes = self.image.iter().zip(&self.places);
        self.axes
            .iter()
            .zip(sizes)
            .map(|(axis, (image, places))| Reach::of_places(*axis, *image, *places))
            .collect()
    }

    /// For each phase of the strides, how pixels are reached from places.
    fn pixels(&self) -> Vec<Vec<Reach>> {
        let mut all = vec![Vec::new()];
        for (axis, (image, places)) in self.axes.iter().zip(self.image.iter().zip(&self.places)) {
            let phases =
                (0..axis.stride.min(*image)).map(|phase| Reach::of_pixels(*axis, *image, *places, phase));
            let phases: Vec<Reach> = phases.collect();
            let longer = |reaches: &Vec<Reach>| -> Vec<Vec<Reach>> {
                phases.iter().map(|phase| [&reaches[..], &[*phase]].concat()).collect()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    /// Where the weights of the steps of a sum over so many kernels are, which are `pitch` apart.
    fn steps_of(&self, reaches: &[Reach], kernels: usize, pitch: usize) -> Vec<usize> {
        let mut steps: Vec<usize> = (0..kernels).map(|kernel| kernel * pitch).collect();
        let mut pitch = self.taps();
        for (reach, axis) in reaches.iter().zip(&self.axes) {
            pitch /= axis.kernel as usize;
            let [first, step] = reach.of_tap;
            let taps = |start: usize| (0..reach.taps).map(move |tap| start + (first + tap * step) * pitch);
            steps = steps.into_iter().flat_map(taps).collect();
        }
        steps
    }
}

/// As the computing type, wherever it lies.
fn planes<T: Number>(tensor: &Tensor) -> Result<Planes<T>> {
    match tensor.dtype() == T::DTYPE {
        true => Planes::of(tensor),
        false => Planes::of(&loops::copy(tensor, T::DTYPE)?),
    }
}

/// The product of what a window meets with a weight.
struct Job<T> {
    sheets: Sheets<T>,
    target: Target<T>,
    bias: Option<Parts<T>>,
    groups: usize,
    batch: usize,
    /// Of the source, and of the result, in a group.
    channels: [usize; 2],
    steps: usize,
    is_in_lines: bool,
}

/// What a thread computes in.
#[derive(Default)]
struct Room<T> {
    sheet: Sheet<T>,
    panel: Aligned<T>,
    sums: Aligned<T>,
}

impl<T: Number> Job<T> {
    fn new(
        convolution: &Convolution<'_>,
        channels: [usize; 2],
        source: &Tensor,
        out: &Tensor,
        reaches: &[Reach],
        bias: Option<&Tensor>,
    ) -> Result<Self> {
        let is_in_lines = convolution.is_in_lines(channels[1]);
        Ok(Job {
            sheets: Sheets::new(planes(source)?, reaches, channels[0], is_in_lines),
            target: Target::new(Planes::of(out)?, reaches),
            bias: bias.map(|bias| Parts::row_major(bias, channels[1])).transpose()?,
            groups: convolution.groups as usize,
            batch: convolution.batch as usize,
            channels,
            steps: channels[0] * reaches.iter().map(|reach| reach.taps).product::<usize>(),
            is_in_lines,
        })
    }

    /// Computes it, with panels that a closure packs: for a group, some columns and steps.
    fn run(&self, pack: impl Fn(usize, Range<usize>, Range<usize>, *mut T) + Sync) {
        let (lines, per_line) = (self.batch * self.sheets.lines(), self.sheets.per_line());
        let most = if self.is_in_lines { ROWS_IN_LINES } else { ROWS };
        let line_work = per_line * self.steps.max(1) * self.channels[1];
        let mut blocks = lines.div_ceil((most / per_line).max(1));
        if self.groups == 1 && lines * line_work > 2 * GRAIN {
            blocks = blocks.next_multiple_of(rayon::current_num_threads()).min(lines);
        }
        let len = lines.div_ceil(blocks);
        let blocks = lines.div_ceil(len);
        parallel::shares(self.groups * blocks, (GRAIN / (len * line_work)).max(1), |range| {
            let mut room = Room::default();
            for n in range {
                let (group, block) = (n % self.groups, n / self.groups);
                let lines = block * len..((block + 1) * len).min(lines);
                // SAFETY: nobody writes to the source; these lines of this group are this thread's alone.
                unsafe {
                    let data = self.sheets.lay(group * self.channels[0], lines, &mut room.sheet);
                    match self.is_in_lines {
                        true => self.lines(data, group, &mut room, &pack),
                        false => self.tiles(data, group, &mut room, &pack),
                    }
                }
            }
        });
    }

    /// Computes a block from what was laid out at an address.
    ///
    /// # Safety
    /// It is still there, and nobody else looks at the rows of the block.
    unsafe fn tiles(
        &self,
        data: *const T,
        group: usize,
        room: &mut Room<T>,
        pack: &impl Fn(usize, Range<usize>, Range<usize>, *mut T),
    ) {
        let Room { sheet, panel, sums } = room;
        let (all, panel) = (self.channels[1], panel.numbers(self.steps.min(DEPTH) * WIDTH));
        let sums = sums.numbers(sheet.rows.len() * WIDTH);
        for first in (0..all).step_by(WIDTH) {
            let columns = first..(first + WIDTH).min(all);
            let bias = self.bias.as_ref().map(|bias| bias.at(group).wrapping_add(first));
            if bias.is_some() || self.steps == 0 {
                for row in sums.chunks_exact_mut(WIDTH) {
                    for (j, sum) in row[..columns.len()].iter_mut().enumerate() {
                        // SAFETY: the bias of a channel.
                        *sum = bias.map_or(T::ZERO, |bias| unsafe { bias.add(j).read() });
                    }
                }
            }
            for (i, steps) in sheet.steps.chunks(DEPTH).enumerate() {
                pack(group, columns.clone(), i * DEPTH..i * DEPTH + steps.len(), panel.as_mut_ptr());
                let a = Scattered { data, rows: &sheet.rows, steps };
                let (panel, out, adds) = (panel.as_ptr(), sums.as_mut_ptr(), bias.is_some() || i > 0);
                // SAFETY: the lists name what was laid out; there is a row of sums for each of its rows.
                unsafe {
                    Product { a, panel, columns: columns.len(), out, adds, shape: Shape::Rows }.compute()
                };
            }
            // SAFETY: these rows are this thread's alone.
            unsafe { self.target.write(&sheet.segments, group * all + first, columns.len(), sums.as_ptr()) };
        }
    }

    /// As [`tiles`](Self::tiles), of few columns.
    ///
    /// # Safety
    /// As there.
    unsafe fn lines(
        &self,
        data: *const T,
        group: usize,
        room: &mut Room<T>,
        pack: &impl Fn(usize, Range<usize>, Range<usize>, *mut T),
    ) {
        let Room { sheet, panel, sums } = room;
        let (columns, channel) = (self.channels[1], group * self.channels[1]);
        let count: usize = sheet.segments.iter().map(|segment| segment.count).sum();
        let sums = sums.numbers(if self.target.is_dense { 0 } else { columns * count });
        let panel = panel.numbers(self.steps.min(DEPTH) * WIDTH);
        let bias = self.bias.as_ref().map(|bias| bias.at(group));
        for segment in &sheet.segments {
            let (out, pitch) = match self.target.is_dense {
                true => (self.target.at(segment, channel), self.target.pitch()),
                false => (sums.as_mut_ptr().wrapping_add(segment.first), count),
            };
            if bias.is_some() || self.steps == 0 {
                for j in 0..columns {
                    // SAFETY: the bias of a channel, and its rows.
                    unsafe {
                        let bias = bias.map_or(T::ZERO, |bias| bias.add(j).read());
                        (0..segment.count).for_each(|row| out.add(j * pitch + row).write(bias));
                    }
                }
            }
            for (i, steps) in sheet.steps.chunks(DEPTH).enumerate() {
                pack(group, 0..columns, i * DEPTH..i * DEPTH + steps.len(), panel.as_mut_ptr());
                let a = Scattered { data, rows: &sheet.rows[segment.listed.clone()], steps };
                let (panel, adds) = (panel.as_ptr(), bias.is_some() || i > 0);
                let shape = Shape::Lines { len: segment.count / segment.listed.len(), pitch };
                // SAFETY: the lists name what was laid out; the result has these rows.
                unsafe { Product { a, panel, columns, out, adds, shape }.compute() };
            }
        }
        if !self.target.is_dense {
            // SAFETY: these rows are this thread's alone.
            unsafe { self.target.write_columns(&sheet.segments, channel, columns, sums) };
        }
    }
}

/// The products of images and gradients of places.
struct WeightGradient<T> {
    sheets: Sheets<T>,
    target: Target<T>,
    /// Of the image and of the places, in a group.
    channels: usize,
    kernels: usize,
    is_in_lines: bool,
}

impl<T: Number> WeightGradient<T> {
    /// Adds those of some lines of a group: to a row of [`WIDTH`] sums for each weight of a kernel, and so many kernels after
    /// each other.
    ///
    /// # Safety
    /// There is such memory, and nobody else looks at it.
    unsafe fn add(
        &self,
        group: usize,
        lines: Range<usize>,
        sheet: &mut Sheet<T>,
        panel: &mut [T],
        sums: *mut T,
    ) {
        // SAFETY: nobody writes to the image.
        let data = unsafe { self.sheets.lay(group * self.channels, lines, sheet) };
        let Sheet { rows, steps, segments, .. } = sheet;
        if self.is_in_lines {
            for segment in &segments[..] {
                let a = Scattered { data, rows: &rows[segment.listed.clone()], steps };
                let (len, pitch) = (segment.count / segment.listed.len(), self.target.pitch());
                let panel = self.target.at(segment, group * self.kernels).cast_const();
                let shape = Shape::Dots { len, pitch };
                // SAFETY: the lists name what was laid out, and the gradient has these lines.
                unsafe {
                    Product { a, panel, columns: self.kernels, out: sums, adds: true, shape }.compute()
                };
            }
            return;
        }
        for first in (0..self.kernels).step_by(WIDTH) {
            let columns = WIDTH.min(self.kernels - first);
            let out = sums.wrapping_add(first * steps.len());
            for (i, part) in rows.chunks(DEPTH).enumerate() {
                let (range, channel) = (i * DEPTH..i * DEPTH + part.len(), group * self.kernels + first);
                let a = Scattered { data, rows: steps, steps: part };
                // SAFETY: the lists name what was laid out, the gradient has these rows, and the panel has room for them.
                unsafe {
                    self.target.read(segments, range, channel, columns, panel.as_mut_ptr());
                    let panel = panel.as_ptr();
                    Product { a, panel, columns, out, adds: true, shape: Shape::Rows }.compute();
                }
            }
        }
    }
}
