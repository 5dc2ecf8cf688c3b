//! Pixels as a window meets them: where they are if all lie inside of the images, else in a copy with zeros around them.
#![expect(unsafe_code, reason = "reads and writes strided tensors that threads share")]

use std::ops::Range;

use torch_library::{Element, Result, Tensor};

use super::Axis;
use crate::cpu::loops::across::turned;
use crate::cpu::matmul::scattered::WIDTH;
use crate::cpu::number::Number;

/// Where the taps of a window meet a line of pixels: row `i` of the result and tap `j` at `row_step * i + tap_step * j + first`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    pub(super) rows: usize,
    pub(super) taps: usize,
    row_step: isize,
    tap_step: isize,
    first: isize,
    /// How many pixels there are; what is met elsewhere is zero.
    size: usize,
    /// Which pixel of the result the first row is, and how many pixels the next is further.
    pub(super) of_row: [usize; 2],
    /// The same of the taps.
    pub(super) of_tap: [usize; 2],
}

impl Reach {
    /// Of a direction that is not there.
    const NONE: Reach = Reach {
        rows: 1,
        taps: 1,
        row_step: 1,
        tap_step: 1,
        first: 0,
        size: 1,
        of_row: [0, 1],
        of_tap: [0, 1],
    };

    /// From the places of a window to the pixels under it.
    pub(super) fn of_places(axis: Axis, image: i64, places: i64) -> Self {
        Reach {
            rows: places as usize,
            taps: axis.kernel as usize,
            row_step: axis.stride as isize,
            tap_step: axis.dilation as isize,
            first: -axis.padding as isize,
            size: image as usize,
            ..Reach::NONE
        }
    }

    /// From each pixel in a number of `stride` to the places whose window covers it, by the taps that do.
    pub(super) fn of_pixels(axis: Axis, image: i64, places: i64, phase: i64) -> Self {
        let Axis { kernel, stride, padding, dilation } = axis;
        let place = |tap: i64| phase + padding - tap * dilation; // times the stride
        let mut taps = (0..kernel.min(stride)).filter(|tap| place(*tap) % stride == 0);
        let found = taps.next();
        let (first, period) =
            (found.unwrap_or(0), taps.next().map_or(stride, |next| next - found.unwrap_or(0)));
        Reach {
            rows: (image - phase + stride - 1).div_euclid(stride).max(0) as usize,
            taps: found.map_or(0, |first| (kernel - first + period - 1).div_euclid(period)) as usize,
            row_step: 1,
            tap_step: -(period * dilation / stride) as isize,
            first: place(first).div_euclid(stride) as isize,
            size: places as usize,
            of_row: [phase as usize, stride as usize],
            of_tap: [first as usize, period as usize],
        }
    }

    /// Directions as three, and which of these is the first that is there.
    pub(super) fn three(reaches: &[Reach]) -> ([Reach; 3], usize) {
        let (mut three, lead) = ([Reach::NONE; 3], 3 - reaches.len());
        three[lead..].copy_from_slice(reaches);
        (three, lead)
    }

    /// The first pixel that a tap meets in row 0.
    fn low(self) -> isize {
        self.first + (self.tap_step * (self.taps as isize - 1)).min(0)
    }

    /// How many pixels there are from the first to the last that some rows meet.
    fn span(self, rows: usize) -> usize {
        let taps = self.tap_step.unsigned_abs() * self.taps.saturating_sub(1);
        self.row_step as usize * (rows - 1) + taps + 1
    }

    fn is_inside(self) -> bool {
        self.low() >= 0 && self.low() as usize + self.span(self.rows) <= self.size
    }

    /// How a copy of what is met is laid out.
    fn layout(self, has_lines: bool) -> Layout {
        match self.taps * self.rows < self.span(self.rows) {
            _ if has_lines && self.row_step > 1 => Layout::TapByTap,
            true => Layout::RowByRow,
            false => Layout::Pixels,
        }
    }
}

/// How a line of pixels is laid out in a copy.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    /// As it is.
    Pixels,
    /// For each row what its taps meet, if there are more pixels between.
    RowByRow,
    /// For each tap what it meets, so that rows are neighbours.
    TapByTap,
}

/// Equidistant numbers.
#[derive(Clone, Copy)]
struct Even {
    first: usize,
    step: isize,
    count: usize,
}

impl Even {
    fn each(self) -> impl Iterator<Item = usize> + Clone {
        (0..self.count).map(move |i| (self.first as isize + i as isize * self.step) as usize)
    }

    /// Appends the sums of one number from each list, those of the last changing first.
    fn sums(base: usize, lists: [Even; 3], to: &mut Vec<usize>) {
        let [outer, middle, inner] = lists;
        for a in outer.each() {
            for b in middle.each() {
                to.extend(inner.each().map(|c| base + a + b + c));
            }
        }
    }
}

