//! The gradient of a convolution's weight: matrix products of images and gradients of places.
#![expect(unsafe_code, reason = "hands parts of tensors to the matrix product, and to threads")]

use std::ops::Range;

use torch_library::Lease;
use torch_library::geometry::contiguous_strides;
use torch_library::prelude::*;

use super::{Convolution, DEPTH, Grouped, MOVING, Panel, Scratch, planes};
use crate::cpu::convolution::input_tile::{InputTiles, Laid};
use crate::cpu::convolution::planes::Target;
use crate::cpu::convolution::receptive_field::Along;
use crate::cpu::matmul::GRAIN;
use crate::cpu::matmul::implicit_gemm::{ImplicitMatrix, Product, Shape, WIDTH};
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::transpose::transpose;
use crate::loops::{self, parallel};
use crate::number::Number;

/// Up to this many panels of kernels, threads share the lines as well.
const FEW_PANELS: usize = 16;

impl Convolution<'_> {
    /// The gradient of the weight, row-major, in the opmath type.
    pub(in super::super) fn weight_gradient<T: Number>(
        &self,
        image: &Tensor,
        places: &Tensor,
    ) -> Result<Tensor> {
        if let Some(gradient) = self.depthwise_weight_gradient(image, places)? {
            return Ok(gradient);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(gradient) = self.tiled_weight_gradient(image, places)? {
            return Ok(gradient);
        }
        let (grouped, fields) = (self.grouped(self.channels), self.places());
        let input_tiles = InputTiles::new(planes::<T>(image)?, fields, grouped.channels, grouped.along);
        let places = if grouped.along == Along::Lines { &loops::contiguous(places)? } else { places };
        let target = Target::new(planes(places)?, fields);
        let (length, lines) = (grouped.channels * self.taps(), self.batch as usize * input_tiles.lines());
        let panels = grouped.panels();
        let work = (length + MOVING) * self.channels[1] as usize * lines * input_tiles.per_line();
        // Each share of the lines has sums of its own. The number of shares does not depend on the number of threads,
        // so neither does the result.
        let shares = (FEW_PANELS / panels).min(lines).min(work / (4 * GRAIN)).max(1);
        let sizes = [shares * panels * length, WIDTH].map(|size| size as i64);
        // Zeros, since the last panel may have fewer columns than sums, all of which are added up.
        let sums = Tensor::zeros(&sizes, T::DTYPE, image.device())?;
        let gradient =
            WeightGradient { input_tiles, target, grouped, sums: PartsMut::of(&sums, length * WIDTH)? };
        let count = shares * panels;
        parallel::shares(count, (GRAIN * count / work.max(1)).max(1), |range| {
            Scratch::lend(|scratch| {
                for share in range.start / panels..range.end.div_ceil(panels) {
                    let all = share * panels;
                    let panels = range.start.max(all) - all..range.end.min(all + panels) - all;
                    let lines = share * lines / shares..(share + 1) * lines / shares;
                    // SAFETY: `gradient` holds leases on images and places, so nothing writes to them; it has these
                    // lines and panels, and the sums of these panels, which are zeros, are this thread's alone.
                    unsafe { gradient.share(lines, panels, all, scratch) };
                }
            });
        });
        drop(gradient); // ends its leases
        self.summed::<T>(&sums, shares, grouped, length)
    }

    /// The sums over all shares, in the layout of a weight.
    fn summed<T: Number>(
        &self,
        sums: &Tensor,
        shares: usize,
        grouped: Grouped,
        length: usize,
    ) -> Result<Tensor> {
        let all = sums.numel() / shares as i64;
        let share = |n: usize| sums.strided_view(&[all], &[1], n as i64 * all);
        let first = share(0)?;
        for n in 1..shares {
            loops::map(&first, [&first, &share(n)?], |[a, b]: [T; 2]| a.plus(b))?;
        }
        let sizes = self.weight.sizes();
        // SAFETY: the loop below writes the kernels of every panel, and each kernel is in one; after an error the
        // tensor is dropped here.
        let out =
            unsafe { Tensor::uninit_strided(sizes, &contiguous_strides(sizes), T::DTYPE, sums.device())? };
        let (from, lease) = (Parts::<T>::of(sums, length * WIDTH)?, Lease::new([&out], [])?);
        let to = out.data_ptr_mut::<T>(&lease)?;
        for n in 0..grouped.panels() {
            let Panel { columns, channel, .. } = grouped.panel(n, self.channels[1] as usize);
            let to = to.wrapping_add(channel * length);
            // SAFETY: `from` has `length` rows of `WIDTH` sums for each panel, and `out` has `length` weights for each
            // kernel, of which there are `columns.len()` from `channel` on; both are leased, and share no memory.
            unsafe { transpose(from.at(n), WIDTH as isize, [length, columns.len()], to, length) };
        }
        drop(lease);
        Ok(out)
    }
}

