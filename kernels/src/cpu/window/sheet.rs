//! Pixels as a window meets them: where they are if all lie inside of the images, else in a copy with zeros around them.
#![expect(unsafe_code, reason = "reads strided tensors that threads share, and copies parts of them")]

use std::ops::Range;

use super::planes::{Planes, Segment};
use super::reach::{Even, Layout, Reach, Run};
#[cfg(target_arch = "x86_64")]
use crate::cpu::loops::is_wide;
use crate::cpu::number::Number;

/// What of images meets a window, by rows of a result and steps of a sum.
pub(super) struct Sheets<T> {
    source: Planes<T>,
    reaches: [Reach; 3],
    lead: usize,
    channels: usize,
    /// How a copy is laid out, if one is needed.
    layouts: Option<[Layout; 3]>,
    has_lines: bool,
}

/// A part of these: where the pixels are, as [`Scattered`](crate::cpu::matmul::scattered::Scattered) wants them.
#[derive(Default)]
pub(super) struct Sheet<T> {
    pub(super) rows: Vec<usize>,
    pub(super) steps: Vec<usize>,
    pub(super) segments: Vec<Segment>,
    /// For which lines all this was found.
    lines: Range<usize>,
    /// What is copied from each channel, and how far apart the copies of channels are, which have zeros between the runs.
    runs: Vec<Run>,
    plane: usize,
    copy: Vec<T>,
}

impl<T: Number> Sheets<T> {
    /// From so many channels at a time; if there are to be lines of rows that are neighbours, [`rows`](Sheet::rows) has where
    /// these start.
    pub(super) fn new(source: Planes<T>, reaches: &[Reach], channels: usize, has_lines: bool) -> Self {
        let (reaches, lead) = Reach::three(reaches);
        let is_dense = source.pitches[2] == 1 && reaches[2].row_step == 1;
        let lies_so = reaches.iter().all(|reach| reach.is_inside()) && (is_dense || !has_lines);
        let layout = |dim: usize| reaches[dim].layout(has_lines && dim == 2);
        let layouts = (!lies_so).then(|| [0, 1, 2].map(layout));
        Sheets { source, reaches, lead, channels, layouts, has_lines }
    }

    /// How many lines an image has.
    pub(super) fn lines(&self) -> usize {
        self.reaches[self.lead].rows
    }

    /// How many rows a line has.
    pub(super) fn per_line(&self) -> usize {
        self.reaches[self.lead + 1..].iter().map(|reach| reach.rows).product()
    }

    /// Lays out some lines, counted through all images, of the channels from one on; gives back the address.
    ///
    /// # Safety
    /// There are such lines and channels, and nobody writes to them meanwhile.
    pub(super) unsafe fn lay(&self, channel: usize, lines: Range<usize>, sheet: &mut Sheet<T>) -> *const T {
        if sheet.lines != lines {
            self.plan(lines, sheet);
        }
        let source = self.source.data.wrapping_add(channel * self.source.channel).cast_const();
        if self.layouts.is_none() {
            return source;
        }
        for n in 0..self.channels {
            let from = source.wrapping_add(n * self.source.channel);
            // SAFETY: the runs lie in a channel of the source, and in a part of the copy.
            unsafe {
                copy_runs(&sheet.runs, from, sheet.copy[n * sheet.plane..][..sheet.plane].as_mut_ptr())
            };
        }
        sheet.copy.as_ptr()
    }

    /// Finds where the pixels of some lines are, or go to.
    fn plan(&self, lines: Range<usize>, sheet: &mut Sheet<T>) {
        sheet.segments.clear();
        let (mut line, mut first) = (lines.start, 0);
        while line < lines.end {
            let (item, from) = (line / self.lines(), line % self.lines());
            let len = (self.lines() - from).min(lines.end - line);
            let count = len * self.per_line();
            sheet.segments.push(Segment { item, lines: from..from + len, first, count, listed: 0..0 });
            (line, first) = (line + len, first + count);
        }
        sheet.rows.clear();
        sheet.runs.clear();
        sheet.lines = lines;
        match self.layouts {
            Some(layouts) => self.plan_copy(layouts, sheet),
            None => {
                let (layouts, pitches) = ([Layout::Pixels; 3], self.source.pitches);
                for segment in &mut sheet.segments {
                    let low = |dim: usize| self.reaches[dim].low() as usize * pitches[dim];
                    let lead = self.reaches[self.lead].row_step as usize * pitches[self.lead];
                    let base = segment.item * self.source.item + segment.lines.start * lead;
                    self.list_rows(
                        layouts,
                        pitches,
                        base + low(0) + low(1) + low(2),
                        segment,
                        &mut sheet.rows,
                    );
                }
                self.list_steps(layouts, pitches, self.source.channel, &mut sheet.steps);
            }
        }
    }

