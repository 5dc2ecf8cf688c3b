//! Copies without conversion, plane by plane, where a plane is the two innermost dimensions of a walk.
//!
//! If the lines of both planes are dense, they are copied as bytes, or reversed; if the lines of one are the columns of
//! the other, the plane is transposed; otherwise the input has gaps, and is read with its stride.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that a walk keeps in bounds")]

use torch_library::DType;

use super::bytes::copy_rows;
use super::reversed::reverse_rows;
use super::transpose::transpose_sized;
use super::walk::{Row, Walk};
use super::{Operands, on_vectors, parallel};

/// The number of elements that are copied together: more of them would evict each other from the L1 cache.
const TOGETHER: usize = 8192;

/// The smallest number of rows that are transposed together: a cache line of 4-byte elements.
const ROWS: usize = 16;

impl<const N: usize> Operands<'_, N> {
    /// Copies all elements and returns true, if the loop is a plain copy into dense rows, or one of booleans.
    pub(super) fn copies(&self, walk: &mut Walk<N>) -> bool {
        if !(self.is_copy() || self.is_copy_of_flags())
            || std::ptr::eq(self.inputs[0].data, self.out)
            || walk.is_line()
        {
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
                for n in (0..rows as isize).filter(|_| self.is_copy_of_flags()) {
                    // SAFETY: a row that was just written, in bytes.
                    let row = unsafe {
                        std::slice::from_raw_parts_mut(self.out.offset(row.out + n * out_step), row.len)
                    };
                    normalise(row);
                }
            });
        });
        true
    }

    /// Whether booleans are copied: memory from outside may hold bytes other than 0 and 1, which the copy does not.
    pub(super) fn is_copy_of_flags(&self) -> bool {
        let is_bool = |dtype| dtype == DType::Bool;
        self.inner.compiled.is_identity
            && self.is_plain
            && is_bool(self.inputs[0].dtype)
            && is_bool(self.inner.compiled.result)
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
        let (rows_from, rows_to) = ((from, step * size as isize), (to, out_step * size as isize));
        // SAFETY: the caller vouches for these rows in both, dense in the result, without shared memory; elements of
        // both take `size` bytes, and `load` is the loader from the element type to itself.
        unsafe {
            match stride {
                1 => copy_rows(rows_from, rows_to, rows, row.len * size),
                -1 => reverse_rows(size, rows_from, rows_to, rows, row.len),
                _ => {
                    for n in 0..rows as isize {
                        let (from, to) =
                            (from.wrapping_offset(n * rows_from.1), to.wrapping_offset(n * rows_to.1));
                        (self.inputs[0].load)(from, stride, row.len, to);
                    }
                }
            }
        }
    }
}

on_vectors! {
    /// Makes bytes 0 or 1, as booleans are.
    pub(super) fn normalise(bytes: &mut [u8]) {
        bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    }
}
