//! Copying elements as they are: plane by plane, as the two innermost dimensions of a walk say.
//!
//! Of both planes lines are dense, which is for `memcpy`; or those of the one are the columns of the other, which are turned;
//! or the input has gaps.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that a walk keeps in bounds")]

use super::across::turn_sized;
use super::walk::{Row, Walk};
use super::{Operands, parallel};

/// How many elements are copied together: more of them are in the way of each other in the first-level cache.
const TOGETHER: usize = 8192;

/// How many rows are turned together at least: a cache line of 4-byte elements.
const ROWS: usize = 16;

impl<const N: usize> Operands<'_, N> {
    /// Copies all elements, if that is what is to be done, into rows that are dense.
    pub(super) fn copies(&self, walk: &mut Walk<N>) -> bool {
        if !self.is_copy() || std::ptr::eq(self.inputs[0].data, self.out) || walk.is_line() {
            return false;
        }
        walk.turn_across();
        let Some((len, 1)) = walk.inner() else { return false };
        let most = (TOGETHER / len).max(ROWS);
        let parts = walk.parts(most);
        let grain = (parallel::GRAIN / (len * most)).max(1);
        parallel::shares(parts, grain, |parts| {
            walk.planes(most, parts, |row, rows, out_step, steps| {
                // SAFETY: the walk stays within the elements of both operands, and no two threads get the same row.
                unsafe { self.copy_plane(&row, rows, out_step, steps[0]) };
            });
        });
        true
    }

    /// # Safety
    /// As [`row`](Self::row), for each of so many rows, so far apart.
    unsafe fn copy_plane(&self, row: &Row<N>, rows: usize, out_step: isize, step: isize) {
        let (size, stride) = (self.out_size, row.input_strides[0]);
        let from = self.inputs[0].data.wrapping_offset(row.inputs[0] * size as isize);
        let to = self.out.wrapping_offset(row.out * size as isize);
        if step == 1 && stride != 1 && out_step > 0 {
            // SAFETY: passed on.
            return unsafe { turn_sized(size, from, stride, [row.len, rows], to, out_step as usize) };
        }
        for n in 0..rows as isize {
            let from = from.wrapping_offset(n * step * size as isize);
            let to = to.wrapping_offset(n * out_step * size as isize);
            // SAFETY: a row lies in bounds; an input that shares a part of the result's memory was copied before.
            unsafe {
                match stride {
                    1 => std::ptr::copy_nonoverlapping(from, to, row.len * size),
                    _ => (self.inputs[0].load)(from, stride, row.len, to),
                }
            }
        }
    }
}