    /// Finds what is copied: the segments of a channel one below the other.
    fn plan_copy(&self, layouts: [Layout; 3], sheet: &mut Sheet<T>) {
        let extent = |dim: usize, rows: usize| layouts[dim].extent(self.reaches[dim], rows);
        let mut pitches = [1; 3];
        for dim in (0..2).rev() {
            pitches[dim] = pitches[dim + 1] * extent(dim + 1, self.reaches[dim + 1].rows);
        }
        let mut top = 0;
        for segment in &mut sheet.segments {
            let runs = [0, 1, 2].map(|dim| {
                let all = 0..self.reaches[dim].rows;
                layouts[dim]
                    .runs(self.reaches[dim], if dim == self.lead { segment.lines.clone() } else { all })
            });
            self.list_runs(&runs, pitches, [top, segment.item * self.source.item], &mut sheet.runs);
            self.list_rows(layouts, pitches, top, segment, &mut sheet.rows);
            top += extent(self.lead, segment.lines.len()) * pitches[self.lead];
        }
        self.list_steps(layouts, pitches, top, &mut sheet.steps);
        sheet.plane = top;
        sheet.copy.clear();
        sheet.copy.resize(self.channels * top, T::ZERO);
    }

    /// Appends where the rows of a segment are.
    fn list_rows(
        &self,
        layouts: [Layout; 3],
        pitches: [usize; 3],
        base: usize,
        segment: &mut Segment,
        rows: &mut Vec<usize>,
    ) {
        let first = rows.len();
        let lists = [0, 1, 2].map(|dim| {
            let count = match dim {
                2 if self.has_lines => 1,
                _ if dim == self.lead => segment.lines.len(),
                _ => self.reaches[dim].rows,
            };
            let step = (layouts[dim].row_pitch(self.reaches[dim]) * pitches[dim]) as isize;
            Even { first: 0, step, count }
        });
        Even::sums(base, lists, rows);
        segment.listed = first..rows.len();
    }

    /// Writes how much further the taps of all channels are.
    fn list_steps(&self, layouts: [Layout; 3], pitches: [usize; 3], channel: usize, steps: &mut Vec<usize>) {
        let taps = [0, 1, 2].map(|dim| {
            let Even { first, step, count } = layouts[dim].taps(self.reaches[dim]);
            Even { first: first * pitches[dim], step: step * pitches[dim] as isize, count }
        });
        steps.clear();
        (0..self.channels).for_each(|n| Even::sums(n * channel, taps, steps));
    }

    /// Appends what is copied of each line, from the starts of the copy and of the source on.
    fn list_runs(
        &self,
        [outer, middle, inner]: &[Vec<Run>; 3],
        pitches: [usize; 3],
        [top, item]: [usize; 2],
        runs: &mut Vec<Run>,
    ) {
        let [far, near, next] = self.source.pitches;
        for (a, b) in outer.iter().flat_map(Run::each) {
            for (c, d) in middle.iter().flat_map(Run::each) {
                runs.extend(inner.iter().map(|run| Run {
                    to: top + a * pitches[0] + c * pitches[1] + run.to,
                    from: item + b * far + d * near + run.from * next,
                    step: run.step * next,
                    len: run.len,
                }));
            }
        }
    }
}

/// Copies runs from one address on to another.
///
/// # Safety
/// They lie in memory that can be read, and written.
unsafe fn copy_runs<T: Copy>(runs: &[Run], from: *const T, to: *mut T) {
    #[cfg(target_arch = "x86_64")]
    if is_wide() {
        // SAFETY: the processor has these features; the rest is passed on.
        return unsafe { copy_runs_wide(runs, from, to) };
    }
    // SAFETY: passed on.
    unsafe { copy_runs_any(runs, from, to) }
}

/// # Safety
/// As [`copy_runs`], on a processor that has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn copy_runs_wide<T: Copy>(runs: &[Run], from: *const T, to: *mut T) {
    // SAFETY: passed on.
    unsafe { copy_runs_any(runs, from, to) }
}

/// # Safety
/// As [`copy_runs`].
#[inline(always)]
unsafe fn copy_runs_any<T: Copy>(runs: &[Run], from: *const T, to: *mut T) {
    const BLOCK: usize = 8;
    for Run { to: place, from: pixel, step, len } in runs {
        let (from, to) = (from.wrapping_add(*pixel), to.wrapping_add(*place));
        if *step == 1 && *len >= BLOCK {
            // The last block may overlap the one before.
            let mut i = 0;
            loop {
                // SAFETY: so many elements of the run.
                unsafe { to.add(i).cast::<[T; BLOCK]>().write(from.add(i).cast::<[T; BLOCK]>().read()) };
                if i + BLOCK >= *len {
                    break;
                }
                i = (i + BLOCK).min(len - BLOCK);
            }
            continue;
        }
        // SAFETY: the elements of the run; where the step is known, this vectorises.
        unsafe {
            match *step {
                2 => pick(from, 2, to, *len),
                step => pick(from, step, to, *len),
            }
        }
    }
}

/// Copies each of so many elements that lie `step` apart.
///
/// # Safety
/// They can be read, and written.
#[inline(always)]
unsafe fn pick<T: Copy>(from: *const T, step: usize, to: *mut T, len: usize) {
    for i in 0..len {
        // SAFETY: by contract.
        unsafe { to.add(i).write(from.add(i * step).read()) };
    }
}
