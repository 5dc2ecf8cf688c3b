//! Copies without conversion, plane by plane, where a plane is the two innermost dimensions of a walk.
//!
//! If the lines of both planes are dense, each is a `memcpy`; if the lines of one are the columns of the other, the
//! plane is transposed; otherwise the input has gaps, and is read with its stride.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that a walk keeps in bounds")]

use super::bytes::copy_row;
use super::transpose::transpose_sized;
use super::walk::{Row, Walk};
use super::{Operands, parallel};

/// The number of elements that are copied together: more of them would evict each other from the L1 cache.
const TOGETHER: usize = 8192;

/// The smallest number of rows that are transposed together: a cache line of 4-byte elements.
const ROWS: usize = 16;

impl<const N: usize> Operands<'_, N> {
    /// Copies all elements and returns true, if the loop is a plain copy into dense rows.
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
                // SAFETY: in bounds, as the walk stays within the elements of both operands; no two threads get the
                // same row of the result, and the lease excludes all other access. The input is not the result in place
                // (returned above), so by `check` and `may_overlap_partially` the two are disjoint.
                unsafe { self.copy_plane(&row, rows, out_step, steps[0]) };
            });
        });
        true
    }

    /// # Safety
    /// - For each of `rows` rows, `out_step` and `step` apart, what [`row`](Self::row) requires: elements in bounds,
    ///   used by nothing else.
    /// - The loop is a plain copy, of an input that shares no element with the result.
    /// - Rows of the result are dense.
    unsafe fn copy_plane(&self, row: &Row<N>, rows: usize, out_step: isize, step: isize) {
        let (size, stride) = (self.out_size, row.input_strides[0]);
        let from = self.inputs[0].data.wrapping_offset(row.inputs[0] * size as isize);
        let to = self.out.wrapping_offset(row.out * size as isize);
        if step == 1 && stride != 1 && out_step > 0 {
            // SAFETY: the caller vouches for `rows` rows, which are contiguous across rows in the input (`step` is 1)
            // and along rows in the result, and which share no memory; elements of both take `size` bytes.
            return unsafe { transpose_sized(size, from, stride, [row.len, rows], to, out_step as usize) };
        }
        for n in 0..rows as isize {
            let from = from.wrapping_offset(n * step * size as isize);
            let to = to.wrapping_offset(n * out_step * size as isize);
            // SAFETY: `n` is below `rows`, and the caller vouches for that row in both, dense in the result, without
            // shared memory; `load` is the loader from the element type to itself.
            unsafe {
                match stride {
                    1 => copy_row(from, to, row.len * size),
                    _ => (self.inputs[0].load)(from, stride, row.len, to),
                }
            }
        }
    }
}