/// The operands and sums of a weight gradient.
struct WeightGradient<T> {
    input_tiles: InputTiles<T>,
    target: Target<T>,
    grouped: Grouped,
    /// For each share of the lines and each panel of kernels, a row of [`WIDTH`] sums for each weight of a kernel.
    sums: PartsMut<T>,
}

impl<T: Number> WeightGradient<T> {
    /// Computes the sums of some panels over some lines; `all` is the number of this share's first panel among those of
    /// all shares.
    ///
    /// # Safety
    /// - The lines and panels exist, and so do the sums of panels from `all` on.
    /// - The leases on images and places are held, and nothing else uses these sums.
    unsafe fn share(&self, lines: Range<usize>, panels: Range<usize>, all: usize, scratch: &mut Scratch) {
        let step = (self.grouped.rows() / self.input_tiles.per_line()).max(1);
        for start in lines.clone().step_by(step) {
            for n in panels.clone() {
                let panel = self.grouped.panel(n, self.target.channels());
                let part = start..(start + step).min(lines.end);
                let (sums, adds) = (self.sums.at(all + n), start > lines.start);
                // SAFETY: the caller vouches for lines and panels, and for the sums of `all + n`; the input tile does
                // not change until the next part is laid out.
                unsafe {
                    let laid = self.input_tiles.lay(panel.group, part, &mut scratch.input_tile);
                    match self.grouped.along {
                        Along::Lines => self.dots(&laid, panel, sums, adds),
                        _ => self.tiles(&laid, panel, scratch, sums, adds),
                    }
                }
            }
        }
    }

    /// Computes a panel's sums over the pixels that were laid out, and writes them, or adds them to those before.
    ///
    /// # Safety
    /// - The input tile that was laid out and the leased images still exist.
    /// - `sums` has an initialised row of [`WIDTH`] for each step of the plan, and nothing else uses them.
    unsafe fn tiles(&self, laid: &Laid<T>, panel: Panel, scratch: &mut Scratch, sums: *mut T, adds: bool) {
        let (plan, columns, shape) = (&laid.plan, panel.columns.len(), self.grouped.shape());
        let numbers = scratch.panel.numbers(DEPTH * WIDTH);
        for (i, steps) in plan.rows.chunks(DEPTH).enumerate() {
            let (range, adds) = (i * DEPTH..i * DEPTH + steps.len(), adds || i > 0);
            let a = ImplicitMatrix { data: laid.data, rows: &plan.steps, steps };
            // SAFETY: the lists point to pixels that were laid out, which the caller promises still exist; the gradient
            // has these rows of the segments, under its lease, and the panel has room for `DEPTH` of them. The caller
            // vouches for the sums.
            unsafe {
                self.target.read(&plan.segments, range, panel.channel, columns, numbers.as_mut_ptr());
                Product { a, panel: numbers.as_ptr(), columns, out: sums, adds, shape }.compute();
            }
        }
    }

    /// Like [`tiles`](Self::tiles), for few kernels.
    ///
    /// # Safety
    /// - The input tile that was laid out and the leased images still exist.
    /// - `sums` has an initialised row of [`WIDTH`] for each step of the plan, and nothing else uses them.
    /// - The lists of the plan hold the starts of lines, and the gradient's lines are dense.
    unsafe fn dots(&self, Laid { plan, data }: &Laid<T>, panel: Panel, sums: *mut T, adds: bool) {
        let columns = panel.columns.len();
        for (i, segment) in plan.segments.iter().enumerate() {
            let a =
                ImplicitMatrix { data: *data, rows: &plan.rows[segment.listed.clone()], steps: &plan.steps };
            let (len, pitch) = (segment.count / segment.listed.len(), self.target.pitch());
            let panel = self.target.at(segment, panel.channel).cast_const();
            let (adds, shape) = (adds || i > 0, Shape::Dots { len, pitch });
            // SAFETY: the lists point to pixels that were laid out, which the caller promises still exist; the gradient
            // has `segment.count` numbers for each channel, under its lease. The caller vouches for the sums.
            unsafe { Product { a, panel, columns, out: sums, adds, shape }.compute() };
        }
    }
}
