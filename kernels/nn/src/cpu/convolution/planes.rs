//! Tensors of images as convolutions read and write them, with any strides.
#![expect(unsafe_code, reason = "reads and writes strided tensors that threads share")]

use std::mem::MaybeUninit;
use std::ops::Range;

use torch_library::{Element, OwnedLease, Result, Tensor, ensure};

use super::receptive_field::{Even, ReceptiveField, ReceptiveFields};
use crate::cpu::matmul::implicit_gemm::WIDTH;
use crate::inlined::from_fn;
use crate::loops::transpose::transpose;
use crate::number::Number;

/// The number of rows that are transposed together where those of a channel are not contiguous.
const TOGETHER: usize = 64;

/// A tensor `[batch, channels, …]` with any strides and three spatial dimensions.
pub(super) struct Planes<T> {
    pub(super) data: *mut T,
    pub(super) strides: Strides,
    pub(super) channels: usize,
    _lease: OwnedLease,
}

/// The strides of its items, channels and pixels.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Strides {
    pub(super) item: usize,
    pub(super) channel: usize,
    pub(super) pitches: [usize; 3],
}

// SAFETY: the address is valid while the lease is held, which is as long as `self` lives; functions that dereference it
// are `unsafe`, and their callers argue which thread writes where.
unsafe impl<T: Sync> Sync for Planes<T> {}

impl<T: Element> Planes<T> {
    /// Planes for reading.
    ///
    /// # Errors
    /// Memory that the host cannot access, elements of another type.
    pub(super) fn of(tensor: &Tensor) -> Result<Self> {
        let lease = OwnedLease::shared(tensor.clone())?;
        let data = tensor.data_ptr::<T>(&lease)?.cast_mut();
        Self::at(data, lease)
    }

    /// Planes for writing.
    ///
    /// # Errors
    /// The errors of [`of`](Self::of).
    pub(super) fn written(tensor: &Tensor) -> Result<Self> {
        let lease = OwnedLease::exclusive(tensor.clone())?;
        let data = tensor.data_ptr_mut(&lease)?;
        Self::at(data, lease)
    }

    fn at(data: *mut T, lease: OwnedLease) -> Result<Self> {
        let tensor = lease.tensor();
        ensure!(tensor.dim() > 2, Shape, "sizes {:?} are not those of planes", tensor.sizes());
        let strides = tensor.strides();
        let mut pitches = [0; 3];
        for (pitch, stride) in pitches.iter_mut().rev().zip(strides[2..].iter().rev()) {
            *pitch = *stride as usize;
        }
        let strides = Strides { item: strides[0] as usize, channel: strides[1] as usize, pitches };
        let channels = tensor.sizes()[1] as usize;
        Ok(Planes { data, strides, channels, _lease: lease })
    }
}

/// Copies a row of up to [`WIDTH`] numbers: a whole one by vectors, without a call of `memcpy`.
///
/// # Safety
/// - `count` numbers, at most [`WIDTH`], can be read from `from` and written to `to`, in other memory.
#[inline(always)]
unsafe fn copy_row<T: Copy>(from: *const T, to: *mut T, count: usize) {
    // SAFETY: the caller guarantees as many numbers; arrays of them need no other alignment.
    unsafe {
        match count {
            WIDTH => to.cast::<[T; WIDTH]>().write(from.cast::<[T; WIDTH]>().read()),
            _ => from.copy_to_nonoverlapping(to, count),
        }
    }
}

/// Lines of rows that belong to one image.
pub(super) struct Segment {
    pub(super) item: usize,
    /// The lines, counted in the first spatial dimension that exists.
    pub(super) lines: Range<usize>,
    /// The number of the first row among those of the plan, and the number of rows.
    pub(super) first: usize,
    pub(super) count: usize,
    /// The range of these rows in the plan's list, or of their lines if it lists lines.
    pub(super) listed: Range<usize>,
}

/// The pixels that the rows of a product are written to.
pub(super) struct Target<T> {
    planes: Planes<T>,
    fields: [ReceptiveField; 3],
    lead: usize,
    /// Whether the rows of an image are contiguous.
    pub(super) is_dense: bool,
}

impl<T: Number> Target<T> {
    pub(super) fn new(planes: Planes<T>, fields: ReceptiveFields) -> Self {
        let ReceptiveFields { each: fields, lead } = fields;
        let mut pitch = 1;
        let is_dense = (0..3).rev().all(|dim| {
            let is_next =
                fields[dim].rows == 1 || fields[dim].of_row[1] * planes.strides.pitches[dim] == pitch;
            pitch *= fields[dim].rows;
            is_next
        });
        Target { planes, fields, lead, is_dense }
    }

    /// The number of channels.
    pub(super) fn channels(&self) -> usize {
        self.planes.channels
    }

