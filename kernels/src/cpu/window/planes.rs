//! Tensors of images as convolutions read and write them: wherever their pixels lie.
#![expect(unsafe_code, reason = "reads and writes strided tensors that threads share")]

use std::ops::Range;

use torch_library::{Element, Result, Tensor};

use super::reach::{Even, Reach, Reaches};
use crate::cpu::loops::across::turned;
use crate::cpu::matmul::scattered::WIDTH;
use crate::cpu::number::Number;

/// A tensor `[batch, channels, …]` of any strides, with three directions of pixels.
pub(super) struct Planes<T> {
    pub(super) data: *mut T,
    pub(super) strides: Strides,
    pub(super) channels: usize,
    /// Keeps the memory.
    _tensor: Tensor,
}

/// How far apart its items, channels and pixels are.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Strides {
    pub(super) item: usize,
    pub(super) channel: usize,
    pub(super) pitches: [usize; 3],
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
        let strides = Strides { item: strides[0] as usize, channel: strides[1] as usize, pitches };
        let channels = tensor.sizes()[1] as usize;
        Ok(Planes { data, strides, channels, _tensor: tensor.clone() })
    }
}

/// Some lines of rows: those of one image.
pub(super) struct Segment {
    pub(super) item: usize,
    /// Of the first direction.
    pub(super) lines: Range<usize>,
    /// Which row is the first of them, and how many there are.
    pub(super) first: usize,
    pub(super) count: usize,
    /// Where the list of rows has them, or the lines that they are in.
    pub(super) listed: Range<usize>,
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
    pub(super) fn new(planes: Planes<T>, reaches: Reaches) -> Self {
        let Reaches { each: reaches, lead } = reaches;
        let mut pitch = 1;
        let is_dense = (0..3).rev().all(|dim| {
            let is_next =
                reaches[dim].rows == 1 || reaches[dim].of_row[1] * planes.strides.pitches[dim] == pitch;
            pitch *= reaches[dim].rows;
            is_next
        });
        Target { planes, reaches, lead, is_dense }
    }

    /// How many channels there are.
    pub(super) fn channels(&self) -> usize {
        self.planes.channels
    }

    /// How far apart they are.
    pub(super) fn pitch(&self) -> usize {
        self.planes.strides.channel
    }

    /// Where the first row of a segment goes, or comes from.
    pub(super) fn at(&self, segment: &Segment, channel: usize) -> *mut T {
        let Strides { item, channel: pitch, pitches } = self.planes.strides;
        let start = |dim: usize| {
            let [first, step] = self.reaches[dim].of_row;
            (first + if dim == self.lead { segment.lines.start * step } else { 0 }) * pitches[dim]
        };
        self.planes.data.wrapping_add(segment.item * item + channel * pitch + start(0) + start(1) + start(2))
    }

    /// Where its rows are, from the first on.
    fn rows(&self, segment: &Segment) -> Vec<usize> {
        let mut rows = Vec::with_capacity(segment.count);
        let all = [0, 1, 2].map(|dim| {
            let step = (self.reaches[dim].of_row[1] * self.planes.strides.pitches[dim]) as isize;
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
