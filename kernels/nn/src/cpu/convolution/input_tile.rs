//! Input tiles of a convolution by implicit GEMM: the pixels themselves if windows stay inside of the images, else a
//! copy with zeros around them.
#![expect(unsafe_code, reason = "reads strided tensors that threads share, and copies parts of them")]

use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::plan::{Meeting, Plan};
use super::planes::Planes;
use super::receptive_field::{Along, ReceptiveFields, Run};
use crate::cpu::matmul::implicit_gemm::Aligned;
use crate::inlined::fill;
#[cfg(target_arch = "x86_64")]
use crate::loops::has_avx2;
use crate::loops::transpose::transpose;
use crate::number::Number;

/// The implicit matrix of a convolution's pixels, by rows of the result and steps of the sum, as tiles of some rows.
pub(super) struct InputTiles<T> {
    source: Planes<T>,
    meeting: Meeting,
    /// A number that no other `InputTiles` has.
    id: usize,
}

/// One input tile: the plan of where its pixels are, and the copy if there is one.
#[derive(Default)]
pub(super) struct InputTile {
    plan: Option<Rc<Plan>>,
    /// The `InputTiles` that it was laid out for, and which part of them.
    id: usize,
    group: usize,
    copy: Aligned,
}

impl InputTile {
    /// The size of its memory, in bytes.
    pub(super) fn size(&self) -> usize {
        self.copy.size()
    }
}

/// A tile that was laid out: its plan, and the address from which the plan's offsets count.
pub(super) struct Laid<T> {
    pub(super) plan: Rc<Plan>,
    pub(super) data: *const T,
}

impl<T: Number> InputTiles<T> {
    /// Tiles with `channels` channels at a time; with vectors along lines, [`rows`](Plan::rows) holds only the starts
    /// of lines.
    pub(super) fn new(source: Planes<T>, fields: ReceptiveFields, channels: usize, along: Along) -> Self {
        let meeting = Meeting::new(source.strides, fields, channels, along);
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        InputTiles { source, meeting, id: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// The number of lines of an image.
    pub(super) fn lines(&self) -> usize {
        self.meeting.lines()
    }

    /// The number of rows of a line.
    pub(super) fn per_line(&self) -> usize {
        self.meeting.per_line()
    }

    /// Lays out a tile of some lines, counted through all images, for the channels of one group, or of the groups side
    /// by side.
    ///
    /// # Safety
    /// - The lines and the group exist.
    /// - The source is leased for reading: nothing writes to it as long as these input tiles live.
    pub(super) unsafe fn lay(
        &self,
        group: usize,
        lines: Range<usize>,
        input_tile: &mut InputTile,
    ) -> Laid<T> {
        let old = input_tile.plan.take().filter(|plan| input_tile.id == self.id && plan.lines == lines);
        let (is_planned, is_laid) = (old.is_some(), old.is_some() && input_tile.group == group);
        let plan = old.unwrap_or_else(|| self.meeting.plan(lines));
        (input_tile.plan, input_tile.id, input_tile.group) = (Some(plan.clone()), self.id, group);
        let (channels, side, pitch) =
            (self.meeting.channels(), self.meeting.side(), self.source.strides.channel);
        let first = group * channels * side;
        let source = self.source.data.wrapping_add(first * pitch).cast_const();
        if !self.meeting.is_copied() {
            return Laid { plan, data: source };
        }
        let copy = input_tile.copy.numbers::<T>(channels * plan.plane);
        if is_laid {
            return Laid { plan, data: copy.as_ptr() };
        }
        if !is_planned {
            fill(copy, T::ZERO);
        }
        let data = copy.as_mut_ptr();
        // SAFETY: the plan's runs name pixels of these lines in a channel of the source, which the caller vouches for,
        // and places below `plan.plane`, which is the number of elements that the copy has for each channel; the copy
        // is other memory.
        unsafe {
            if side > 1 {
                let count = side.min(self.source.channels - first);
                copy_side_by_side(&plan.runs, source, [count, pitch], data);
            } else if pitch == 1 {
                // The channels of a pixel follow each other: all are read at once.
                for run in &plan.runs {
                    let (from, to) = (source.wrapping_add(run.from), data.wrapping_add(run.to));
                    transpose(from, run.step as isize, [run.len, channels], to, plan.plane);
                }
            } else {
                for n in 0..channels {
                    copy_runs(&plan.runs, source.wrapping_add(n * pitch), data.add(n * plan.plane));
                }
            }
        }
        Laid { plan, data: data.cast_const() }
    }
}

/// Copies runs from each of `count` channels, which are `pitch` apart, and interleaves the channels.
///
/// # Safety
/// - Each run names pixels of `count` channels, `pitch` apart from `from` on, that can be read, and nothing writes to
///   them during the call.
/// - Each run names places from `to` on, each with room for `count` contiguous numbers, that can be written, in other
///   memory.
unsafe fn copy_side_by_side<T: Copy>(runs: &[Run], from: *const T, [count, pitch]: [usize; 2], to: *mut T) {
    for run in runs {
        if run.step == 1 {
            let (from, to) = (from.wrapping_add(run.from), to.wrapping_add(run.to));
            // SAFETY: `run.len` contiguous pixels in each of `count` channels, and as many places, `run.gap` apart: the
            // caller vouches for both.
            unsafe { transpose(from, pitch as isize, [count, run.len], to, run.gap) };
            continue;
        }
        for (place, pixel) in run.each() {
            let (from, to) = (from.wrapping_add(pixel), to.wrapping_add(place));
            // SAFETY: a pixel of the run in each of `count` channels, and its place: the caller vouches for both;
            // blocks are not longer than the channels.
            unsafe {
                match (pitch, count) {
                    (1, 8..) => blocks::<T, 8>(from, to, count),
                    _ => pick(from, pitch, to, count),
                }
            }
        }
    }
}

/// Copies runs of pixels from `from` to `to`.
///
/// # Safety
/// - Each run names pixels from `from` on that can be read, and nothing writes to them during the call.
/// - Each run names as many contiguous places from `to` on that can be written, in other memory.
unsafe fn copy_runs<T: Copy>(runs: &[Run], from: *const T, to: *mut T) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: `has_avx2` found the features; the caller vouches for the pixels and places of all runs.
        return unsafe { copy_runs_wide(runs, from, to) };
    }
    // SAFETY: the caller vouches for the pixels and places of all runs.
    unsafe { copy_runs_any(runs, from, to) }
}