/// Pixels that lie equally far apart, which are copied side by side.
#[derive(Clone, Copy)]
struct Run {
    to: usize,
    from: usize,
    step: usize,
    len: usize,
}

impl Layout {
    /// How far apart rows are.
    fn row_pitch(self, reach: Reach) -> usize {
        match self {
            Layout::Pixels => reach.row_step as usize,
            Layout::RowByRow => reach.taps,
            Layout::TapByTap => 1,
        }
    }

    /// Where taps are.
    fn taps(self, reach: Reach) -> Even {
        let (first, step) = match self {
            Layout::Pixels => ((reach.first - reach.low()) as usize, reach.tap_step),
            Layout::RowByRow => (0, 1),
            Layout::TapByTap => (0, reach.rows as isize),
        };
        Even { first, step, count: reach.taps }
    }

    /// How much room some rows take.
    fn extent(self, reach: Reach, rows: usize) -> usize {
        if self == Layout::Pixels { reach.span(rows) } else { rows * reach.taps }
    }

    /// The pixels that some rows meet.
    fn runs(self, reach: Reach, rows: Range<usize>) -> Vec<Run> {
        let start = reach.row_step * rows.start as isize;
        let run = |to: usize, first: isize, step: isize, count: usize| {
            let skipped = if first < 0 { (-first).unsigned_abs().div_ceil(step as usize) } else { 0 };
            let from = first + skipped as isize * step;
            let inside = (reach.size as isize - from).max(0).unsigned_abs().div_ceil(step as usize);
            let len = inside.min(count.saturating_sub(skipped));
            (len > 0).then_some(Run { to: to + skipped, from: from as usize, step: step as usize, len })
        };
        let at = |tap: usize| start + reach.first + tap as isize * reach.tap_step;
        match self {
            Layout::Pixels => run(0, start + reach.low(), 1, reach.span(rows.len())).into_iter().collect(),
            Layout::TapByTap => {
                let tap = |tap| run(tap * reach.rows, at(tap), reach.row_step, rows.len());
                (0..reach.taps).filter_map(tap).collect()
            }
            Layout::RowByRow => {
                let row = |row| (0..reach.taps).map(move |tap| (row, tap));
                let one =
                    |(row, tap)| run(row * reach.taps + tap, at(tap) + row as isize * reach.row_step, 1, 1);
                (0..rows.len()).flat_map(row).filter_map(one).collect()
            }
        }
    }
}

/// A tensor `[batch, channels, …]` of any strides, with three directions of pixels.
pub(super) struct Planes<T> {
    data: *mut T,
    item: usize,
    channel: usize,
    pitches: [usize; 3],
    /// Keeps the memory.
    _tensor: Tensor,
}

// SAFETY: a plain address; which thread writes where is for the callers of the functions that do.
unsafe impl<T: Sync> Sync for Planes<T> {}

impl<T: Element> Planes<T> {
    /// # Errors
    /// Memory that the host does not reach, elements of another type.
    pub(super) fn of(tensor: &Tensor) -> Result<Self> {
        let (data, strides) = (tensor.data_ptr()?, tensor.strides());
        let mut pitches = [0; 3];
        for (pitch, stride) in pitches.iter_mut().rev().zip(strides[2..].iter().rev()) {
            *pitch = *stride as usize;
        }
        let (item, channel) = (strides[0] as usize, strides[1] as usize);
        Ok(Planes { data, item, channel, pitches, _tensor: tensor.clone() })
    }
}

