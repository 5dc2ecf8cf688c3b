//! Prefetches memory: what is used in a few steps into the L1 cache, what is used later into the L2 cache.
#![expect(unsafe_code, reason = "calls an instruction that every processor of this architecture has")]

use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};

use super::Matrices;

/// The number of rows between the one that is used and the one that is prefetched.
pub(super) const AHEAD: usize = 8;

/// The size of a cache line in bytes.
const LINE: usize = 64;

/// Prefetches some elements, if they are in memory at all.
#[inline(always)]
pub(super) fn fetch<T>(from: *const T, count: usize) {
    for offset in (0..count * size_of::<T>()).step_by(LINE) {
        // SAFETY: every processor of this architecture has the instruction, which does nothing with an address that
        // cannot be read.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast::<i8>().wrapping_add(offset)) };
    }
}

/// A part of a matrix that is read later. The steps of a tile fetch it line by line, so that it comes from memory while
/// the processor computes: else packing it would wait for each line, and no processor prefetches across pages.
#[derive(Clone, Copy)]
pub(super) struct Later<T> {
    from: *const T,
    /// The number of elements from one contiguous row to the next.
    pitch: isize,
    /// The binary logarithm of the number of cache lines of a row.
    lines: u32,
    /// The number of lines that a step fetches, times [`ONE`].
    rate: usize,
}

/// A line in each step.
const ONE: usize = 1 << 8;

impl<T> Later<T> {
    /// One of `parts` equal parts of a matrix that is contiguous in one direction, fetched in `steps` steps.
    #[inline(always)]
    pub(super) fn part(matrix: Matrices<T>, part: usize, parts: usize, steps: usize) -> Self {
        let (rows, columns, pitch) = match matrix.column_stride {
            1 => (matrix.rows, matrix.columns, matrix.row_stride),
            pitch => (matrix.columns, matrix.rows, pitch),
        };
        // A row that does not begin with a line ends in one more.
        let lines = (columns * size_of::<T>()).div_ceil(LINE).next_power_of_two().trailing_zeros();
        let rate = ((rows << lines) * ONE).div_ceil(parts * steps);
        let from = matrix.data.wrapping_offset((rows * part / parts) as isize * pitch);
        Later { from, pitch, lines, rate }
    }

    /// No part: each step fetches the line that `used` is in, which the caches hold. A tile is compiled once for both.
    #[inline(always)]
    pub(super) fn nothing(used: *const T) -> Self {
        Later { from: used, pitch: 0, lines: 0, rate: 0 }
    }

    /// Prefetches the line that belongs to a step, if it is in memory at all.
    #[inline(always)]
    pub(super) fn fetch(self, step: usize) {
        let line = step * self.rate / ONE;
        let row = self.from.wrapping_offset((line >> self.lines) as isize * self.pitch);
        let offset = (line & ((1 << self.lines) - 1)) * LINE;
        // SAFETY: every processor of this architecture has the instruction, which does nothing with an address that
        // cannot be read.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(row.cast::<i8>().wrapping_add(offset)) };
    }
}
