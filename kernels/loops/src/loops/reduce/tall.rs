//! Reductions of tall matrices: few results side by side, whose rows follow each other.
//!
//! A row alone would fill a part of a vector. So several rows are taken as one line, and each result has an accumulator
//! for each row of the line. Short rows with gaps between them are copied to where they have none.
#![expect(unsafe_code, reason = "reads rows through pointers")]

use std::mem::MaybeUninit;

use torch_library::Element;

use super::walks::Walks;
use super::wide::{repeated_steps, steps_of_halves};
use super::{BLOCK, Fold, Folding, LANES, RESULTS, TOGETHER, fill};
use crate::inlined::from_fn;
use crate::loops::Input;
use crate::loops::bytes::copy_row;
use crate::loops::halves::Half;

/// With fewer lines than this, the accumulators would take longer than the rows.
const FEWEST: usize = TOGETHER;

/// A common multiple of this number and the number of results is enough, where one of [`LANES`] is too large.
const PART: usize = LANES / 4;

/// Rows of up to this many bytes are copied by a few instructions.
const COPIED: usize = 64;

/// If the input is a tall matrix, or several of them: the row of each element of a line. Folds that want positions look
/// it up, since a division for each element would not vectorise.
pub(super) fn rows_of_lines<M: Element, F: Fold<M>>(walks: &Walks, input: &Input) -> Option<Vec<u32>> {
    // Longer rows fill vectors; those that are converted on the way do so in whole [`LANES`].
    let is_short = walks.row < PART || !input.is_plain;
    let follow_each_other = walks.kept.inner_stride() == Some(1)
        && walks.reduced.inner_stride().is_some_and(|step| {
            let row = walks.row as isize;
            step == row || step > row && walks.row * input.size <= COPIED
        });
    if !(F::IN_LANES && walks.are_beside && is_short && follow_each_other) {
        return None;
    }
    let height = rows_of_line(walks.row, walks.count)?;
    let mut rows_of = Vec::with_capacity(height * walks.row);
    for row in 0..height as u32 {
        rows_of.resize(rows_of.len() + walks.row, row);
    }
    Some(rows_of)
}

/// The number of rows that make up a line of several.
fn rows_of_line(results: usize, rows: usize) -> Option<usize> {
    let mut heights = [LANES, PART].into_iter().map(|lanes| lanes / gcd(lanes, results));
    heights.find(|height| *height > 1 && height * results <= RESULTS && rows / height >= FEWEST)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl<M: Element, F: Fold<M>> Folding<'_, M, F> {
    /// Adds the elements of whole lines to the results, and returns the number of their rows.
    ///
    /// # Safety
    /// - The input is tall, as [`rows_of_lines`] has found, and there is a value for each result of a row.
    /// - `first` is the place of the first of `rows` rows, each with an element for every result, which start `step`
    ///   apart in the input.
    /// - Nothing writes to the input during the call.
    pub(super) unsafe fn whole_lines(
        &self,
        (first, step): (isize, isize),
        rows: usize,
        position: usize,
        folded: &mut [F::Value],
    ) -> usize {
        let halves = Half::of(self.input.dtype).zip(steps_of_halves::<M, F>());
        let (width, rows_of) = (self.walks.row, self.rows_of.as_deref().unwrap_or_default());
        let Some(height) = rows_of_line(width, rows).filter(|_| folded.len() == width) else { return 0 };
        let (count, len) = (rows / height, height * width);
        let rows_of = &rows_of[..len];
        let mut lanes = [const { MaybeUninit::uninit() }; RESULTS];
        let lanes = fill(&mut lanes[..len], |_| self.fold.identity());
        let mut converted = [const { MaybeUninit::<M>::uninit() }; TOGETHER * RESULTS];
        let (size, have_gaps) = (self.input.size, step != width as isize);
        // As many bytes as a few lines have, aligned for any element.
        let copied_size = if have_gaps { (TOGETHER * len * size).div_ceil(size_of::<u128>()) } else { 0 };
        let mut copied = vec![MaybeUninit::<u128>::uninit(); copied_size];
        for start in (0..count).step_by(TOGETHER) {
            let lines = TOGETHER.min(count - start);
            let position = position + start * height;
            // SAFETY: `lines` lines of `height` rows start `step` apart from `first` on, which the caller vouches for,
            // and that nothing writes to them. Their `lines * len` elements follow each other there, or in the copy,
            // which has room for them: halves of this kind, for which `steps_of_halves` found the processor's features,
            // or plain values of `M`, or else elements that `load` converts to `M`, for as many of which there is room.
            unsafe {
                let first = first + (start * height) as isize * step;
                let mut data = self.input.data.offset(first * size as isize);
                if have_gaps {
                    let to = copied.as_mut_ptr().cast();
                    copy_rows(data, step * size as isize, to, width * size, lines * height);
                    data = to;
                }
                if let Some((half, steps)) = halves {
                    steps(self.fold, lanes, half, data.cast(), len as isize, lines, (position, rows_of));
                } else {
                    let data = match self.input.is_plain {
                        true => data.cast::<M>(),
                        false => {
                            (self.input.load)(data, 1, lines * len, converted.as_mut_ptr().cast());
                            converted.as_ptr().cast()
                        }
                    };
                    let lines_of = from_fn::<_, TOGETHER>(|n| {
                        std::slice::from_raw_parts(data.add(n.min(lines - 1) * len), len)
                    });
                    repeated_steps(self.fold, lanes, &lines_of[..lines], (position, rows_of));
                }
            }
            if (start + lines).is_multiple_of(BLOCK) || start + lines == count {
                self.merge_rows(folded, lanes);
                lanes.fill(self.fold.identity());
            }
        }
        count * height
    }

    /// Merges the rows of a line, whose number is a power of two, into the results.
    fn merge_rows(&self, folded: &mut [F::Value], mut lanes: &mut [F::Value]) {
        while lanes.len() > folded.len() {
            let (left, right) = lanes.split_at_mut(lanes.len() / 2);
            self.fold.merge_each(left, right);
            lanes = left;
        }
        self.merge_into(folded, lanes);
    }
}

/// Copies `count` rows of `len` bytes, which start `step` bytes apart, to where they have no gaps.
///
/// # Safety
/// - The rows can be read from `from` on, and `count * len` bytes in other memory written from `to` on; nothing else
///   uses them during the call.
#[inline]
unsafe fn copy_rows(from: *const u8, step: isize, to: *mut u8, len: usize, count: usize) {
    for row in 0..count {
        // SAFETY: one of the rows that the caller vouches for in both.
        unsafe { copy_row(from.offset(row as isize * step), to.add(row * len), len) };
    }
}
