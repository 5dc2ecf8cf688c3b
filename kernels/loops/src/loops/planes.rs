//! Copying elements as they are: plane by plane, as the two innermost dimensions of a walk say.
//!
//! Of both planes lines are dense, which is for `memcpy`; or those of the one are the columns of the other, which
//! are turned; or the input has gaps.
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
                // SAFETY: in bounds, as the walk stays within the elements of both operands; no two threads get one
                // row of the result, and the lease keeps everybody else away. The input is not the result in place
                // (see above), so `check` and `may_overlap_partially` have left it apart.
                unsafe { self.copy_plane(&row, rows, out_step, steps[0]) };
            });
        });
        true
    }

    /// # Safety
    /// - For each of `rows` rows, so far apart, what [`row`](Self::row) asks for: elements in bounds, nobody else's.
    /// - Nothing but a copy of plain elements is to be done, of an input that shares no element with the result.
    /// - Rows of the result are dense.
    unsafe fn copy_plane(&self, row: &Row<N>, rows: usize, out_step: isize, step: isize) {
        let (size, stride) = (self.out_size, row.input_strides[0]);
        let from = self.inputs[0].data.wrapping_offset(row.inputs[0] * size as isize);
        let to = self.out.wrapping_offset(row.out * size as isize);
        if step == 1 && stride != 1 && out_step > 0 {
            // SAFETY: the caller vouches for `rows` rows, whose elements lie side by side across them in the input
            // (`step` is 1) and along them in the result, apart; of both, elements take `size` bytes.
            return unsafe { turn_sized(size, from, stride, [row.len, rows], to, out_step as usize) };
        }
        for n in 0..rows as isize {
            let from = from.wrapping_offset(n * step * size as isize);
            let to = to.wrapping_offset(n * out_step * size as isize);
            // SAFETY: `n` is below `rows`, and the caller vouches for a row of both there, dense in the result,
            // apart; `load` is that from the element type to itself.
            unsafe {
                match stride {
                    1 => std::ptr::copy_nonoverlapping(from, to, row.len * size),
                    _ => (self.inputs[0].load)(from, stride, row.len, to),
                }
            }
        }
    }
}
