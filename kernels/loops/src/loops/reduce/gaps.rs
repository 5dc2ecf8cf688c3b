//! Reductions of rows with gaps between them, which are too short for a loop each: their columns are folded side by
//! side, and then to one value.
#![expect(unsafe_code, reason = "reads rows through pointers that a walk keeps in bounds")]

use std::mem::MaybeUninit;
use std::ops::Range;

use torch_library::Element;

use super::wide::{Lines, StepsOfHalves, merged, narrow_steps, slice, steps_of_halves};
use super::{BLOCK, Fold, Folding, LONG, TOGETHER, fill};
use crate::loops::halves::Half;

/// Elements of shorter rows are loaded into a buffer first.
const SHORTEST: usize = 4;

/// Fewer rows are folded one after the other: it takes a while to merge their columns.
const FEWEST: usize = 8;

/// The position of each column of a row.
static COLUMNS: [u32; LONG] = {
    let mut columns = [0; LONG];
    let mut column = 0;
    while column < LONG {
        columns[column] = column as u32;
        column += 1;
    }
    columns
};

impl<M: Element, F: Fold<M>> Folding<'_, M, F> {
    /// Whether the elements of a result are rows whose columns [`leaf_of_rows`](Self::leaf_of_rows) can fold.
    pub(super) fn has_rows(&self) -> bool {
        let is_read = self.input.is_plain || self.halves().is_some();
        F::IN_LANES
            && F::LINES == TOGETHER
            && is_read
            && (SHORTEST..LONG).contains(&self.walks.reduced.dense_len())
    }

    /// The kind of 16-bit floats, if they are widened as they are folded.
    fn halves(&self) -> Option<(Half, StepsOfHalves<F, F::Value>)> {
        Half::of(self.input.dtype).zip(steps_of_halves::<M, F>())
    }

    /// Folds at most [`LEAF`](super::LEAF) elements of one result.
    ///
    /// # Safety
    /// - The input [has rows](Self::has_rows).
    /// - `base` is the first element of a result, and the range within `0..self.walks.count`.
    /// - Nothing writes to the input during the call.
    pub(super) unsafe fn leaf_of_rows(&self, base: isize, range: Range<usize>) -> F::Value {
        let (mut value, mut position) = (self.fold.identity(), range.start);
        self.walks.reduced.runs(range, |row, count, [step]| {
            for start in (0..count).step_by(BLOCK) {
                let (count, len) = (BLOCK.min(count - start), row.len);
                let first = base + row.inputs[0] + start as isize * step;
                // SAFETY: in bounds, as `base` is a first element and the walk stays within the elements of its
                // result: `count` rows of at most [`LONG`] contiguous elements, which nothing writes to.
                let folded = unsafe { self.rows(first, step, [count, len], position) };
                value = self.fold.merge(value, folded);
                position += count * len;
            }
        });
        value
    }

    /// Folds a few rows to one value.
    ///
    /// # Safety
    /// - `count` rows of `len` elements, at most [`LONG`], which start `step` apart from `first` on, lie in bounds of
    ///   the input: plain values of `M`, or halves for which there [is a loop](Self::halves).
    /// - Nothing writes to them during the call.
    unsafe fn rows(&self, first: isize, step: isize, [count, len]: [usize; 2], position: usize) -> F::Value {
        let data = self.input.data.wrapping_offset(first * self.input.size as isize);
        if count < FEWEST && self.input.is_plain {
            return (0..count).fold(self.fold.identity(), |value, n| {
                let data = data.cast::<M>().wrapping_offset(n as isize * step);
                // SAFETY: the caller vouches for the elements of this row.
                let elements = unsafe { std::slice::from_raw_parts(data, len) };
                self.fold.merge(value, slice(self.fold, elements, position + n * len))
            });
        }
        let mut values = [const { MaybeUninit::uninit() }; LONG];
        let values = fill(&mut values[..len], |_| self.fold.identity());
        let positions = (position, &COLUMNS[..len]);
        // SAFETY: the caller vouches for these rows and their type; `steps_of_halves` found the processor's features.
        unsafe {
            match self.halves() {
                Some((half, steps)) => {
                    steps(self.fold, values, half, data.cast(), step, count, positions);
                }
                None => {
                    let lines = Lines { first: data.cast(), step, count, positions };
                    narrow_steps(self.fold, values, lines);
                }
            }
        }
        merged(self.fold, values)
    }
}