    /// The stride of channels.
    pub(super) fn pitch(&self) -> usize {
        self.planes.strides.channel
    }

    /// The address of the first row of a segment in a channel.
    pub(super) fn at(&self, segment: &Segment, channel: usize) -> *mut T {
        let Strides { item, channel: pitch, pitches } = self.planes.strides;
        let start = |dim: usize| {
            let [first, step] = self.fields[dim].of_row;
            (first + if dim == self.lead { segment.lines.start * step } else { 0 }) * pitches[dim]
        };
        self.planes.data.wrapping_add(segment.item * item + channel * pitch + start(0) + start(1) + start(2))
    }

    /// The offsets of a segment's rows from its first one.
    fn rows(&self, segment: &Segment) -> Vec<usize> {
        let mut rows = Vec::with_capacity(segment.count);
        let all = from_fn(|dim| {
            let step = (self.fields[dim].of_row[1] * self.planes.strides.pitches[dim]) as isize;
            let count = if dim == self.lead { segment.lines.len() } else { self.fields[dim].rows };
            Even { first: 0, step, count }
        });
        Even::sums(0, all, &mut rows);
        rows
    }

    /// Writes rows of [`WIDTH`] numbers, of which the first `count` are used, to `count` channels.
    ///
    /// # Safety
    /// - The planes were made by [`written`](Planes::written), and the segments name pixels of them.
    /// - There are `count` channels from this one on, at most [`WIDTH`].
    /// - `rows` has as many rows as the segments, each with `count` numbers that can be read.
    /// - Nothing else uses the segments' pixels of these channels.
    pub(super) unsafe fn write(&self, segments: &[Segment], channel: usize, count: usize, rows: *const T) {
        for segment in segments {
            let (to, from, pitch) =
                (self.at(segment, channel), rows.wrapping_add(segment.first * WIDTH), self.pitch());
            // SAFETY: the segment has `segment.count` rows from its `first` on in `rows`, and their pixels in each
            // channel, `pitch` apart: the caller vouches for both, and that nothing else uses these pixels.
            unsafe {
                if self.is_dense && pitch > 1 {
                    transpose(from, WIDTH as isize, [segment.count, count], to, pitch);
                    continue;
                }
                let places = self.rows(segment);
                if pitch == 1 {
                    for (row, place) in places.into_iter().enumerate() {
                        copy_row(from.add(row * WIDTH), to.add(place), count);
                    }
                    continue;
                }
                let mut columns = [const { MaybeUninit::<[T; TOGETHER]>::uninit() }; WIDTH];
                for (n, places) in places.chunks(TOGETHER).enumerate() {
                    let (from, columns) = (from.add(n * TOGETHER * WIDTH), columns.as_mut_ptr().cast::<T>());
                    transpose(from, WIDTH as isize, [places.len(), count], columns, TOGETHER);
                    for j in 0..count {
                        let (to, column) = (to.add(j * pitch), columns.add(j * TOGETHER));
                        for (row, place) in places.iter().enumerate() {
                            to.add(*place).write(column.add(row).read());
                        }
                    }
                }
            }
        }
    }

    /// Writes columns of numbers, one number for each row, to `count` channels.
    ///
    /// # Safety
    /// - The planes were made by [`written`](Planes::written), and the segments name pixels of them.
    /// - There are `count` channels from this one on.
    /// - Nothing else uses the segments' pixels of these channels.
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
                    // SAFETY: a pixel of the segment in one of the channels: the caller vouches for both, and that
                    // nothing else uses it.
                    unsafe { to.add(*place).write(*x) };
                }
            }
        }
    }

    /// Reads some of the rows of `count` channels, as rows of [`WIDTH`] numbers.
    ///
    /// # Safety
    /// - The segments name pixels of the planes, and have these rows.
    /// - There are `count` channels from this one on, at most [`WIDTH`].
    /// - `to` has room for a row of [`WIDTH`] numbers for each of the rows.
    /// - Nothing writes to these pixels during the call: the planes hold the lease.
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
            // SAFETY: rows `skipped..skipped + len` of the segment, whose pixels in each channel, `pitch` apart, the
            // caller vouches for, as well as for the room; the lease excludes writers.
            unsafe {
                if self.is_dense && pitch > 1 {
                    transpose(from.add(skipped), pitch as isize, [count, len], to, WIDTH);
                    continue;
                }
                for (row, place) in self.rows(segment)[skipped..][..len].iter().enumerate() {
                    let (from, to) = (from.add(*place), to.add(row * WIDTH));
                    if pitch == 1 {
                        copy_row(from, to, count);
                        continue;
                    }
                    (0..count).for_each(|j| to.add(j).write(from.add(j * pitch).read()));
                }
            }
        }
    }
}