/// Some lines of rows: those of one image.
pub(super) struct Segment {
    item: usize,
    /// Of the first direction.
    lines: Range<usize>,
    /// Which row is the first of them, and how many there are.
    pub(super) first: usize,
    pub(super) count: usize,
}

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
    copy: Vec<T>,
    pub(super) rows: Vec<usize>,
    pub(super) steps: Vec<usize>,
    pub(super) segments: Vec<Segment>,
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
        sheet.segments.clear();
        let (mut line, mut first) = (lines.start, 0);
        while line < lines.end {
            let (item, from) = (line / self.lines(), line % self.lines());
            let len = (self.lines() - from).min(lines.end - line);
            let count = len * self.per_line();
            sheet.segments.push(Segment { item, lines: from..from + len, first, count });
            (line, first) = (line + len, first + count);
        }
        let source = self.source.data.wrapping_add(channel * self.source.channel);
        match self.layouts {
            // SAFETY: passed on.
            Some(layouts) => unsafe { self.copy(source, layouts, sheet) },
            None => {
                self.list([Layout::Pixels; 3], self.source.pitches, self.source.channel, sheet, |segment| {
                    let low = |dim: usize| self.reaches[dim].low() as usize * self.source.pitches[dim];
                    let lead = self.reaches[self.lead].row_step as usize * self.source.pitches[self.lead];
                    segment.item * self.source.item + low(0) + low(1) + low(2) + segment.lines.start * lead
                });
                source
            }
        }
    }

    /// Writes the lists of rows and steps.
    fn list(
        &self,
        layouts: [Layout; 3],
        pitches: [usize; 3],
        channel: usize,
        sheet: &mut Sheet<T>,
        mut base: impl FnMut(&Segment) -> usize,
    ) {
        sheet.rows.clear();
        for segment in &sheet.segments {
            let rows = [0, 1, 2].map(|dim| {
                let (reach, pitch) = (self.reaches[dim], pitches[dim]);
                let count = match dim {
                    2 if self.has_lines => 1,
                    _ if dim == self.lead => segment.lines.len(),
                    _ => reach.rows,
                };
                Even { first: 0, step: (layouts[dim].row_pitch(reach) * pitch) as isize, count }
            });
            Even::sums(base(segment), rows, &mut sheet.rows);
        }
        sheet.steps.clear();
        for n in 0..self.channels {
            let taps = [0, 1, 2].map(|dim| {
                let Even { first, step, count } = layouts[dim].taps(self.reaches[dim]);
                Even { first: first * pitches[dim], step: step * pitches[dim] as isize, count }
            });
            Even::sums(n * channel, taps, &mut sheet.steps);
        }
    }

    /// Copies what the lines of all segments meet, one below the other.
    ///
    /// # Safety
    /// As [`lay`](Self::lay).
    unsafe fn copy(&self, source: *const T, layouts: [Layout; 3], sheet: &mut Sheet<T>) -> *const T {
        let extent = |dim: usize, rows: usize| layouts[dim].extent(self.reaches[dim], rows);
        let height: usize = sheet.segments.iter().map(|segment| extent(self.lead, segment.lines.len())).sum();
        let mut pitches = [1; 3];
        for dim in (0..2).rev() {
            pitches[dim] = pitches[dim + 1] * extent(dim + 1, self.reaches[dim + 1].rows);
        }
        if self.lead == 2 {
            pitches = [height, height, 1];
        }
        let plane = height * pitches[self.lead];
        sheet.copy.clear();
        sheet.copy.resize(self.channels * plane, T::ZERO);
        let mut tops = Vec::with_capacity(sheet.segments.len());
        let mut top = 0;
        for segment in &sheet.segments {
            let runs = [0, 1, 2].map(|dim| {
                let all = 0..self.reaches[dim].rows;
                layouts[dim]
                    .runs(self.reaches[dim], if dim == self.lead { segment.lines.clone() } else { all })
            });
            let lines = self.lines_of(&runs, pitches);
            for n in 0..self.channels {
                let from = source.wrapping_add(segment.item * self.source.item + n * self.source.channel);
                let to = sheet.copy.as_mut_ptr().wrapping_add(n * plane + top * pitches[self.lead]);
                for (Run { step, len, .. }, [to_line, from_line]) in &lines {
                    // SAFETY: what the runs name lies in the image, and in the copy.
                    unsafe {
                        copy_line(from.wrapping_add(*from_line), *step, to.wrapping_add(*to_line), *len)
                    };
                }
            }
            tops.push(top * pitches[self.lead]);
            top += extent(self.lead, segment.lines.len());
        }
        let mut tops = tops.into_iter();
        self.list(layouts, pitches, plane, sheet, |_| tops.next().unwrap_or_default());
        sheet.copy.as_ptr()
    }

    /// All runs of the last direction, and where they start, here and there.
    fn lines_of<'r>(
        &self,
        [outer, middle, inner]: &'r [Vec<Run>; 3],
        pitches: [usize; 3],
    ) -> Vec<(Run, [usize; 2])> {
        let each = |runs: &'r [Run]| {
            runs.iter().flat_map(|run| (0..run.len).map(|i| [run.to + i, run.from + i * run.step]))
        };
        let [far, near, next] = self.source.pitches;
        let mut lines = Vec::new();
        for [a, b] in each(outer) {
            for [c, d] in each(middle) {
                for run in inner {
                    let to = a * pitches[0] + c * pitches[1] + run.to;
                    let run = Run { step: run.step * next, ..*run };
                    lines.push((run, [to, b * far + d * near + run.from * next]));
                }
            }
        }
        lines
    }
}

/// # Safety
/// So many elements can be read and written.
unsafe fn copy_line<T: Copy>(from: *const T, step: usize, to: *mut T, len: usize) {
    // SAFETY: by contract.
    unsafe {
        if step == 1 {
            return from.copy_to_nonoverlapping(to, len);
        }
        for i in 0..len {
            to.add(i).write(from.add(i * step).read());
        }
    }
}

