//! The gradient of a convolution's weight: products of images and gradients of places.
#![expect(unsafe_code, reason = "hands parts of tensors to the matrix product, and to threads")]

use std::ops::Range;

use torch_library::geometry::contiguous_strides;
use torch_library::prelude::*;

use super::{Convolution, DEPTH, Grouped, MOVING, Panel, Room, planes};
use crate::cpu::loops::across::turned;
use crate::cpu::loops::parts::Parts;
use crate::cpu::loops::{self, parallel};
use crate::cpu::matmul::GRAIN;
use crate::cpu::matmul::scattered::{Product, Scattered, Shape, WIDTH};
use crate::cpu::number::Number;
use crate::cpu::window::planes::Target;
use crate::cpu::window::reach::Along;
use crate::cpu::window::sheet::{Laid, Sheets};

/// Of so few panels of kernels threads share the lines too.
const FEW_PANELS: usize = 16;

impl Convolution<'_> {
    /// The gradient of the weight, row-major, in the computing type.
    pub(in super::super) fn weight_gradient<T: Number>(
        &self,
        image: &Tensor,
        places: &Tensor,
    ) -> Result<Tensor> {
        let (grouped, reaches) = (self.grouped(self.channels), self.places());
        let sheets = Sheets::new(planes::<T>(image)?, reaches, grouped.channels, grouped.along);
        let places = if grouped.along == Along::Lines { &loops::contiguous(places)? } else { places };
        let target = Target::new(planes(places)?, reaches);
        let (length, lines) = (grouped.channels * self.taps(), self.batch as usize * sheets.lines());
        let panels = grouped.panels();
        let work = (length + MOVING) * self.channels[1] as usize * lines * sheets.per_line();
        // Each share of the lines has sums of its own. How many there are does not depend on threads, so the result does not.
        let shares = (FEW_PANELS / panels).min(lines).min(work / (4 * GRAIN)).max(1);
        let sizes = [shares * panels * length, WIDTH].map(|size| size as i64);
        // Zeros, as the last panel may have fewer columns than its sums, which are added all the same.
        let sums = Tensor::zeros(&sizes, T::DTYPE, image.device())?;
        let gradient =
            WeightGradient { sheets, target, grouped, length, sums: Parts::of(&sums, length * WIDTH)? };
        let count = shares * panels;
        parallel::shares(count, (GRAIN * count / work.max(1)).max(1), |range| {
            Room::lend(|room| {
                for share in range.start / panels..range.end.div_ceil(panels) {
                    let all = share * panels;
                    let panels = range.start.max(all) - all..range.end.min(all + panels) - all;
                    let lines = share * lines / shares..(share + 1) * lines / shares;
                    // SAFETY: nobody writes to images and places; the sums of these panels are this thread's alone.
                    unsafe { gradient.share(lines, panels, all, room) };
                }
            });
        });
        self.summed::<T>(&sums, shares, &gradient)
    }

    /// The sums of all shares as a weight.
    fn summed<T: Number>(
        &self,
        sums: &Tensor,
        shares: usize,
        gradient: &WeightGradient<T>,
    ) -> Result<Tensor> {
        let WeightGradient { grouped, length, .. } = *gradient;
        let all = sums.numel() / shares as i64;
        let share = |n: usize| sums.strided_view(&[all], &[1], n as i64 * all);
        let first = share(0)?;
        for n in 1..shares {
            loops::map(&first, [&first, &share(n)?], |[a, b]: [T; 2]| a.plus(b))?;
        }
        let sizes = self.weight.sizes();
        // SAFETY: next, every element is written.
        let out =
            unsafe { Tensor::uninit_strided(sizes, &contiguous_strides(sizes), T::DTYPE, sums.device())? };
        let to = out.data_ptr::<T>()?;
        for n in 0..grouped.panels() {
            let Panel { columns, channel, .. } = grouped.panel(n, self.channels[1] as usize);
            let to = to.wrapping_add(channel * length);
            // SAFETY: the sums of a panel, and the kernels that they are for.
            unsafe { turned(gradient.sums.at(n), WIDTH as isize, [length, columns.len()], to, length) };
        }
        Ok(out)
    }
}

/// The products of images and gradients of places.
struct WeightGradient<T> {
    sheets: Sheets<T>,
    target: Target<T>,
    grouped: Grouped,
    /// How many weights a kernel has.
    length: usize,
    /// For each share of the lines, and each panel of kernels, a row of [`WIDTH`] sums for each weight.
    sums: Parts<T>,
}

impl<T: Number> WeightGradient<T> {
    /// Computes the sums of some panels over some lines; the first panel of this share is `all`.
    ///
    /// # Safety
    /// Nobody writes to images and places, or looks at these sums.
    unsafe fn share(&self, lines: Range<usize>, panels: Range<usize>, all: usize, room: &mut Room) {
        let step = (self.grouped.rows() / self.sheets.per_line()).max(1);
        for start in lines.clone().step_by(step) {
            for n in panels.clone() {
                let panel = self.grouped.panel(n, self.target.channels());
                let part = start..(start + step).min(lines.end);
                let (sums, adds) = (self.sums.at(all + n), start > lines.start);
                // SAFETY: passed on.
                unsafe {
                    let laid = self.sheets.lay(panel.group, part, &mut room.sheet);
                    match self.grouped.along {
                        Along::Lines => self.dots(&laid, panel, sums, adds),
                        _ => self.tiles(&laid, panel, room, sums, adds),
                    }
                }
            }
        }
    }

    /// Writes a panel's sums over what was laid out, or adds them to those before.
    ///
    /// # Safety
    /// It is still there; for the rest as [`share`](Self::share).
    unsafe fn tiles(&self, laid: &Laid<T>, panel: Panel, room: &mut Room, sums: *mut T, adds: bool) {
        let (plan, columns, shape) = (&laid.plan, panel.columns.len(), self.grouped.shape());
        let numbers = room.panel.numbers(DEPTH * WIDTH);
        for (i, steps) in plan.rows.chunks(DEPTH).enumerate() {
            let (range, adds) = (i * DEPTH..i * DEPTH + steps.len(), adds || i > 0);
            let a = Scattered { data: laid.data, rows: &plan.steps, steps };
            // SAFETY: the lists name what was laid out, the gradient has these rows, and the panel has room for them.
            unsafe {
                self.target.read(&plan.segments, range, panel.channel, columns, numbers.as_mut_ptr());
                Product { a, panel: numbers.as_ptr(), columns, out: sums, adds, shape }.compute();
            }
        }
    }

    /// As [`tiles`](Self::tiles), of few kernels.
    ///
    /// # Safety
    /// As there.
    unsafe fn dots(&self, Laid { plan, data }: &Laid<T>, panel: Panel, sums: *mut T, adds: bool) {
        let columns = panel.columns.len();
        for (i, segment) in plan.segments.iter().enumerate() {
            let a = Scattered { data: *data, rows: &plan.rows[segment.listed.clone()], steps: &plan.steps };
            let (len, pitch) = (segment.count / segment.listed.len(), self.target.pitch());
            let panel = self.target.at(segment, panel.channel).cast_const();
            let (adds, shape) = (adds || i > 0, Shape::Dots { len, pitch });
            // SAFETY: the lists name what was laid out, and the gradient has these lines.
            unsafe { Product { a, panel, columns, out: sums, adds, shape }.compute() };
        }
    }
}