/// # Safety
/// - What [`copy_runs`] requires: pixels that can be read, and as many places in other memory that can be written.
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn copy_runs_wide<T: Copy>(runs: &[Run], from: *const T, to: *mut T) {
    // SAFETY: the caller vouches for the pixels and places of all runs.
    unsafe { copy_runs_any(runs, from, to) }
}

/// # Safety
/// - What [`copy_runs`] requires: pixels that can be read, and as many places in other memory that can be written.
#[inline(always)]
unsafe fn copy_runs_any<T: Copy>(runs: &[Run], from: *const T, to: *mut T) {
    for Run { to: place, from: pixel, step, len, .. } in runs {
        let (from, to) = (from.wrapping_add(*pixel), to.wrapping_add(*place));
        // SAFETY: `len` pixels of the run, `step` apart, and as many places: the caller vouches for both; blocks are
        // not longer than the run. (With a constant step, the loop vectorises.)
        unsafe {
            match (*step, *len) {
                (1, 8..) => blocks::<T, 8>(from, to, *len),
                (1, 4..) => blocks::<T, 4>(from, to, *len),
                (1, _) => pick(from, 1, to, *len),
                (2, _) => pick(from, 2, to, *len),
                (step, _) => pick(from, step, to, *len),
            }
        }
    }
}

/// Copies at least `N` contiguous elements, in blocks of `N`, of which the last may overlap the one before.
///
/// # Safety
/// - `len` is at least `N`; `len` elements can be read from `from` on, which nothing writes to during the call.
/// - `len` elements can be written from `to` on, in other memory.
#[inline(always)]
unsafe fn blocks<T: Copy, const N: usize>(from: *const T, to: *mut T, len: usize) {
    let mut i = 0;
    loop {
        // SAFETY: `i + N` is at most `len`, which is the number of elements that the caller vouches for; an array has
        // the alignment of its elements.
        unsafe { to.add(i).cast::<[T; N]>().write(from.add(i).cast::<[T; N]>().read()) };
        if i + N >= len {
            return;
        }
        i = (i + N).min(len - N);
    }
}

/// Copies `len` elements that are `step` apart.
///
/// # Safety
/// - `len` elements, `step` apart, can be read from `from` on, and nothing writes to them during the call.
/// - `len` contiguous elements can be written from `to` on, in other memory.
#[inline(always)]
unsafe fn pick<T: Copy>(from: *const T, step: usize, to: *mut T, len: usize) {
    for i in 0..len {
        // SAFETY: `i` is less than `len`, which is the number of elements that the caller vouches for in both.
        unsafe { to.add(i).write(from.add(i * step).read()) };
    }
}