/// The pixels that rows of a result stand for.
pub(super) struct Target<T> {
    planes: Planes<T>,
    reaches: [Reach; 3],
    lead: usize,
    /// Whether the rows of an image follow each other.
    pub(super) is_dense: bool,
}

impl<T: Number> Target<T> {
    pub(super) fn new(planes: Planes<T>, reaches: &[Reach]) -> Self {
        let (reaches, lead) = Reach::three(reaches);
        let mut pitch = 1;
        let is_dense = (0..3).rev().all(|dim| {
            let is_next = reaches[dim].rows == 1 || reaches[dim].of_row[1] * planes.pitches[dim] == pitch;
            pitch *= reaches[dim].rows;
            is_next
        });
        Target { planes, reaches, lead, is_dense }
    }

    /// How far apart channels are.
    pub(super) fn pitch(&self) -> usize {
        self.planes.channel
    }

    /// Where the first row of a segment goes, or comes from.
    pub(super) fn at(&self, segment: &Segment, channel: usize) -> *mut T {
        let Planes { data, item, channel: pitch, pitches, .. } = &self.planes;
        let start = |dim: usize| {
            let [first, step] = self.reaches[dim].of_row;
            (first + if dim == self.lead { segment.lines.start * step } else { 0 }) * pitches[dim]
        };
        data.wrapping_add(segment.item * item + channel * pitch + start(0) + start(1) + start(2))
    }

    /// Where its rows are, from the first on.
    fn rows(&self, segment: &Segment) -> Vec<usize> {
        let mut rows = Vec::with_capacity(segment.count);
        let all = [0, 1, 2].map(|dim| {
            let step = (self.reaches[dim].of_row[1] * self.planes.pitches[dim]) as isize;
            let count = if dim == self.lead { segment.lines.len() } else { self.reaches[dim].rows };
            Even { first: 0, step, count }
        });
        Even::sums(0, all, &mut rows);
        rows
    }

    /// Writes rows of [`WIDTH`] numbers to so many channels.
    ///
    /// # Safety
    /// There are as many rows as the segments have, and nobody else looks at their pixels of these channels.
    pub(super) unsafe fn write(&self, segments: &[Segment], channel: usize, count: usize, rows: *const T) {
        for segment in segments {
            let (to, from, pitch) =
                (self.at(segment, channel), rows.wrapping_add(segment.first * WIDTH), self.pitch());
            // SAFETY: the segment's rows, by contract.
            unsafe {
                if self.is_dense && pitch > 1 {
                    turned(from, WIDTH as isize, [segment.count, count], to, pitch);
                    continue;
                }
                for (row, place) in self.rows(segment).into_iter().enumerate() {
                    let (from, to) = (from.add(row * WIDTH), to.add(place));
                    (0..count).for_each(|j| to.add(j * pitch).write(from.add(j).read()));
                }
            }
        }
    }

    /// Writes columns of numbers, one for each row, to so many channels.
    ///
    /// # Safety
    /// As [`write`](Self::write).
    pub(super) unsafe fn write_columns(
        &self,
        segments: &[Segment],
        channel: usize,
        count: usize,
        columns: &[T],
    ) {
        for segment in segments {
            let rows = self.rows(segment);
            for (j, column) in columns.chunks_exact(columns.len() / count).enumerate() {
                let to = self.at(segment, channel + j);
                for (place, x) in rows.iter().zip(&column[segment.first..]) {
                    // SAFETY: a pixel of the segment, by contract.
                    unsafe { to.add(*place).write(*x) };
                }
            }
        }
    }

    /// Reads some of the rows of so many channels, as rows of [`WIDTH`] numbers.
    ///
    /// # Safety
    /// The segments have such rows; there is room for them, and nobody writes to them meanwhile.
    pub(super) unsafe fn read(
        &self,
        segments: &[Segment],
        rows: Range<usize>,
        channel: usize,
        count: usize,
        to: *mut T,
    ) {
        for segment in segments {
            let (start, end) = (rows.start.max(segment.first), rows.end.min(segment.first + segment.count));
            if start >= end {
                continue;
            }
            let (from, pitch) = (self.at(segment, channel), self.pitch());
            let (skipped, len) = (start - segment.first, end - start);
            let to = to.wrapping_add((start - rows.start) * WIDTH);
            // SAFETY: rows of the segment, by contract.
            unsafe {
                if self.is_dense && pitch > 1 {
                    turned(from.add(skipped), pitch as isize, [count, len], to, WIDTH);
                    continue;
                }
                for (row, place) in self.rows(segment)[skipped..][..len].iter().enumerate() {
                    let (from, to) = (from.add(*place), to.add(row * WIDTH));
                    (0..count).for_each(|j| to.add(j).write(from.add(j * pitch).read()));
                }
            }
        }
    }
}
